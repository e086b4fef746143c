import { afterAll, beforeAll, expect, test } from "vitest";
import { readTerms } from "../api/plan-terms.ts";
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
const PER_SECOND = 0.5;
const AT_ONCE = 5;

let home: TestDatabase;
let here: TestInstance;
/** Another host. */
let there: TestInstance;
let owner: TestUser;
let service: TestService;

beforeAll(async () => {
  home = await createTestDatabase();
  here = await createTestInstance({ database: home.connect(), startsPerSecond: PER_SECOND });
  there = await createTestInstance({ database: home.connect(), startsPerSecond: PER_SECOND });
  owner = await createTestUser(here);
  service = await createTestService(here, owner);
});
afterAll(async () => {
  await Promise.all([here?.close(), there?.close()]);
  await home?.close();
});

async function createCaller(client: TestClient) {
  const authorization = `Bearer ${await fetchAccessToken(here, client)}`;
  const url = `/${service.serviceKey}/${service.serviceName}/${service.version}/`;
  const headers = { authorization, "content-type": "application/json" };
  return {
    start: ({ gateway }: TestInstance) => gateway.inject({ method: "POST", url, headers, payload: "{}" }),
    list: ({ gateway }: TestInstance) => gateway.inject({ method: "GET", url, headers: { authorization } }),
  };
}

type Answer = Awaited<ReturnType<Awaited<ReturnType<typeof createCaller>>["start"]>>;

async function startMany(
  count: number,
  start: (index: number) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (let index = 0; index < count; index++) answers.push(await start(index));
  return answers;
}

function countAccepted(answers: readonly Answer[]): number {
  return answers.filter(({ statusCode }) => statusCode === 201).length;
}

/** The last one: what a slow machine refills may have been started with since. */
function findRefused(answers: readonly Answer[]): Answer | undefined {
  return answers.findLast(({ statusCode }) => statusCode === 429);
}

const readSeconds = (since: number) => (performance.now() - since) / 1000;
const countRefilled = (since: number) => Math.floor(readSeconds(since) * PER_SECOND);

test("an application's starts are limited over two gateways, others start on, and reading is not counted", async () => {
  const client = await createTestClient(here, owner, service);
  const { start, list } = await createCaller(client);
  for (let index = 0; index < 20; index++) expect((await list(here)).statusCode).toBe(200);
  const since = performance.now();
  const answers = await startMany(14, (index) => start(index % 2 === 0 ? here : there));
  // One of each gateway is let through before it is counted.
  expect(countAccepted(answers)).toBeGreaterThanOrEqual(AT_ONCE);
  expect(countAccepted(answers)).toBeLessThanOrEqual(AT_ONCE + 2 + countRefilled(since));
  const refused = findRefused(answers);
  expect(refused?.json()).toMatchObject({ code: "RATE_LIMITED" });
  expect(Number(refused?.headers["retry-after"])).toBeGreaterThanOrEqual(1);
  expect(refused?.headers["ratelimit-policy"]).toBe('"application";q=5;w=10');
  expect(refused?.headers["ratelimit"]).toMatch(/^"application";r=0;t=\d+$/);
  expect((await list(here)).statusCode).toBe(200);
  const other = await createCaller(await createTestClient(here, owner, service));
  expect((await other.start(here)).statusCode).toBe(201);
});

test("a start says which limits there are and what is left", async () => {
  const { start } = await createCaller(await createTestClient(here, owner, service));
  const answer = await start(here);
  expect(answer.headers["ratelimit-policy"]).toBe('"application";q=5;w=10');
  expect(answer.headers["ratelimit"]).toBe('"application";r=4;t=2');
});

test("the plan of a subscription limits its starts, and what it refuses costs the application nothing", async () => {
  const terms = { ...readTerms({ name: "Slow", limits: { perMinute: 2 } }), id: "slow" };
  await here.stores.plans.put(owner.organisationId, service.serviceKey, terms);
  const client = await createTestClient(here, owner, service);
  await here.stores.subscriptions.change(owner.organisationId, client.subscriptionId, { planId: "slow" });
  const { start } = await createCaller(client);
  const since = performance.now();
  const answers = await startMany(12, () => start(here));
  expect(countAccepted(answers)).toBe(2);
  const refused = findRefused(answers);
  expect(refused?.json().detail).toContain("2 starts a minute");
  expect(refused?.headers["ratelimit-policy"]).toBe('"plan";q=2;w=60');
  const policy = answers[0]?.headers["ratelimit-policy"];
  expect(policy).toBe('"plan";q=2;w=60, "application";q=5;w=10');
  const standing = /^"plan";r=0;t=\d+, "application";r=(\d+);t=(\d+)$/.exec(
    String(answers[1]?.headers["ratelimit"]),
  );
  const [left, seconds] = [Number(standing?.[1]), Number(standing?.[2])];
  expect(left).toBeGreaterThanOrEqual(3);
  expect(left).toBeLessThanOrEqual(3 + countRefilled(since));
  expect(seconds).toBeLessThanOrEqual(4);
  expect(seconds).toBeGreaterThanOrEqual(Math.ceil(4 - readSeconds(since)));
});

test("who subscribes anew has no further starts of the minute", async () => {
  const terms = { ...readTerms({ name: "Slow", limits: { perMinute: 2 } }), id: "slow" };
  await here.stores.plans.put(owner.organisationId, service.serviceKey, terms);
  const client = await createTestClient(here, owner, service);
  const { applicationId, subscriptionId } = client;
  const { subscriptions } = here.stores;
  await subscriptions.change(owner.organisationId, subscriptionId, { planId: "slow" });
  const { start } = await createCaller(client);
  expect(countAccepted(await startMany(2, () => start(here)))).toBe(2);
  await subscriptions.cancel(owner.organisationId, subscriptionId);
  await subscriptions.create(owner.organisationId, applicationId, service.serviceKey, { planId: "slow" });
  await expect.poll(async () => (await start(here)).json().code).not.toBe("NOT_SUBSCRIBED");
  expect((await start(here)).json()).toMatchObject({ detail: expect.stringContaining("2 starts a minute") });
});

test("starts that the application's limit refuses do not count for the plan", async () => {
  const terms = { ...readTerms({ name: "Fast", limits: { perMinute: 60 } }), id: "fast" };
  await here.stores.plans.put(owner.organisationId, service.serviceKey, terms);
  const client = await createTestClient(here, owner, service);
  await here.stores.subscriptions.change(owner.organisationId, client.subscriptionId, { planId: "fast" });
  const { start } = await createCaller(client);
  const answers = await startMany(30, () => start(here));
  const refused = findRefused(answers);
  expect(refused?.json().detail).toContain("Too many starts of this application");
  const left = /^"plan";r=(\d+)/.exec(String(refused?.headers["ratelimit"]))?.[1];
  expect(Number(left)).toBeGreaterThanOrEqual(50);
});
