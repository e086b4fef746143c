import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Outcome } from "@platform/engine/python/port/runtime";
import { DAY } from "@platform/engine/base/time";
import { readTerms } from "../api/plan-terms.ts";
import {
  createExecutionDatabase,
  createPostgresExecutionStore,
} from "../store/executions/execution-store.ts";
import type { PostgresExecutionStore } from "../store/executions/execution-store.ts";
import { ensurePartitions } from "../store/executions/partitions.ts";
import { checkUsage } from "../store/usage/check.ts";
import {
  createTestClient,
  createTestService,
  createTestUser,
  fetchAccessToken,
} from "../testing/fixtures.ts";
import type { TestClient, TestService, TestUser } from "../testing/fixtures.ts";
import { startGatewayMember } from "../testing/gateway-members.ts";
import type { GatewayMember } from "../testing/gateway-members.ts";
import { startAtOnce } from "../testing/held-lock.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { steerClock } from "../testing/steered-clock.ts";
import type { SteeredClock } from "../testing/steered-clock.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

const CAP = 3;
const today = new Date();
const firstOfMonth = (ahead: number) =>
  new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + ahead, 1)).toISOString();
const TURN = firstOfMonth(1);
const LAST_DAY = new Date(Date.parse(TURN) - 1).toISOString().slice(0, 10);
const FIRST_DAY = TURN.slice(0, 10);
/** Rounded to a millisecond, it would be of the next month. */
const JUST_BEFORE = `${LAST_DAY}T23:59:59.999600Z`;
const JUST_AFTER = `${FIRST_DAY}T00:00:00.001000Z`;

let home: TestDatabase;
let clock: SteeredClock;
let here: TestInstance;
/** Goes by the clock of JUST_AFTER. */
let store: PostgresExecutionStore;
/** The statements of one began before the turn of the month, those of the other after it. */
let before: GatewayMember;
let after: GatewayMember;
let owner: TestUser;
let service: TestService;

beforeAll(async () => {
  home = await createTestDatabase();
  const { database, logger, target } = home;
  // The days around the turn, and the one before them, without which the last day is no whole one.
  for (const now of [Date.parse(TURN), Date.parse(TURN) - DAY])
    await ensurePartitions(database, { logger, retentionDays: 30, now });
  clock = await steerClock(database);
  await clock.set("before", JUST_BEFORE);
  await clock.set("after", JUST_AFTER);
  [before, after] = await Promise.all([
    startGatewayMember(home, { settings: clock.settingsOf("before") }),
    startGatewayMember(home, { settings: clock.settingsOf("after") }),
  ]);
  store = createPostgresExecutionStore({
    database: createExecutionDatabase(target, { logger, settings: clock.settingsOf("after") }),
  });
  here = await createTestInstance({ database });
  owner = await createTestUser(here);
});
beforeEach(async () => {
  service = await createTestService(here, owner, `s${crypto.randomUUID()}`);
  const terms = readTerms({ name: "Capped", limits: { perMonth: CAP } });
  await here.stores.plans.put(owner.organisationId, service.serviceKey, { ...terms, id: "capped" });
});
afterAll(async () => {
  await Promise.all([before?.close(), after?.close(), here?.close(), store?.close()]);
  await home?.close();
});

interface Caller extends TestClient {
  readonly token: string;
}

async function createCaller(): Promise<Caller> {
  const client = await createTestClient(here, owner, service);
  const { organisationId } = owner;
  await here.stores.subscriptions.change(organisationId, client.subscriptionId, { planId: "capped" });
  return { ...client, token: await fetchAccessToken(here, client) };
}

async function start({ gatewayUrl }: GatewayMember, { token }: Caller) {
  const { serviceKey, serviceName, version } = service;
  const response = await fetch(`${gatewayUrl}/${serviceKey}/${serviceName}/${version}/`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: "{}",
  });
  const { id }: { readonly id: string } = JSON.parse(await response.text());
  const read = (name: string) => response.headers.get(`x-quota-${name}`);
  return { id, said: [response.status, read("remaining"), read("reset")] };
}

async function end(id: string, outcome: Outcome): Promise<void> {
  const { claims } = await store.claim({
    workerId: "worker",
    sandboxLevel: "B",
    limit: 1,
    free: { cpu: 10, memory: 10 },
    leaseSeconds: 60,
    excludedVersionIds: [],
    onlyId: id,
  });
  for (const claim of claims) expect(await store.finish(claim, outcome)).toBe(true);
}

const SUCCEEDED: Outcome = { status: "SUCCEEDED", result: Buffer.from("{}"), metadata: null };
const NOT_STARTED: Outcome = { status: "FAILED", code: "NOT_STARTED", detail: "no" };

/** What counts for the subscription by day, as its organisation reads it. */
async function readUsage({ apiUrl }: GatewayMember, { subscriptionId }: Caller) {
  const days: [string, number][] = [];
  for (const day of [LAST_DAY, FIRST_DAY]) {
    const response = await fetch(`${apiUrl}/api/usage?from=${day}&to=${day}&by=subscription`, {
      headers: { authorization: `Bearer ${owner.token}` },
    });
    const { items }: { readonly items: readonly { key: string; executions: number; notCharged: number }[] } =
      JSON.parse(await response.text());
    const line = items.find(({ key }) => key === subscriptionId);
    days.push([day, line === undefined ? 0 : line.executions - line.notCharged]);
  }
  return days;
}

async function expectCleanUsage(): Promise<void> {
  const { lines, differences } = await checkUsage(home.database);
  expect([lines > 0, differences]).toEqual([true, []]);
}

test("a cap is renewed once, also where one gateway's statement began before the turn of the month and came after another's", async () => {
  const caller = await createCaller();
  const held = await start(before, caller);
  const starts = [await start(after, caller), await start(before, caller), await start(after, caller)];
  expect([held, ...starts].map(({ said }) => said)).toEqual([
    [201, "2", TURN],
    [201, "2", firstOfMonth(2)],
    [201, "1", firstOfMonth(2)],
    [201, "0", firstOfMonth(2)],
  ]);
  for (const gateway of [before, after])
    expect((await start(gateway, caller)).said).toEqual([429, "0", firstOfMonth(2)]);
  // Held before the turn and released after it: nothing comes back to the month that has begun.
  await end(held.id, NOT_STARTED);
  expect((await start(after, caller)).said).toEqual([429, "0", firstOfMonth(2)]);
  await end(starts[2]?.id ?? "", NOT_STARTED);
  const last = await start(after, caller);
  expect(last.said).toEqual([201, "0", firstOfMonth(2)]);
  for (const { id } of [...starts, last]) await end(id, SUCCEEDED);
  expect(await readUsage(after, caller)).toEqual([
    [LAST_DAY, 0],
    [FIRST_DAY, CAP],
  ]);
  await expectCleanUsage();
});

test("what was held before the turn of the month and settled after it is used in the month before", async () => {
  const caller = await createCaller();
  const held = [await start(before, caller), await start(before, caller)];
  for (const { id } of held) await end(id, SUCCEEDED);
  expect((await start(after, caller)).said).toEqual([201, String(CAP - 1), firstOfMonth(2)]);
  expect(await readUsage(before, caller)).toEqual([
    [LAST_DAY, 2],
    [FIRST_DAY, 0],
  ]);
  await expectCleanUsage();
});

test("two gateways that race over the turn of the month let in no more than each month has, and count each execution in its month", async () => {
  const caller = await createCaller();
  const { subscriptionId } = caller;
  const row = { text: "select 1 from quota where subscription_id = $1 for update", values: [subscriptionId] };
  const race = async (gateway: GatewayMember) =>
    await Promise.all(Array.from({ length: 2 * CAP }, () => start(gateway, caller)));
  const answers = (await startAtOnce(home, row, () => [race(before), race(after)])).flat();
  const started = answers.filter(({ said: [status] }) => status === 201);
  const counts = await home.database.query<{ readonly month: string; readonly count: number }>({
    text: `select date_trunc('month', created_at)::date::text as month, count(*)::int from execution
      where owner_id = $1 and quota_month = date_trunc('month', created_at)::date group by 1 order by 1`,
    values: [subscriptionId],
  });
  const [quota] = await home.database.query<{ readonly month: string; readonly used: number }>({
    text: "select month::text, used::int from quota where subscription_id = $1",
    values: [subscriptionId],
  });
  expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(started.length);
  expect(counts.find(({ month }) => month === FIRST_DAY)?.count).toBe(CAP);
  expect(counts.every(({ count }) => count <= CAP)).toBe(true);
  expect(quota).toEqual({ month: FIRST_DAY, used: CAP });
  for (const { id } of started) await end(id, SUCCEEDED);
  expect((await readUsage(after, caller)).map(([, count]) => count)).toEqual([started.length - CAP, CAP]);
  await expectCleanUsage();
});
