import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database, Statement } from "../../postgres/database.ts";
import { createTestStore } from "../../testing/test-store.ts";
import type { TestStore } from "../../testing/test-store.ts";
import { createPostgresExecutionStore } from "./execution-store.ts";

let home: TestStore;

beforeAll(async () => {
  home = await createTestStore();
});

afterAll(() => home.close());

/** The same database, and what it answers as text. */
function record(database: Database, answers: string[]): Database {
  async function query<Row extends object>(statement: Statement): Promise<readonly Row[]> {
    const rows = await database.query<Row>(statement);
    answers.push(JSON.stringify(rows));
    return rows;
  }
  return { ...database, query };
}

test("warming up plans a start on every partition, on the connections of a start and of an end, and stores nothing", async () => {
  const answers: string[] = [];
  const store = createPostgresExecutionStore({ database: record(home.database, answers) });
  await store.warmUp();
  expect(answers).toHaveLength(3);
  const partitions = await home.database.query<{ name: string }>({
    text: "select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'execution'::regclass",
  });
  expect(partitions.length).toBeGreaterThan(1);
  // A plan for parameters that are null would read none of them.
  for (const answer of answers) for (const { name } of partitions) expect(answer).toContain(name);
  const [stored] = await home.database.query<{ count: string }>({
    text: "select count(*) as count from execution",
  });
  expect(stored).toEqual({ count: "0" });
  await store.close();
});
