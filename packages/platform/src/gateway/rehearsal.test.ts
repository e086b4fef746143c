import { afterAll, beforeAll, expect, test } from "vitest";
import { createUuidV7 } from "@platform/engine/base/uuid";
import { createExecution } from "@platform/engine/testing/execution-fixtures";
import { readTerms } from "../api/plan-terms.ts";
import {
  createExecutionDatabase,
  createPostgresExecutionStore,
} from "../store/executions/execution-store.ts";
import type { PostgresExecutionStore } from "../store/executions/execution-store.ts";
import { createApiCaller } from "../testing/api-calls.ts";
import {
  createTestClient,
  createTestService,
  createTestUser,
  fetchAccessToken,
} from "../testing/fixtures.ts";
import type { TestClient, TestService, TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

/** Starts of an application at once are ten times as many. */
const PER_SECOND = 2;
const AT_ONCE = 20;

let home: TestDatabase;
let executionStore: PostgresExecutionStore;
let instance: TestInstance;
let owner: TestUser;
let service: TestService;

beforeAll(async () => {
  home = await createTestDatabase();
  executionStore = createPostgresExecutionStore({ database: createExecutionDatabase(home.target, home) });
  instance = await createTestInstance({
    database: home.connect(),
    executionStore,
    startsPerSecond: PER_SECOND,
  });
  owner = await createTestUser(instance);
  service = await createTestService(instance, owner);
  const { plans } = instance.stores;
  const put = (id: string, terms: object) =>
    plans.put(owner.organisationId, service.serviceKey, { ...readTerms({ name: id, ...terms }), id });
  await put("two", { limits: { perMonth: 2 } });
  await put("one-at-a-time", { limits: { concurrent: 1 } });
  await put("priced", { currency: "EUR", perExecution: "0.10", perCpuSecond: "0.02", included: 2 });
  await put("by-cpu", { currency: "USD", perCpuSecond: "0.5", unit: "cpu-second", included: 3 });
  await put("rare", { limits: { perMinute: 2 } });
});
afterAll(async () => {
  await instance?.close();
  await executionStore?.close();
  await home?.close();
});

const changeTo = (client: TestClient, planId: string) =>
  instance.stores.subscriptions.change(owner.organisationId, client.subscriptionId, { planId });

async function send(client: TestClient, prefer: string | undefined, called = service) {
  const answer = await instance.gateway.inject({
    method: "POST",
    url: `/${called.serviceKey}/${called.serviceName}/${called.version}/`,
    headers: {
      authorization: `Bearer ${await fetchAccessToken(instance, client)}`,
      "content-type": "application/json",
      ...(prefer === undefined ? {} : { prefer }),
    },
    payload: "{}",
  });
  const { statusCode: status, headers } = answer;
  return { status, headers, body: answer.json<Record<string, unknown>>() };
}
const rehearse = (client: TestClient, called = service) => send(client, "dry-run", called);
const start = (client: TestClient) => send(client, undefined);

async function count(text: string, ...values: readonly unknown[]): Promise<number> {
  const [row] = await home.database.query<{ readonly count: number }>({
    text: `select count(*)::int as count from ${text}`,
    values,
  });
  return row?.count ?? -1;
}

async function finish(client: TestClient, cpuSeconds: number): Promise<void> {
  const subscription = {
    kind: "subscription",
    id: client.subscriptionId,
    organisationId: owner.organisationId,
  } as const;
  const execution = createExecution({ owner: subscription, versionId: service.versionId });
  await executionStore.create(execution);
  const { claims } = await executionStore.claim({
    workerId: "worker",
    sandboxLevel: "B",
    limit: 1,
    free: { cpu: 100, memory: 100 },
    leaseSeconds: 60,
    excludedVersionIds: [],
    onlyId: execution.id,
  });
  for (const claim of claims)
    await executionStore.finish(claim, {
      status: "SUCCEEDED",
      result: Buffer.from("{}"),
      metadata: null,
      cpuSeconds,
    });
}

test("a rehearsal creates no execution, no key, no usage, no start that counts, and no entry of the audit log", async () => {
  const client = await createTestClient(instance, owner, service);
  await changeTo(client, "two");
  const tables = ["execution", "idempotency_key", "usage_entry", "execution_input", "audit_entry"];
  const countAll = () => Promise.all(tables.map((table) => count(table)));
  const before = await countAll();
  for (let index = 0; index < 5; index++) {
    const { status, headers, body } = await rehearse(client);
    expect([status, headers["preference-applied"], headers["x-quota-remaining"]]).toEqual([
      200,
      "dry-run",
      "2",
    ]);
    expect(headers["ratelimit"]).toMatch(new RegExp(`^"application";r=${AT_ONCE};`));
    expect(body).toMatchObject({
      valid: true,
      version: service.version,
      waiting: { reason: "NO_WORKER" },
      cost: { quota: { unit: "execution", perMonth: 2, left: 2 }, currency: null, most: "0" },
    });
  }
  expect(await countAll()).toEqual(before);
});

test("a rehearsal is refused where the cap or the executions at one time of the plan are reached", async () => {
  const client = await createTestClient(instance, owner, service);
  await changeTo(client, "two");
  for (let index = 0; index < 2; index++) expect((await start(client)).status).toBe(201);
  const [refused, rehearsed] = [await start(client), await rehearse(client)];
  expect(rehearsed).toMatchObject({ status: 429, body: { code: "QUOTA_EXCEEDED" } });
  expect(rehearsed.body).toEqual(refused.body);
  expect(rehearsed.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
  const single = await createTestClient(instance, owner, service);
  await changeTo(single, "one-at-a-time");
  expect((await rehearse(single)).status).toBe(200);
  expect((await start(single)).status).toBe(201);
  expect(await rehearse(single)).toMatchObject({ status: 429, body: { code: "RATE_LIMITED" } });
});

test("it has the prices of the plan, and what a run costs by the CPU time of the last ones and at most", async () => {
  const client = await createTestClient(instance, owner, service);
  await changeTo(client, "priced");
  const costOf = async () => (await rehearse(client)).body["cost"];
  const terms = { currency: "EUR", perExecution: "0.1", perCpuSecond: "0.02" };
  expect(await costOf()).toEqual({ ...terms, includedLeft: 2, most: "0" });
  for (const seconds of [1, 1, 3]) await finish(client, seconds);
  // Of a version with 1 vCPU and an hour at most.
  const most = { ...terms, includedLeft: 0, typical: "0.12", long: "0.16" };
  expect(await costOf()).toEqual({ ...most, most: expect.stringMatching(/^\d+([.]\d+)?$/) });
});

test("of an execution that goes beyond the included CPU time, only that part costs", async () => {
  const client = await createTestClient(instance, owner, service);
  await changeTo(client, "by-cpu");
  await finish(client, 2);
  // 2 of 3 seconds are used; of a run of 2 seconds, one is beyond.
  expect((await rehearse(client)).body["cost"]).toMatchObject({
    includedLeft: 1,
    typical: "0.5",
    long: "0.5",
  });
});

test("rehearsals are limited by the numbers of starts, and take none of them", async () => {
  const client = await createTestClient(instance, owner, service);
  let refused = await rehearse(client);
  for (let tries = 0; refused.status === 200 && tries < 10 * AT_ONCE; tries++)
    refused = await rehearse(client);
  expect(refused).toMatchObject({ status: 429, body: { code: "RATE_LIMITED" } });
  expect(refused.body["detail"]).toContain("rehearsals");
  expect((await start(client)).status).toBe(201);
});

test("a rehearsal is refused where the starts of the minute are used", async () => {
  const client = await createTestClient(instance, owner, service);
  await changeTo(client, "rare");
  expect((await rehearse(client)).status).toBe(200);
  let started = await start(client);
  for (let tries = 0; started.status === 201 && tries < 10; tries++) started = await start(client);
  expect(started.status).toBe(429);
  const other = await createTestClient(instance, owner, service);
  const refused = await rehearse(client);
  expect(refused).toMatchObject({ status: 429, body: { code: "RATE_LIMITED" } });
  // As the start, and not as one rehearsal too many.
  expect(refused.body["detail"]).not.toContain("rehearsals");
  expect((await rehearse(other)).status).toBe(200);
});

test("neither an ended subscription nor a retired version is rehearsed, nor a pool that may not be read", async () => {
  const client = await createTestClient(instance, owner, service);
  const body = { dataRef: reference(), params: {} };
  const answer = await instance.gateway.inject({
    method: "POST",
    url: `/${service.serviceKey}/${service.serviceName}/${service.version}/`,
    headers: {
      authorization: `Bearer ${await fetchAccessToken(instance, client)}`,
      prefer: "dry-run",
    },
    payload: body,
  });
  expect([answer.statusCode, answer.json()]).toMatchObject([422, { code: "DATA_REFERENCE_INVALID" }]);
  await expect(executionStore.foresee(await foreign())).rejects.toMatchObject({ code: "NOT_SUBSCRIBED" });
  const other = await createTestService(instance, owner, "retired");
  const subscriber = await createTestClient(instance, owner, other);
  await home.database.query({
    text: "update version set retired_at = now() where id = $1",
    values: [other.versionId],
  });
  expect(await rehearse(subscriber, other)).toMatchObject({ status: 410, body: { code: "VERSION_RETIRED" } });
});

const reference = () => ({
  dataPoolId: createUuidV7(),
  dataSourceDescriptorId: createUuidV7(),
  fileId: createUuidV7(),
});

/** Of a subscription that was cancelled while the gateway still knows it. */
async function foreign() {
  const client = await createTestClient(instance, owner, service);
  await instance.stores.subscriptions.cancel(owner.organisationId, client.subscriptionId);
  const { subscriptionId: id } = client;
  return createExecution({ owner: { kind: "subscription", id, organisationId: owner.organisationId } });
}

test("jobs are rehearsed as well, and neither they nor starts for an application are written to the audit log", async () => {
  const call = createApiCaller(instance);
  const client = await createTestClient(instance, owner, service);
  await changeTo(client, "two");
  const before = await Promise.all([count("execution"), count("audit_entry")]);
  const dryRun = { prefer: "dry-run" };
  const job = await call(owner, `POST /jobs?serviceKey=${service.serviceKey}`, {}, dryRun);
  expect(job).toMatchObject({ status: 200, body: { valid: true, version: service.version } });
  expect(job.body).not.toHaveProperty("cost");
  const again = await instance.api.inject({
    method: "POST",
    url: `/api/jobs?serviceKey=${service.serviceKey}`,
    headers: { authorization: `Bearer ${owner.token}`, ...dryRun },
    payload: {},
  });
  // All are left of as many as there are.
  expect(String(again.headers["ratelimit-policy"])).toContain(
    `q=${/r=(\d+)/.exec(String(again.headers["ratelimit"]))?.[1]};`,
  );
  const tried = await call(owner, `POST /subscriptions/${client.subscriptionId}/executions`, {}, dryRun);
  expect(tried).toMatchObject({ status: 200, body: { valid: true, cost: expect.anything() } });
  expect(await Promise.all([count("execution"), count("audit_entry")])).toEqual(before);
});
