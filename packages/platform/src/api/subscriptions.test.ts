import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import {
  createTestClient,
  createTestService,
  createTestUser,
  fetchAccessToken,
  insertTestVersion,
} from "../testing/fixtures.ts";
import type { TestClient, TestService, TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
/** Where changes are made. */
let here: TestInstance;
/** Another host: it hears of changes only through the database. */
let there: TestInstance;
let provider: TestUser;
let consumer: TestUser;
let service: TestService;
let call: CallApi;
let number = 0;

beforeAll(async () => {
  home = await createTestDatabase();
  here = await createTestInstance({ database: home.database });
  there = await createTestInstance({ database: home.connect() });
  call = createApiCaller(here);
  provider = await createTestUser(here);
  consumer = await createTestUser(here);
  service = await offer();
});
afterAll(async () => {
  await here?.close();
  await there?.close();
  await home?.close();
});

/** A new service of the provider in the marketplace. */
async function offer(): Promise<TestService> {
  number += 1;
  const made = await createTestService(here, provider, `offer-${number}`);
  const published = await call(provider, `POST /services/${made.serviceKey}/publish`, {
    scope: "marketplace",
  });
  expect(published).toMatchObject({ status: 200, body: { publication: "marketplace" } });
  return made;
}

async function createApplication(user: TestUser): Promise<string> {
  return String((await call(user, "POST /applications", { name: "shop" })).body["id"]);
}

/** A new application of the consumer, subscribed to the service. */
async function subscribe(serviceKey: string, terms: object = {}) {
  const applicationId = await createApplication(consumer);
  return await call(consumer, "POST /subscriptions", { applicationId, serviceKey, ...terms });
}

describe("a service", () => {
  test("in the marketplace without a plan gets the plan Free, and keeps the plans that it has", async () => {
    const plans = await call(provider, `GET /services/${service.serviceKey}/plans`);
    expect(plans.body["items"]).toEqual([
      expect.objectContaining({ id: "free", name: "Free", kind: "FREE", revision: 1, monthly: "0" }),
    ]);
    const other = await createTestService(here, provider, "priced");
    const path = `/services/${other.serviceKey}`;
    await call(provider, `PUT ${path}/plans/paid`, { name: "Paid", currency: "EUR", monthly: "10" });
    await call(provider, `POST ${path}/publish`, { scope: "marketplace" });
    const kept = await here.stores.plans.list(provider.organisationId, other.serviceKey, { limit: 10 });
    expect(kept?.items.map(({ id }) => id)).toEqual(["paid"]);
  });

  test("that is only internal does not exist for other organisations", async () => {
    const own = await createTestService(here, provider, "own");
    expect(await subscribe(own.serviceKey)).toMatchObject({
      status: 404,
      body: { code: "SERVICE_NOT_FOUND" },
    });
  });

  test("that is taken back takes no new subscriptions; those it has say so, and go on working", async () => {
    const withdrawn = await offer();
    const client = await createTestClient(here, consumer, withdrawn);
    const token = await fetchAccessToken(here, client);
    const answer = await call(provider, `POST /services/${withdrawn.serviceKey}/unpublish`);
    expect(answer).toMatchObject({ status: 200, body: { publication: null } });
    expect((await subscribe(withdrawn.serviceKey)).status).toBe(404);
    const kept = await call(consumer, `GET /subscriptions/${client.subscriptionId}`);
    expect(kept.body).toMatchObject({ isOffered: false, status: "ACTIVE" });
    expect(await start(here, withdrawn, token)).toBe(201);
  });

  test("is back within its organisation when it was in the marketplace", async () => {
    const moved = await offer();
    const kept = await subscribe(moved.serviceKey);
    await call(provider, `POST /services/${moved.serviceKey}/publish`, { scope: "internal" });
    expect((await subscribe(moved.serviceKey)).status).toBe(404);
    const applicationId = await createApplication(provider);
    const own = await call(provider, "POST /subscriptions", { applicationId, serviceKey: moved.serviceKey });
    expect(own).toMatchObject({ status: 201, body: { plan: null, isOffered: true } });
    const path = `GET /subscriptions/${String(kept.body["id"])}`;
    expect((await call(consumer, path)).body).toMatchObject({ isOffered: false });
  });
});

describe("a plan", () => {
  const TERMS = { name: "Pro", currency: "EUR", monthly: "9.90", perExecution: "0.002500", included: 1000 };

  test("keeps its terms under a subscription: others are a new revision, for new subscriptions", async () => {
    const sold = await offer();
    const path = `/services/${sold.serviceKey}/plans/pro`;
    const first = await call(provider, `PUT ${path}`, { ...TERMS, limits: { perMonth: 5000 } });
    expect(first).toMatchObject({
      status: 201,
      body: { revision: 1, monthly: "9.9", perExecution: "0.0025" },
    });
    const early = await subscribe(sold.serviceKey, { planId: "pro" });
    const second = await call(provider, `PUT ${path}`, { ...TERMS, monthly: "99" });
    expect(second).toMatchObject({ status: 200, body: { revision: 2, monthly: "99" } });
    const late = await subscribe(sold.serviceKey, { planId: "pro" });
    expect(late.body["plan"]).toMatchObject({ revision: 2, monthly: "99", limits: { perMonth: null } });
    const kept = await call(consumer, `GET /subscriptions/${String(early.body["id"])}`);
    expect(kept.body["plan"]).toMatchObject({ revision: 1, monthly: "9.9", limits: { perMonth: 5000 } });
    const moved = await call(consumer, `PUT /subscriptions/${String(early.body["id"])}`, { planId: "pro" });
    expect(moved.body["plan"]).toMatchObject({ revision: 2 });
  });

  test("with the same terms stays the revision that it is", async () => {
    const sold = await offer();
    const path = `/services/${sold.serviceKey}/plans/pro`;
    await call(provider, `PUT ${path}`, TERMS);
    const again = await call(provider, `PUT ${path}`, { ...TERMS, monthly: "9.900000" });
    expect(again).toMatchObject({ status: 200, body: { revision: 1 } });
  });

  test("is one revision after the other when several people replace it at once", async () => {
    const sold = await offer();
    const path = `/services/${sold.serviceKey}/plans/pro`;
    const answers = await Promise.all(
      Array.from({ length: 6 }, async (_, index) =>
        call(provider, `PUT ${path}`, { ...TERMS, monthly: String(index + 1) }),
      ),
    );
    expect(new Set(answers.map(({ body }) => body["revision"]))).toEqual(new Set([1, 2, 3, 4, 5, 6]));
    expect((await call(provider, `GET ${path}`)).body).toMatchObject({ revision: 6 });
  });

  test("that is withdrawn takes no subscriptions; the last one in the marketplace stays", async () => {
    const sold = await offer();
    const path = `/services/${sold.serviceKey}/plans`;
    expect(await call(provider, `DELETE ${path}/free`)).toMatchObject({
      status: 409,
      body: { code: "CONFLICT" },
    });
    await call(provider, `PUT ${path}/pro`, TERMS);
    expect((await call(provider, `DELETE ${path}/free`)).status).toBe(204);
    expect((await call(provider, `DELETE ${path}/free`)).status).toBe(404);
    expect(await subscribe(sold.serviceKey, { planId: "free" })).toMatchObject({
      status: 400,
      body: { errors: [{ path: "/planId", message: expect.stringContaining("pro") }] },
    });
  });

  test.each([
    ["a negative price", { name: "x", currency: "EUR", monthly: "-1" }],
    ["a price with an exponent", { name: "x", currency: "EUR", monthly: "1e3" }],
    ["a price that is no number", { name: "x", currency: "EUR", monthly: "NaN" }],
    ["a price beyond what is stored", { name: "x", currency: "EUR", monthly: "1000000000" }],
    ["a finer price than is stored", { name: "x", currency: "EUR", perExecution: "0.0000001" }],
    ["a binary fraction as a price", { name: "x", currency: "EUR", monthly: 0.1 }],
    ["a price without a currency", { name: "x", monthly: "1" }],
    ["a currency without a price", { name: "x", currency: "EUR" }],
    ["a currency that is none", { name: "x", currency: "euro", monthly: "1" }],
    ["a negative quota", { name: "x", included: -1 }],
    ["a quota beyond what is stored", { name: "x", included: 1e15 }],
    ["a quota that is no whole number", { name: "x", included: 0.5 }],
    ["a cap of nothing", { name: "x", limits: { perMonth: 0 } }],
    ["a cap below the quota", { name: "x", included: 10, limits: { perMonth: 9 } }],
    ["an unknown unit", { name: "x", unit: "gpu" }],
    ["what only the platform says", { name: "x", kind: "FREE" }],
    ["no name", { monthly: "0" }],
    ["an oversize name", { name: "x".repeat(121) }],
  ])("with %s is refused", async (_what, body) => {
    const answer = await call(provider, `PUT /services/${service.serviceKey}/plans/bad`, body);
    expect(answer).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } });
  });

  test.each(["Pro", "pro_1", "-pro", "pro-", "x", "prо", "a".repeat(64)])(
    "cannot be named %s in URLs",
    async (name) => {
      const path = `/services/${service.serviceKey}/plans/${encodeURIComponent(name)}`;
      expect((await call(provider, `PUT ${path}`, { name: "x" })).status).toBe(400);
    },
  );
});

async function post(instance: TestInstance, of: TestService, token: string) {
  return await instance.gateway.inject({
    method: "POST",
    url: `/${of.serviceKey}/${of.serviceName}/1.0.0/`,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    payload: "{}",
  });
}

/** Starts an execution; answers the status. */
async function start(instance: TestInstance, of: TestService, token: string): Promise<number> {
  return (await post(instance, of, token)).statusCode;
}

describe("a subscription", () => {
  let client: TestClient;
  let token: string;

  beforeAll(async () => {
    client = await createTestClient(here, consumer, service);
    token = await fetchAccessToken(there, client);
  });

  test("of another organisation's application calls a service of the marketplace", async () => {
    expect(await start(here, service, token)).toBe(201);
    const body = (await call(consumer, `GET /subscriptions/${client.subscriptionId}`)).body;
    expect(body).toMatchObject({ status: "ACTIVE", plan: { id: "free" }, isOffered: true });
    expect(body["endpointUrl"]).toContain(`/${service.serviceKey}/${service.serviceName}/1.0.0/`);
  });

  test("that is paused starts nothing at another gateway before what that remembers is old; results stay", async () => {
    expect(await start(there, service, token)).toBe(201);
    const path = `PUT /subscriptions/${client.subscriptionId}`;
    const paused = await call(consumer, path, { status: "PAUSED" });
    expect(paused).toMatchObject({ status: 200, body: { status: "PAUSED", plan: { id: "free" } } });
    const began = performance.now();
    await waitUntil(async () => (await start(there, service, token)) === 403);
    expect(performance.now() - began).toBeLessThan(4000);
    const listed = await there.gateway.inject({
      method: "GET",
      url: `/${service.serviceKey}/${service.serviceName}/1.0.0/`,
      headers: { authorization: `Bearer ${token}` },
    });
    expect(listed.statusCode).toBe(200);
    await call(consumer, path, { status: "ACTIVE" });
    await waitUntil(async () => (await start(there, service, token)) === 201);
  });

  test("reads logs unless the provider keeps them to itself; within its organisation always", async () => {
    const silent = await offer();
    const clients = await Promise.all(
      [consumer, provider].map(async (user) => createTestClient(here, user, silent)),
    );
    const tokens = await Promise.all(clients.map(async (one) => fetchAccessToken(there, one)));
    const ids = await Promise.all(
      tokens.map(async (bearer) => (await post(there, silent, bearer)).json<{ id: string }>().id),
    );
    const readLogs = async () =>
      await Promise.all(
        tokens.map(async (bearer, index) => {
          const url = `/${silent.serviceKey}/${silent.serviceName}/1.0.0/${ids[index]}/log`;
          const headers = { authorization: `Bearer ${bearer}` };
          const response = await there.gateway.inject({ method: "GET", url, headers });
          return response.statusCode === 403 ? response.json<{ code: string }>().code : response.statusCode;
        }),
      );
    expect(await readLogs()).toEqual([200, 200]);
    const path = `PUT /services/${silent.serviceKey}`;
    const changed = await call(provider, path, { logs: "provider" });
    expect(changed).toMatchObject({ status: 200, body: { logs: "provider", description: "" } });
    const began = performance.now();
    await waitUntil(async () => (await readLogs())[0] === "FORBIDDEN");
    expect(performance.now() - began).toBeLessThan(4000);
    expect(await readLogs()).toEqual(["FORBIDDEN", 200]);
    for (const body of [
      {},
      { logs: "nobody" },
      { logs: "caller", name: "other" },
      { publication: "internal" },
    ])
      expect(await call(provider, path, body)).toMatchObject({ status: 400 });
    expect((await call(consumer, path, { logs: "caller" })).status).toBe(404);
  });

  test("to a service that costs something asks which plan", async () => {
    const sold = await offer();
    const path = `/services/${sold.serviceKey}/plans`;
    await call(provider, `PUT ${path}/pro`, { name: "Pro", currency: "EUR", monthly: "1" });
    await call(provider, `DELETE ${path}/free`);
    expect(await subscribe(sold.serviceKey)).toMatchObject({
      status: 400,
      body: { code: "INVALID_INPUT", detail: "/planId is missing; choose one of pro." },
    });
    expect((await subscribe(sold.serviceKey, { planId: "pro" })).body).toMatchObject({ plan: { id: "pro" } });
  });

  test("cannot have a plan of another service", async () => {
    const [mine, other] = [await offer(), await offer()];
    await call(provider, `PUT /services/${other.serviceKey}/plans/gold`, { name: "Gold" });
    expect(await subscribe(mine.serviceKey, { planId: "gold" })).toMatchObject({ status: 400 });
    const gold = await here.stores.plans.find(provider.organisationId, other.serviceKey, "gold");
    const made = await subscribe(mine.serviceKey);
    await expect(
      home.database.query({
        text: "update subscription set plan_id = $2 where id = $1",
        values: [made.body["id"], gold?.rowId],
      }),
    ).rejects.toThrow("subscription_plan");
  });

  test("names the version that it is pinned to, or the highest of the major number that it follows", async () => {
    const grown = await offer();
    const pinned = await subscribe(grown.serviceKey, { version: "1.0.0" });
    const following = await subscribe(grown.serviceKey, { version: "1" });
    const latest = await subscribe(grown.serviceKey);
    await insertTestVersion(home.database, { serviceKey: grown.serviceKey, version: "1.2.0" });
    await insertTestVersion(home.database, { serviceKey: grown.serviceKey, version: "2.0.0" });
    const readVersion = async ({ body }: { readonly body: Readonly<Record<string, unknown>> }) => {
      const answer = await call(consumer, `GET /subscriptions/${String(body["id"])}`);
      return String(answer.body["endpointUrl"]).split("/").at(-2);
    };
    expect(await Promise.all([pinned, following, latest].map(readVersion))).toEqual([
      "1.0.0",
      "1.2.0",
      "2.0.0",
    ]);
    const path = `PUT /subscriptions/${String(pinned.body["id"])}`;
    expect((await call(consumer, path, { version: null })).body).toMatchObject({ version: null });
    expect(await readVersion(pinned)).toBe("2.0.0");
    for (const version of ["3", "1.1.0"])
      expect(await call(consumer, path, { version })).toMatchObject({
        status: 404,
        body: { code: "SERVICE_NOT_FOUND" },
      });
  });

  test.each([
    ["no change", {}],
    ["an unknown state", { status: "ENDED" }],
    ["what only the platform sets", { status: "ACTIVE", isOffered: true }],
    ["another application", { applicationId: "x" }],
    ["a version of two numbers", { version: "1.0" }],
  ])("is not changed by a request with %s", async (_what, body) => {
    const answer = await call(consumer, `PUT /subscriptions/${client.subscriptionId}`, body);
    expect(answer).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } });
  });

  test("is seen by the provider, who can neither read nor change it", async () => {
    const path = `/services/${service.serviceKey}/subscriptions`;
    const seen = await call(provider, `GET ${path}`);
    expect(seen.body["items"]).toContainEqual({
      id: client.subscriptionId,
      organizationName: "Somebody",
      applicationName: "client",
      status: "ACTIVE",
      version: null,
      planId: "free",
      planRevision: 1,
      executions30d: 0,
      endedAt: null,
      endReason: null,
      createdAt: expect.any(String),
    });
    for (const request of [
      `GET /subscriptions/${client.subscriptionId}`,
      `DELETE /subscriptions/${client.subscriptionId}`,
    ])
      expect(await call(provider, request)).toMatchObject({ status: 404 });
    expect((await call(provider, "GET /subscriptions")).body["items"]).not.toContainEqual(
      expect.objectContaining({ id: client.subscriptionId }),
    );
    expect(await call(consumer, `GET ${path}`)).toMatchObject({ status: 404 });
  });

  test("shows nothing of the service but its endpoint", async () => {
    for (const path of ["", "/versions", "/plans", "/versions/1.0.0/build"])
      expect((await call(consumer, `GET /services/${service.serviceKey}${path}`)).status).toBe(404);
  });
});
