import type { Database } from "../postgres/database.ts";
import {
  createExecutionDatabase,
  createPostgresExecutionStore,
} from "../store/executions/execution-store.ts";
import type { PostgresExecutionStore } from "../store/executions/execution-store.ts";
import { createTestDatabase } from "./test-database.ts";
import type { TestDatabase } from "./test-database.ts";

export interface TestStore {
  readonly home: TestDatabase;
  /** The one that the store uses. */
  readonly database: Database;
  readonly store: PostgresExecutionStore;
  readonly close: () => Promise<void>;
}

/** A store of executions on a database of its own. */
export async function createTestStore(): Promise<TestStore> {
  const home = await createTestDatabase();
  const database = createExecutionDatabase(home.target, { logger: home.logger });
  const store = createPostgresExecutionStore({ database });
  return {
    home,
    database,
    store,
    close: async () => {
      await store.close();
      await database.close();
      await home.close();
    },
  };
}
