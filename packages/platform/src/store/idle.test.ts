import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../postgres/database.ts";
import { createTestStore } from "../testing/test-store.ts";
import type { TestStore } from "../testing/test-store.ts";
import { sequenceFeed } from "./feed/sequence.ts";
import { createDeliveryStore } from "./webhooks/deliveries.ts";

let scene: TestStore;

beforeAll(async () => {
  scene = await createTestStore();
});
afterAll(() => scene?.close());

test("an idle platform makes a small statement for what it looks at each second: for its feed, for its messages", async () => {
  const names: (string | undefined)[] = [];
  const query: Database["query"] = async (statement) => {
    names.push(statement.name);
    return await scene.database.query(statement);
  };
  const database: Database = { ...scene.database, query };
  await sequenceFeed(database);
  expect(await createDeliveryStore(database).claim("one", 256, 60)).toEqual([]);
  expect(names).toEqual(["feed-look", "webhook-due"]);
});
