import { afterAll, beforeAll, expect, test } from "vitest";
import type { Service } from "@platform/contract/platform-api/services";
import { createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
let here: TestInstance;
let owner: TestUser;

beforeAll(async () => {
  home = await createTestDatabase();
  here = await createTestInstance({ database: home.database });
  owner = await createTestUser(here);
  const { organisationId } = owner;
  for (const [name, publication] of [
    ["tour-planner", null],
    ["tour-viewer", "internal"],
    ["sums", "marketplace"],
  ] as const) {
    const { key } = await here.stores.services.create({ organisationId, name, description: "tour" });
    await here.stores.services.publish(organisationId, key, publication);
  }
});
afterAll(async () => {
  await here?.close();
  await home?.close();
});

async function list(query: string, { token } = owner) {
  const url = `/api/services?${query}`;
  const response = await here.api.inject({ url, headers: { authorization: `Bearer ${token}` } });
  return response.json<{ items: readonly Service[]; nextCursor: string | null; code?: string }>();
}

const listNames = async (query: string, user?: TestUser) =>
  (await list(query, user)).items.map(({ name }) => name);

test.each([
  ["q=tour", ["tour-viewer", "tour-planner"]],
  ["q=PLAN", ["tour-planner"]],
  ["q=u", ["sums", "tour-viewer", "tour-planner"]],
  // Nothing in it is a pattern.
  ["q=%25", []],
  ["q=_", []],
  ["q=tour-%27", []],
  ["publication=none", ["tour-planner"]],
  ["publication=internal", ["tour-viewer"]],
  ["publication=marketplace", ["sums"]],
  ["q=tour&publication=marketplace", []],
])("services are found by %s", async (query, names) => {
  expect(await listNames(query)).toEqual(names);
});

test("what is found comes in pages, and nothing of another organisation is found", async () => {
  const { items, nextCursor } = await list("q=tour&limit=1");
  expect([items.map(({ name }) => name), await listNames(`q=tour&limit=1&cursor=${nextCursor}`)]).toEqual([
    ["tour-viewer"],
    ["tour-planner"],
  ]);
  expect(await listNames("q=tour", await createTestUser(here))).toEqual([]);
});

test.each(["publication=public", `q=${"x".repeat(64)}`, "q=%00"])("%s is refused", async (query) => {
  expect((await list(query)).code).toBe("INVALID_INPUT");
});
