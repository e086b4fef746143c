import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Claim } from "@platform/engine/store/execution-store";
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

async function start(client: TestClient, payload: string | Readable = "{}", called = service) {
  const answer = await instance.gateway.inject({
    method: "POST",
    url: `/${called.serviceKey}/${called.serviceName}/${called.version}/`,
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
  await endAll(client);
  const { subscriptions } = instance.stores;
  await subscriptions.cancel(owner.organisationId, client.subscriptionId);
  const { applicationId } = client;
  await subscriptions.create(owner.organisationId, applicationId, service.serviceKey, { planId: "two" });
  expect(await startAnew(client)).toEqual([201, "0", undefined]);
  expect(await start(client)).toEqual([429, "0", "QUOTA_EXCEEDED"]);
});

/** Starts once: what is refused, while the gateway still knows the former subscription, is tried again. */
async function startAnew(client: TestClient): ReturnType<typeof start> {
  let answer = await start(client);
  await expect
    .poll(async () => (answer[0] === 403 ? (answer = await start(client)) : answer)[0])
    .not.toBe(403);
  return answer;
}

/** Claims all that the client has started and that waits, as a worker does. */
async function claimAll({ subscriptionId }: TestClient): Promise<readonly Claim[]> {
  const claimed: Claim[] = [];
  const { items } = await executionStore.list(subscriptionId, { limit: 10 });
  for (const { id } of items) {
    const { claims } = await executionStore.claim({
      workerId: "worker",
      sandboxLevel: "B",
      limit: 1,
      free: { cpu: 10, memory: 10 },
      leaseSeconds: 60,
      excludedVersionIds: [],
      onlyId: id,
    });
    claimed.push(...claims);
  }
  return claimed;
}

/** Ends all that the client has started, as a worker does. */
async function endAll(client: TestClient): Promise<void> {
  for (const claim of await claimAll(client))
    await executionStore.finish(claim, { status: "SUCCEEDED", result: Buffer.from("{}"), metadata: null });
}

const CANCELLED = {
  status: "FAILED",
  code: "CANCELLED",
  detail: "The execution was cancelled.",
} as const;

/** The user, in a further organisation, which can be deleted. */
async function createSecondOrganisation(user: TestUser): Promise<TestUser> {
  const slug = `second-${randomUUID()}`.slice(0, 20);
  const organisationId = await instance.identity.createOrganisation(user.userId, { name: "Second", slug });
  return { ...user, organisationId };
}

/** Begins a start, whose body is read when it has been let in; the returned function sends it. */
async function beginStart(client: TestClient, called = service): Promise<() => ReturnType<typeof start>> {
  let payload = new Readable();
  const answers: ReturnType<typeof start>[] = [];
  await new Promise<void>((resolve) => {
    payload = new Readable({ read: () => resolve() });
    answers.push(start(client, payload, called));
  });
  return async () => {
    payload.push("{}");
    payload.push(null);
    return (await Promise.all(answers))[0] ?? [0, undefined, "nothing was begun"];
  };
}

const SUBSCRIPTION_ENDS: readonly (readonly [
  string,
  (user: TestUser, client: TestClient) => Promise<unknown>,
])[] = [
  [
    "it was cancelled",
    (user, { subscriptionId }) => instance.stores.subscriptions.cancel(user.organisationId, subscriptionId),
  ],
  [
    "its application was deleted",
    (user, { applicationId }) => instance.stores.applications.delete(user.organisationId, applicationId),
  ],
  [
    "its organisation was deleted",
    (user) => instance.identity.deleteOrganisation(user.organisationId, user.userId),
  ],
];

test.each(
  SUBSCRIPTION_ENDS.flatMap(([when, end]) => [null, "two"].map((planId) => [when, planId, end] as const)),
)(
  "a start that was let in before %s is refused, with the plan %s, since it would count for nothing",
  async (_, planId, end) => {
    const user = await createSecondOrganisation(owner);
    const offered = await createTestService(instance, user);
    const client = await createTestClient(instance, user, offered);
    if (planId !== null) {
      const { plans, subscriptions } = instance.stores;
      const terms = { ...readTerms({ name: planId, limits: { perMonth: 2 } }), id: planId };
      await plans.put(user.organisationId, offered.serviceKey, terms);
      await subscriptions.change(user.organisationId, client.subscriptionId, { planId });
    }
    const send = await beginStart(client, offered);
    await end(user, client);
    expect(await send()).toEqual([403, undefined, "NOT_SUBSCRIBED"]);
  },
);

test("a start that was let in before its subscription was made anew is refused, and counts for neither", async () => {
  const client = await createTestClient(instance, owner, service);
  const { applicationId, subscriptionId } = client;
  const send = await beginStart(client);
  const { subscriptions } = instance.stores;
  await subscriptions.cancel(owner.organisationId, subscriptionId);
  await subscriptions.create(owner.organisationId, applicationId, service.serviceKey, { planId: "two" });
  expect(await send()).toEqual([403, undefined, "NOT_SUBSCRIBED"]);
  expect(await startAnew(client)).toEqual([201, "1", undefined]);
});

test("what was used stays counted where the application had no plan in between", async () => {
  const client = await createTestClient(instance, owner, service);
  const { applicationId } = client;
  await changeTo(client, "two");
  await start(client);
  await endAll(client);
  const { subscriptions } = instance.stores;
  let { subscriptionId } = client;
  for (const terms of [{}, { planId: "two" }]) {
    await subscriptions.cancel(owner.organisationId, subscriptionId);
    ({ id: subscriptionId } = await subscriptions.create(
      owner.organisationId,
      applicationId,
      service.serviceKey,
      terms,
    ));
  }
  expect(await startAnew(client)).toEqual([201, "0", undefined]);
});

test("cancelling a subscription cancels its executions: those that wait at once, and count for nothing", async () => {
  const client = await createTestClient(instance, owner, service);
  const { applicationId, subscriptionId } = client;
  await changeTo(client, "two");
  await start(client);
  const { subscriptions } = instance.stores;
  await subscriptions.cancel(owner.organisationId, subscriptionId);
  const { items } = await executionStore.list(subscriptionId, { limit: 10 });
  expect(items).toMatchObject([{ status: "FAILED", failure: { code: "CANCELLED" } }]);
  const terms = { planId: "two" };
  expect(
    await subscriptions.create(owner.organisationId, applicationId, service.serviceKey, terms),
  ).toMatchObject({ quota: { used: 0, limit: 2 } });
});

test("deleting an application cancels the executions of all its subscriptions", async () => {
  const client = await createTestClient(instance, owner, service);
  await start(client);
  const heard: string[] = [];
  const stop = executionStore.subscribe((event) => {
    if (event.type === "changed") heard.push(event.id);
  });
  await instance.stores.applications.delete(owner.organisationId, client.applicationId);
  const { items } = await executionStore.list(client.subscriptionId, { limit: 10 });
  expect(items).toMatchObject([{ status: "FAILED", failure: { code: "CANCELLED" } }]);
  // Who waits for its end hears of it.
  await expect.poll(() => heard).toContain(items[0]?.id);
  stop();
});

test.each(["two", "single"])(
  "with the plan %s, what runs is asked to end when its subscription is cancelled; a new one waits for it, as its limits would be had twice",
  async (planId) => {
    const client = await createTestClient(instance, owner, service);
    const { applicationId, subscriptionId } = client;
    const { subscriptions } = instance.stores;
    await changeTo(client, planId);
    await start(client);
    const claims = await claimAll(client);
    await subscriptions.cancel(owner.organisationId, subscriptionId);
    const renewed = await executionStore.renew("worker", claims, 60);
    expect(renewed.cancelled).toEqual(claims.map(({ id }) => id));
    const subscribe = () =>
      subscriptions.create(owner.organisationId, applicationId, service.serviceKey, { planId });
    await expect(subscribe()).rejects.toMatchObject({
      code: "CONFLICT",
      message: expect.stringContaining("1 execution has not ended"),
    });
    for (const claim of claims) await executionStore.finish(claim, CANCELLED);
    await expect(subscribe()).resolves.toMatchObject({ serviceKey: service.serviceKey });
  },
);

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
  await endAll(client);
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
  expect(await startAnew(client)).toEqual([201, "0", undefined]);
  expect(await start(client)).toEqual([429, "0", "QUOTA_EXCEEDED"]);
});
