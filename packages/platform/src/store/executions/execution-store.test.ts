import { describeExecutionStore } from "@platform/engine/testing/store-conformance";
import { createLimitedServices } from "../../testing/limit-scene.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { createExecutionDatabase, createPostgresExecutionStore } from "./execution-store.ts";

describeExecutionStore("the PostgreSQL store", async () => {
  const home = await createTestDatabase();
  const database = createExecutionDatabase(home.target, { logger: home.logger });
  const store = createPostgresExecutionStore({ database });
  // What pins of executions name.
  await home.database.query({ text: "insert into object (hash) values ($1)", values: ["0".repeat(64)] });
  const limits = await createLimitedServices(home.database);
  return {
    store,
    limits,
    close: async () => {
      await store.close();
      await database.close();
      await home.close();
    },
  };
});
