import { describeExecutionStore } from "@platform/engine/testing/store-conformance";
import { createTestDatabase } from "../../testing/test-database.ts";
import { createExecutionDatabase, createPostgresExecutionStore } from "./execution-store.ts";

describeExecutionStore("the PostgreSQL store", async () => {
  const home = await createTestDatabase();
  const database = createExecutionDatabase(home.target, { logger: home.logger });
  const store = createPostgresExecutionStore({ database });
  return {
    store,
    close: async () => {
      await store.close();
      await database.close();
      await home.close();
    },
  };
});
