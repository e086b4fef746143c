import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readTerms } from "../api/plan-terms.ts";
import { createApiCaller } from "../testing/api-calls.ts";
import {
  createExecutionDatabase,
  createPostgresExecutionStore,
} from "../store/executions/execution-store.ts";
import type { PostgresExecutionStore } from "../store/executions/execution-store.ts";
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
let executionStore: PostgresExecutionStore;
let instance: TestInstance;
let owner: TestUser;
let service: TestService;

beforeAll(async () => {
  home = await createTestDatabase();
  const database = createExecutionDatabase(home.target, home);
  executionStore = createPostgresExecutionStore({ database });
  instance = await createTestInstance({ database: home.connect(), executionStore });
  owner = await createTestUser(instance);
  service = await createTestService(instance, owner);
  const { plans } = instance.stores;
  const put = (id: string, terms: object) =>
    plans.put(owner.organisationId, service.serviceKey, { ...readTerms({ name: id, ...terms }), id });
  await put("two", { limits: { perMonth: 2 } });
  await put("four", { limits: { perMonth: 4 } });
  await put("seconds", { unit: "cpu-second", limits: { perMonth: 1 } });
  await put("single", { limits: { concurrent: 1 } });
  await put("free", {});
});
afterAll(async () => {
  await instance?.close();
  await executionStore?.close();
  await home?.close();
});

const changeTo = (client: TestClient, planId: string) =>
  instance.stores.subscriptions.change(owner.organisationId, client.subscriptionId, { planId });

async function start(client: TestClient, payload: string | Readable = "{}") {
  const answer = await instance.gateway.inject({
    method: "POST",
    url: `/${service.serviceKey}/${service.serviceName}/${service.version}/`,
    headers: {
      authorization: `Bearer ${await fetchAccessToken(instance, client)}`,
      "content-type": "application/json",
    },
    payload,
  });
  return [answer.statusCode, answer.headers["x-quota-remaining"], answer.json().code] as const;
}

test("the cap of a plan is hit at the gateway, which says what is left", async () => {
  const client = await createTestClient(instance, owner, service);
  expect(await start(client)).toEqual([201, undefined, undefined]);
  await changeTo(client, "two");
  expect(await start(client)).toEqual([201, "1", undefined]);
  expect(await start(client)).toEqual([201, "0", undefined]);
  expect(await start(client)).toEqual([429, "0", "QUOTA_EXCEEDED"]);
});

test("a larger plan goes on where the former one was; leaving it and coming back begins nothing anew", async () => {
  const client = await createTestClient(instance, owner, service);
  await changeTo(client, "two");
  await start(client);
  await start(client);
  await changeTo(client, "four");
  expect(await start(client)).toEqual([201, "1", undefined]);
  await changeTo(client, "free");
  expect(await start(client)).toEqual([201, undefined, undefined]);
  await changeTo(client, "two");
  expect(await start(client)).toEqual([429, "0", "QUOTA_EXCEEDED"]);
});

test("a subscription that is cancelled and made anew has what was left", async () => {
  const client = await createTestClient(instance, owner, service);
  await changeTo(client, "two");
  await start(client);
  const { subscriptions } = instance.stores;
  await subscriptions.cancel(owner.organisationId, client.subscriptionId);
  const { applicationId } = client;
  await subscriptions.create(owner.organisationId, applicationId, service.serviceKey, { planId: "two" });
  await expect.poll(() => start(client)).toEqual([201, "0", undefined]);
  expect(await start(client)).toEqual([429, "0", "QUOTA_EXCEEDED"]);
});

test("a start that was let in before its subscription was cancelled is refused, since a new one goes on without it", async () => {
  const client = await createTestClient(instance, owner, service);
  const { applicationId, subscriptionId } = client;
  await changeTo(client, "two");
  let payload = new Readable();
  let answer: ReturnType<typeof start> | undefined;
  // The body is read when the request has been let in.
  await new Promise<void>((resolve) => {
    payload = new Readable({ read: () => resolve() });
    answer = start(client, payload);
  });
  const { subscriptions } = instance.stores;
  await subscriptions.cancel(owner.organisationId, subscriptionId);
  await subscriptions.create(owner.organisationId, applicationId, service.serviceKey, { planId: "two" });
  payload.push("{}");
  payload.push(null);
  expect(await answer).toEqual([403, undefined, "NOT_SUBSCRIBED"]);
  await expect.poll(() => start(client)).toEqual([201, "1", undefined]);
});

test("a subscription is made anew when the executions of the former one have ended, whose limits it would have a second time", async () => {
  const client = await createTestClient(instance, owner, service);
  const { applicationId, subscriptionId } = client;
  const { subscriptions } = instance.stores;
  await changeTo(client, "single");
  expect(await start(client)).toEqual([201, undefined, undefined]);
  await subscriptions.cancel(owner.organisationId, subscriptionId);
  const subscribe = () =>
    subscriptions.create(owner.organisationId, applicationId, service.serviceKey, { planId: "single" });
  await expect(subscribe()).rejects.toMatchObject({
    code: "CONFLICT",
    message: expect.stringContaining("1 execution has not ended"),
  });
  // Those of others do not count.
  const other = await createTestClient(instance, owner, service);
  await subscriptions.cancel(owner.organisationId, other.subscriptionId);
  await subscriptions.create(owner.organisationId, other.applicationId, service.serviceKey, {
    planId: "single",
  });
  const { items } = await executionStore.list(subscriptionId, { limit: 10 });
  for (const { id } of items) await executionStore.cancel(id, subscriptionId);
  expect(await subscribe()).toMatchObject({ concurrency: { used: 0, limit: 1 } });
});

test("a plan of CPU-seconds says how many are left, and a plan without limits has no row that starts would wait for", async () => {
  const client = await createTestClient(instance, owner, service);
  await changeTo(client, "free");
  expect(await start(client)).toEqual([201, undefined, undefined]);
  const rows = await home.database.query({
    text: "select 1 from quota where subscription_id = $1",
    values: [client.subscriptionId],
  });
  expect(rows).toEqual([]);
  await changeTo(client, "seconds");
  expect(await start(client)).toEqual([201, "0", undefined]);
  expect(await start(client)).toEqual([429, "0", "QUOTA_EXCEEDED"]);
});

test("executions at one time are counted from the plan that limits them on, and the subscription shows them", async () => {
  const client = await createTestClient(instance, owner, service);
  await start(client);
  await changeTo(client, "single");
  expect(await start(client)).toEqual([201, undefined, undefined]);
  expect(await start(client)).toEqual([429, undefined, "RATE_LIMITED"]);
  const read = () =>
    createApiCaller(instance)(owner, `GET /subscriptions/${client.subscriptionId}`).then(({ body }) => body);
  expect(await read()).toMatchObject({ quota: null, concurrency: { used: 1, limit: 1 } });
  await changeTo(client, "two");
  expect(await start(client)).toEqual([201, "0", undefined]);
  expect(await read()).toMatchObject({
    quota: {
      unit: "execution",
      used: 2,
      limit: 2,
      resetsAt: expect.stringMatching(/^\d{4}-\d\d-01 00:00:00$/u),
    },
    concurrency: null,
  });
  await changeTo(client, "seconds");
  expect(await read()).toMatchObject({ quota: { unit: "cpu-second", used: 0, limit: 1 } });
});

test("what was used stays counted where a host whose clock is behind makes the subscription anew", async () => {
  const client = await createTestClient(instance, owner, service);
  const { applicationId, subscriptionId } = client;
  await changeTo(client, "two");
  await start(client);
  await instance.stores.subscriptions.cancel(owner.organisationId, subscriptionId);
  // As a host makes it whose clock is an hour ahead: ids begin with their time.
  const ahead = `${(Date.now() + 3_600_000).toString(16).padStart(12, "0")}7000`;
  const id = subscriptionId.replace(/^.{18}/u, ahead.replace(/^(.{8})(.{4})/u, "$1-$2-"));
  for (const text of [
    "update subscription set id = $2 where id = $1",
    "update quota set subscription_id = $2 where subscription_id = $1",
  ])
    await home.database.query({ text, values: [subscriptionId, id] });
  const { subscriptions } = instance.stores;
  await subscriptions.create(owner.organisationId, applicationId, service.serviceKey, { planId: "two" });
  expect(await start(client)).toEqual([201, "0", undefined]);
  expect(await start(client)).toEqual([429, "0", "QUOTA_EXCEEDED"]);
});
