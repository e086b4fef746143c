import { describeExecutionStore } from "@platform/engine/testing/store-conformance";
import { createTestDatabase } from "../../testing/test-database.ts";
import { createExecutionDatabase, createPostgresExecutionStore } from "./execution-store.ts";

describeExecutionStore("the PostgreSQL store", async () => {
  const home = await createTestDatabase();
  const database = createExecutionDatabase(home.target, { logger: home.logger });
  const store = createPostgresExecutionStore({ database });
  // What pins of executions name.
  await home.database.query({ text: "insert into object (hash) values ($1)", values: ["0".repeat(64)] });
  return {
    store,
    close: async () => {
      await store.close();
      await database.close();
      await home.close();
    },
  };
});
