import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { getLowestUuid } from "@platform/engine/base/uuid";
import { HOUR } from "@platform/engine/base/time";
import { createTestOrganisation, insertTestVersion } from "../../testing/fixtures.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import type { TestDatabase } from "../../testing/test-database.ts";
import { createStores } from "../stores.ts";
import type { Stores } from "../stores.ts";

let home: TestDatabase;
let stores: Stores;
let organisationId: string;
let serviceKey: string;

beforeAll(async () => {
  home = await createTestDatabase();
  stores = createStores(home.database);
});
beforeEach(async () => {
  organisationId = await createTestOrganisation(home.database);
  ({ key: serviceKey } = await stores.services.create({ organisationId, name: "counter", description: "" }));
});
afterAll(() => home.close());

/** Requests a build at a host whose clock is ahead by so much. */
async function requestBuild(version: string, aheadMs = 0): Promise<string> {
  const build = await stores.builds.create({
    organisationId,
    serviceKey,
    version,
    archiveHash: "archive",
    contentHash: "content",
    isForced: false,
    requestedBy: "a user",
  });
  const { id = "" } = build ?? {};
  const idThere = getLowestUuid(Date.now() + aheadMs);
  await home.database.query({
    text: "update build set id = $2 where id = $1",
    values: [id, idThere],
  });
  return idThere;
}

const claim = async () => (await stores.builds.claim("builder", 60))?.id;

async function fail(id: string): Promise<void> {
  const outcome = { status: "FAILED", code: "INVALID_PROJECT", detail: "no" } as const;
  await stores.builds.finish({ id, attempt: 1, workerId: "builder" }, outcome);
}

test("of two builds of one major the one that was requested first is built first, whatever the clocks of the hosts say", async () => {
  const first = await requestBuild("1.0.1", HOUR);
  const second = await requestBuild("1.0.2", -HOUR);
  expect(await claim()).toBe(first);
  expect(await claim()).toBeUndefined();
  await fail(first);
  expect(await claim()).toBe(second);
  await fail(second);
});

test("the latest build of a version is the one that was requested last, whatever the clocks of the hosts say", async () => {
  const first = await requestBuild("1.0.1", HOUR);
  await claim();
  await fail(first);
  const second = await requestBuild("1.0.1", -HOUR);
  expect((await stores.builds.findLatest(organisationId, serviceKey, "1.0.1"))?.id).toBe(second);
  await claim();
  await fail(second);
});

test("versions are listed as they went live, the newest first, whatever the clocks of the hosts say, and in pages", async () => {
  const { database } = home;
  for (const [minor, aheadMs] of [HOUR, 0, -HOUR, 0].entries()) {
    const version = `1.${minor}.0`;
    await insertTestVersion(database, { id: getLowestUuid(Date.now() + aheadMs), serviceKey, version });
    // Distinct milliseconds: the last two went live in the same one.
    const values = [serviceKey, minor, new Date(Date.UTC(2026, 0, 1, 0, 0, 0, Math.min(minor, 2)))];
    await database.query({
      text: "update version set created_at = $3 where service_key = $1 and minor = $2",
      values,
    });
  }
  const numbers: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await stores.versions.list(organisationId, serviceKey, { limit: 1, cursor });
    numbers.push(...page.items.map(({ version }) => version));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  expect(numbers).toEqual(["1.3.0", "1.2.0", "1.1.0", "1.0.0"]);
});
