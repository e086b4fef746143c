import { afterAll, beforeAll, expect, test } from "vitest";
import type { BatchRehearsal } from "@platform/contract/batch";
import { readTerms } from "../api/plan-terms.ts";
import {
  createExecutionDatabase,
  createPostgresExecutionStore,
} from "../store/executions/execution-store.ts";
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

let home: TestDatabase;
let instance: TestInstance;
let owner: TestUser;
let service: TestService;

beforeAll(async () => {
  home = await createTestDatabase();
  const executionStore = createPostgresExecutionStore({
    database: createExecutionDatabase(home.target, home),
  });
  instance = await createTestInstance({ database: home.connect(), executionStore, startsPerSecond: 2 });
  owner = await createTestUser(instance);
  service = await createTestService(instance, owner);
});
afterAll(async () => {
  await instance?.close();
  await home?.close();
});

const createItems = (count: number) => JSON.stringify({ items: Array.from({ length: count }, () => ({})) });

async function subscribe(name: string, limits: object): Promise<TestClient> {
  const terms = { ...readTerms({ name, limits }), id: name };
  await instance.stores.plans.put(owner.organisationId, service.serviceKey, terms);
  const client = await createTestClient(instance, owner, service);
  await instance.stores.subscriptions.change(owner.organisationId, client.subscriptionId, { planId: name });
  return client;
}

async function send(client: TestClient, count: number, prefer?: string) {
  return await instance.gateway.inject({
    method: "POST",
    url: `/${service.serviceKey}/${service.serviceName}/${service.version}/batch`,
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${await fetchAccessToken(instance, client)}`,
      ...(prefer === undefined ? {} : { prefer }),
    },
    payload: createItems(count),
  });
}

async function rehearse(client: TestClient, count: number) {
  const answer = await send(client, count, "dry-run");
  return { status: answer.statusCode, body: answer.json<BatchRehearsal>() };
}

async function countRows(table: string): Promise<number> {
  return (await home.database.query({ text: `select 1 from ${table}` })).length;
}

test("it creates no batch, no execution, no key and no usage, for an application or as jobs", async () => {
  const client = await createTestClient(instance, owner, service);
  const tables = ["execution", "execution_batch", "idempotency_key", "usage_entry", "audit_entry"];
  const before = await Promise.all(tables.map(countRows));
  expect(await rehearse(client, 3)).toMatchObject({ status: 200, body: { valid: true, total: 3 } });
  const job = await instance.api.inject({
    method: "POST",
    url: `/api/jobs/batch?serviceKey=${service.serviceKey}`,
    headers: {
      "content-type": "application/json",
      prefer: "dry-run",
      authorization: `Bearer ${owner.token}`,
    },
    payload: createItems(2),
  });
  expect([job.statusCode, job.json()]).toMatchObject([200, { valid: true, total: 2, refused: 0 }]);
  expect(await Promise.all(tables.map(countRows))).toEqual(before);
});

test("its items use up what the plan has left, one after the other", async () => {
  const { body } = await rehearse(await subscribe("two", { perMonth: 2 }), 4);
  expect(body.items.map(({ code }) => code)).toEqual([
    undefined,
    undefined,
    "QUOTA_EXCEEDED",
    "QUOTA_EXCEEDED",
  ]);
  expect(body.items.map(({ rehearsal }) => rehearsal?.cost?.quota?.left)).toEqual([
    2,
    1,
    undefined,
    undefined,
  ]);
  const { body: other } = await rehearse(await subscribe("one-at-a-time", { concurrent: 1 }), 2);
  expect(other.items.map(({ code }) => code)).toEqual([undefined, "RATE_LIMITED"]);
});

/** The plan has one more in ten seconds: on a slow machine some come while a test runs. */
const PER_MINUTE = 6;
const countRefilled = (since: number) => Math.ceil((performance.now() - since) / 10_000);
const countValid = ({ body }: Awaited<ReturnType<typeof rehearse>>) =>
  (body.items ?? []).filter(({ rehearsal }) => rehearsal !== undefined).length;

test("each item counts as a rehearsal, and none as a start", async () => {
  const client = await subscribe("rehearsed", { perMinute: PER_MINUTE });
  const since = performance.now();
  const first = await rehearse(client, 10);
  const valid = countValid(first);
  expect(valid).toBeGreaterThanOrEqual(PER_MINUTE);
  expect(valid).toBeLessThanOrEqual(PER_MINUTE + countRefilled(since));
  expect(first.body.items.slice(0, valid).every(({ rehearsal }) => rehearsal !== undefined)).toBe(true);
  for (const item of first.body.items.slice(valid))
    expect(item).toMatchObject({ code: "RATE_LIMITED", retryAfterSeconds: expect.any(Number) });
  // There are as many rehearsals as starts: they were used.
  expect(countValid(await rehearse(client, 10))).toBeLessThanOrEqual(countRefilled(since));
  expect((await send(client, PER_MINUTE)).json()).toMatchObject({ total: PER_MINUTE, refused: 0 });
});

test("items beyond the starts that are left are refused", async () => {
  const client = await subscribe("started", { perMinute: PER_MINUTE });
  const since = performance.now();
  expect((await send(client, 4)).json()).toMatchObject({ refused: 0 });
  const rehearsed = await rehearse(client, PER_MINUTE);
  expect(countValid(rehearsed)).toBeGreaterThanOrEqual(PER_MINUTE - 4);
  expect(countValid(rehearsed)).toBeLessThanOrEqual(PER_MINUTE - 4 + countRefilled(since));
});
