import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import { createTestClient, createTestService, createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { startAtOnce } from "../testing/held-lock.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
let here: TestInstance;
let call: CallApi;
let user: TestUser;

beforeAll(async () => {
  home = await createTestDatabase();
  here = await createTestInstance({ database: home.database });
  call = createApiCaller(here);
});
afterAll(async () => {
  await here?.close();
  await home?.close();
});
beforeEach(async () => {
  user = await createTestUser(here);
});

async function createService(name = "demo"): Promise<string> {
  const { organisationId } = user;
  return (await here.stores.services.create({ organisationId, name, description: "" })).key;
}

async function requestBuild(key: string, version = "1.0.0"): Promise<void> {
  const { organisationId, userId } = user;
  const more = { archiveHash: version, contentHash: version, isForced: false, requestedBy: userId };
  if ((await here.stores.builds.create({ organisationId, serviceKey: key, version, ...more })) === null)
    throw new Error("There is no such service.");
}

async function failBuild(): Promise<void> {
  const claim = await here.stores.builds.claim("test", 60);
  if (claim === null) throw new Error("There is no build to claim.");
  await here.stores.builds.finish(claim, { status: "FAILED", code: "INVALID_PROJECT", detail: "no" });
}

const remove = (key: string) => call(user, `DELETE /services/${key}`);

test("a service whose builds failed is deleted with all that it has, said in the audit log, and its name is free", async () => {
  const key = await createService();
  await requestBuild(key);
  await failBuild();
  await call(user, `PUT /services/${key}/plans/pro`, { name: "Pro" });
  await call(user, `PUT /services/${key}/listing`, { title: "Demo" });
  await call(user, `PUT /services/${key}/variables/MODE`, { value: "fast" });
  expect((await remove(key)).status).toBe(204);
  for (const path of ["", "/listing", "/plans", "/variables", "/versions/1.0.0/build"])
    expect((await call(user, `GET /services/${key}${path}`)).status).toBe(404);
  const left = await home.database.query({
    text: `select 1 from build where service_key = $1 union all select 1 from plan where service_key = $1
      union all select 1 from variable where scope_id = $1`,
    values: [key],
  });
  expect(left).toEqual([]);
  const { body } = await call(user, "GET /audit-events?action=service.delete");
  expect(body).toMatchObject({
    items: [
      { target: { type: "service", id: key }, changes: [{ field: "name", before: "demo", after: null }] },
    ],
  });
  expect((await remove(key)).body).toMatchObject({ code: "SERVICE_NOT_FOUND" });
  expect(await createService()).not.toBe(key);
});

const OBSTACLES: readonly (readonly [string, string, () => Promise<string>])[] = [
  [
    "a version, also when it is retired",
    "has versions",
    async () => {
      const { serviceKey, version } = await createTestService(here, user);
      await here.stores.versions.retire(user.organisationId, serviceKey, version);
      return serviceKey;
    },
  ],
  [
    "a build that has not ended",
    "is being built",
    async () => {
      const key = await createService();
      await requestBuild(key);
      return key;
    },
  ],
  [
    "a subscription, also when it was cancelled",
    "1 subscription",
    async () => {
      const serviceKey = await createService();
      await here.stores.services.publish(user.organisationId, serviceKey, "internal");
      const service = { serviceKey, serviceName: "demo", version: "1.0.0", versionId: "" };
      const { subscriptionId } = await createTestClient(here, user, service);
      await here.stores.subscriptions.cancel(user.organisationId, subscriptionId);
      return serviceKey;
    },
  ],
];

test.each(OBSTACLES)("a service that has %s stays, and it is said why", async (_, reason, prepare) => {
  const key = await prepare();
  const { status, body } = await remove(key);
  expect([status, body]).toEqual([409, expect.objectContaining({ code: "CONFLICT" })]);
  expect(body).toMatchObject({ detail: expect.stringContaining(reason) });
  expect((await call(user, `GET /services/${key}`)).status).toBe(200);
  // Of what the test leaves in the queue.
  for (let claim = await here.stores.builds.claim("test", 60); claim !== null;)
    claim = (await here.stores.builds.finish(claim, { status: "FAILED", code: "X", detail: "no" }))
      ? await here.stores.builds.claim("test", 60)
      : null;
});

const MADE: readonly (readonly [string, (key: string) => Promise<number>])[] = [
  [
    "a build",
    (key) =>
      requestBuild(key, "1.0.0").then(
        () => 201,
        (error: unknown) =>
          error instanceof Error && error.message === "There is no such service." ? 404 : 500,
      ),
  ],
  ["a listing", async (key) => (await call(user, `PUT /services/${key}/listing`, { title: "Demo" })).status],
  ["a plan", async (key) => (await call(user, `PUT /services/${key}/plans/pro`, { name: "Pro" })).status],
  [
    "a variable",
    async (key) => (await call(user, `PUT /services/${key}/variables/MODE`, { value: "fast" })).status,
  ],
];

test.each(MADE)(
  "%s that is made while the service is deleted is of one that exists, or refused",
  async (_, make) => {
    const key = await createService();
    const lock = { text: "select 1 from service where key = $1 for update", values: [key] };
    const [removed, made] = await startAtOnce(home, lock, () => [
      remove(key).then(({ status }) => status),
      make(key),
    ]);
    expect([
      [204, 404],
      [204, 200],
      [204, 201],
      [409, 201],
    ]).toContainEqual([removed, made]);
    const rows = await home.database.query({
      text: "select 1 from variable where scope_id = $1 and not exists (select 1 from service where key = $1)",
      values: [key],
    });
    expect(rows).toEqual([]);
  },
);
