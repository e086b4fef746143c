import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { NewExecution } from "@platform/engine/store/execution-store";
import { createMemoryStore } from "@platform/engine/store/memory-store";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
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
let provider: TestUser;
let service: TestService;
let client: TestClient;
let bearer: string;
let call: CallApi;
const allowed = new Set<string>();
const started: NewExecution[] = [];

beforeAll(async () => {
  home = await createTestDatabase();
  const store = createMemoryStore();
  const executionStore: typeof store = {
    ...store,
    create: async (execution) => {
      started.push(execution);
      return await store.create(execution);
    },
  };
  instance = await createTestInstance({
    database: home.database,
    executionStore,
    highPriorityOrganisations: allowed,
  });
  call = createApiCaller(instance);
  provider = await createTestUser(instance);
  service = await createTestService(instance, provider, "ruled");
  client = await createTestClient(instance, provider, service);
  bearer = await fetchAccessToken(instance, client);
});
afterAll(async () => {
  await instance?.close();
  await home?.close();
});

const path = (key = service.serviceKey) => `/services/${key}/policy`;

async function read(): Promise<{ revision: number; policy: object }> {
  return (await call(provider, `GET ${path()}`)).body as { revision: number; policy: object };
}

async function put(policy: unknown, by = provider, key = service.serviceKey, revision?: number) {
  return await call(by, `PUT ${path(key)}`, { revision: revision ?? (await read()).revision, policy });
}

/** Through the gateway, as a job, and as the application. */
async function startAll(): Promise<readonly NewExecution[]> {
  started.length = 0;
  const response = await instance.gateway.inject({
    method: "POST",
    url: `/${service.serviceKey}/${service.serviceName}/1.0.0/`,
    headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
    payload: "{}",
  });
  expect(response.statusCode).toBe(201);
  expect((await call(provider, `POST /jobs?serviceKey=${service.serviceKey}`, {})).status).toBe(201);
  expect((await call(provider, `POST /subscriptions/${client.subscriptionId}/executions`, {})).status).toBe(
    201,
  );
  return [...started];
}

const describe = (executions: readonly NewExecution[]) =>
  executions.map(({ timeoutSeconds, priority = 0 }) => [timeoutSeconds, priority]);

test("a policy has revisions: who replaces another one than the newest is told so, and nothing is changed", async () => {
  expect(await read()).toEqual({ revision: 0, policy: {}, createdAt: null, createdBy: null });
  const first = await put({ timeoutSeconds: 60 });
  expect(first).toMatchObject({ status: 200, body: { revision: 1, policy: { timeoutSeconds: 60 } } });
  expect(await put({ timeoutSeconds: 70 }, provider, service.serviceKey, 0)).toMatchObject({
    status: 409,
    body: {
      code: "CONFLICT",
      detail: expect.stringContaining("The newest revision of the policy is 1, not 0"),
    },
  });
  expect(await put({ priority: "low" })).toMatchObject({
    body: { revision: 2, policy: { priority: "low" } },
  });
  const { body } = await call(provider, `GET ${path()}/revisions?limit=1`);
  expect(body).toMatchObject({ items: [{ revision: 2, policy: { priority: "low" } }] });
  const { nextCursor } = body as { nextCursor: string };
  expect((await call(provider, `GET ${path()}/revisions?limit=1&cursor=${nextCursor}`)).body).toMatchObject({
    items: [{ revision: 1, policy: { timeoutSeconds: 60 } }],
    nextCursor: null,
  });
});

test("of two changes of one revision at the same time, one is refused", async () => {
  const { revision } = await read();
  const answers = await Promise.all(
    [101, 102, 103, 104].map(async (timeoutSeconds) =>
      put({ timeoutSeconds }, provider, service.serviceKey, revision),
    ),
  );
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
  expect((await read()).revision).toBe(revision + 1);
});

test("the same policy again makes no revision, also sent with the revision that it has replaced", async () => {
  const { body } = await put({ timeoutSeconds: 60, priority: "low" });
  const { revision } = body as { revision: number };
  for (const replaces of [revision, revision - 1])
    expect(
      await put({ priority: "low", timeoutSeconds: 60 }, provider, service.serviceKey, replaces),
    ).toMatchObject({
      status: 200,
      body: { revision },
    });
  expect(
    (await put({ priority: "low", timeoutSeconds: 60 }, provider, service.serviceKey, revision - 2)).status,
  ).toBe(409);
});

test("what is no policy is refused", async () => {
  const policies = [
    { timeoutSeconds: 0 },
    { timeoutSeconds: 604_801 },
    { timeoutSeconds: 1.5 },
    { timeoutSeconds: "60" },
    { timeoutSeconds: null },
    { priority: "highest" },
    { priority: 1 },
    { other: 1 },
    [],
    null,
    "low",
  ];
  for (const policy of policies)
    expect(await put(policy)).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } });
  const { revision } = await read();
  for (const wrong of [-1, 1.5, "1", 2_147_483_647, 1e300])
    expect(await call(provider, `PUT ${path()}`, { revision: wrong, policy: {} })).toMatchObject({
      status: 400,
    });
  expect((await read()).revision).toBe(revision);
});

test("the service of another organisation is not found, whatever is asked for", async () => {
  const stranger = await createTestUser(instance);
  for (const key of [service.serviceKey, randomUUID(), "x"])
    for (const answer of [
      await call(stranger, `GET ${path(key)}`),
      await call(stranger, `GET ${path(key)}/revisions`),
      await put({}, stranger, key, 0),
      await put({ priority: "high" }, stranger, key, 0),
    ])
      expect(answer).toMatchObject({ status: 404, body: { code: "SERVICE_NOT_FOUND" } });
});

test("an execution is started with limit and class of its service's policy, however it is started", async () => {
  await put({});
  await waitUntil(async () => (await startAll()).every(({ timeoutSeconds }) => timeoutSeconds === 60));
  await put({ timeoutSeconds: 7, priority: "low" });
  // The gateway follows a notification.
  await waitUntil(async () => (await startAll()).every(({ timeoutSeconds }) => timeoutSeconds === 7));
  expect(describe(await startAll())).toEqual([
    [7, -1],
    [7, -1],
    [7, -1],
  ]);
  await put({});
  await waitUntil(async () => (await startAll()).every(({ priority }) => priority === undefined));
});

test("high is for organisations that the operator allows, and what they no longer allow counts as normal", async () => {
  expect(await put({ priority: "high" })).toMatchObject({
    status: 403,
    body: {
      code: "FORBIDDEN",
      detail: expect.stringContaining("--high-priority-organizations"),
      // Not the caller is refused, but the value.
      errors: [{ path: "/policy/priority" }],
    },
  });
  allowed.add(provider.organisationId);
  expect((await put({ priority: "high" })).status).toBe(200);
  await waitUntil(async () => (await startAll()).every(({ priority }) => priority === 1));
  allowed.clear();
  expect((await startAll()).map(({ priority }) => priority)).toEqual([undefined, undefined, undefined]);
  await put({});
});

test("a change is in the audit log with what it was and is; one that changes nothing is not", async () => {
  const { organisationId } = provider;
  await put({ timeoutSeconds: 11 });
  await put({ timeoutSeconds: 12, priority: "low" });
  await put({ priority: "low", timeoutSeconds: 12 });
  const { items } = await instance.stores.auditLog.list(organisationId, { limit: 2 });
  const [last, former] = items.map(({ action, changes }) => ({
    action,
    changes: JSON.parse(changes) as unknown,
  }));
  expect(former).toMatchObject({
    action: "policy.put",
    changes: [{ field: "timeoutSeconds", before: null, after: "11" }],
  });
  expect(last).toMatchObject({
    action: "policy.put",
    changes: [
      { field: "priority", before: null, after: "low" },
      { field: "timeoutSeconds", before: "11", after: "12" },
    ],
  });
});

test("the last hundred revisions are kept", async () => {
  const { revision } = await read();
  for (let seconds = 1; seconds <= 101; seconds++) await put({ timeoutSeconds: 1000 + seconds });
  const { body } = await call(provider, `GET ${path()}/revisions?limit=100`);
  const { items, nextCursor } = body as { items: { revision: number }[]; nextCursor: string | null };
  expect(nextCursor).toBeNull();
  expect(items.map((item) => item.revision)).toEqual(
    Array.from({ length: 100 }, (_, index) => revision + 101 - index),
  );
});
