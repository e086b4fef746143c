import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../postgres/database.ts";
import { createTestOrganisation } from "../../testing/fixtures.ts";
import { createTestDatabase, withClockStep } from "../../testing/test-database.ts";
import type { TestDatabase } from "../../testing/test-database.ts";
import { createStores } from "../stores.ts";
import type { Stores } from "../stores.ts";

/** What the clock of the database's host has been set ahead by. */
let step = "0 s";
let home: TestDatabase;
let database: Database;

beforeAll(async () => {
  home = await createTestDatabase();
  database = withClockStep(home.database, () => step);
});

afterAll(() => home.close());

async function createBuilds(stores: Stores, count: number): Promise<void> {
  const organisationId = await createTestOrganisation(home.database);
  const { key } = await stores.services.create({ organisationId, name: "counter", description: "" });
  for (let index = 0; index < count; index++)
    await stores.builds.create({
      organisationId,
      serviceKey: key,
      version: `${index + 1}.0.0`,
      archiveHash: "archive",
      contentHash: "content",
      isForced: false,
      requestedBy: "a user",
    });
}

test("when the clock of the database's host is set ahead, no build whose builder lives is taken from it or given up", async () => {
  const stores = createStores(database, { leaseSeconds: 30 });
  await createBuilds(stores, 2);
  // The third and last try of the one, the first of the other.
  for (let attempt = 1; attempt <= 2; attempt++) await stores.builds.claim("vanished", 0);
  const last = await stores.builds.claim("builder", 30);
  const first = await stores.builds.claim("builder", 30);
  if (last === null || first === null) throw new Error("The builds were not claimed.");
  expect([last.attempt, first.attempt]).toEqual([3, 1]);
  expect(await stores.builds.sweep()).toBe(0);
  step = "1 hour";
  expect(await stores.builds.sweep()).toBe(0);
  expect(await stores.builds.claim("other", 30)).toBeNull();
  expect((await stores.builds.renew([last, first], 30)).lost).toEqual([]);
  step = "0 s";
});
