import { afterAll, beforeAll, expect, test } from "vitest";
import type { Usage } from "@platform/contract/platform-api/usage";
import { USAGE_DIMENSIONS } from "@platform/contract/platform-api/usage";
import type { Outcome } from "@platform/engine/python/port/runtime";
import type { Owner } from "@platform/engine/store/owner";
import { toJobOwner } from "@platform/engine/store/owner";
import { createExecution } from "@platform/engine/testing/execution-fixtures";
import { createUuidV7 } from "@platform/engine/base/uuid";
import {
  createExecutionDatabase,
  createPostgresExecutionStore,
} from "../store/executions/execution-store.ts";
import { rollUpUsage } from "../store/usage/roll-up.ts";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import { createTestMember, createTestService, createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

/*
 * A seeded month. One application has the plan "pro" (a fee, and executions beyond 10) up to noon of 16 March, and then "cpu" (CPU time
 * beyond 6 seconds); another has "mixed" on one day. Each run has 0.25 s of CPU time.
 */
const MONTH = "from=2026-03-01&to=2026-03-31";
const RESULT = { status: "SUCCEEDED", result: Buffer.from("{}"), metadata: null, cpuSeconds: 0.25 } as const;
const ERROR = { status: "FAILED", code: "EXECUTION_ERROR", detail: "no", cpuSeconds: 0.25 } as const;
const NOT_STARTED = { status: "FAILED", code: "NOT_STARTED", detail: "no" } as const;

let home: TestDatabase;
let instance: TestInstance;
let call: CallApi;
let provider: TestUser;
let consumer: TestUser;
let serviceKey: string;
let versions: readonly string[];
let applicationId: string;

beforeAll(async () => {
  home = await createTestDatabase();
  instance = await createTestInstance({ database: home.database });
  call = createApiCaller(instance);
  provider = await createTestUser(instance);
  consumer = await createTestUser(instance);
  const service = await createTestService(instance, provider, "tsp");
  serviceKey = service.serviceKey;
  versions = [service.versionId, await copyVersion(service.versionId)];
  await putPlans();
  await call(provider, `POST /services/${serviceKey}/publish`, { scope: "marketplace" });
  await seed();
});
afterAll(async () => {
  await instance?.close();
  await home?.close();
});

async function query(text: string, ...values: unknown[]) {
  return await home.database.query<Record<string, string>>({ text, values });
}

/** Version 1.1.0. */
async function copyVersion(id: string): Promise<string> {
  const copy = createUuidV7();
  await query(
    `insert into version (id, service_key, major, minor, patch, archive_hash, content_hash, cpu_milli, memory_milli, timeout_seconds, start_mode)
      select $1, service_key, 1, 1, 0, archive_hash, content_hash, cpu_milli, memory_milli, timeout_seconds, start_mode
      from version where id = $2`,
    copy,
    id,
  );
  return copy;
}

async function putPlans(): Promise<void> {
  const plans = {
    pro: { currency: "EUR", monthly: "9.90", perExecution: "0.0025", included: 10 },
    cpu: { currency: "USD", perCpuSecond: "0.000123", unit: "cpu-second", included: 6 },
    mixed: { currency: "EUR", perExecution: "0.01", perCpuSecond: "0.1", included: 4 },
  };
  for (const [id, terms] of Object.entries(plans))
    expect(
      (await call(provider, `PUT /services/${serviceKey}/plans/${id}`, { name: id, ...terms })).status,
    ).toBe(201);
}

async function subscribe(name: string, planId: string, since: string): Promise<Owner> {
  applicationId = String((await call(consumer, "POST /applications", { name })).body["id"]);
  const { body } = await call(consumer, "POST /subscriptions", { applicationId, serviceKey, planId });
  const id = String(body["id"]);
  await query("update subscription_term set since = $2 where subscription_id = $1", id, since);
  return { kind: "subscription", id, organisationId: consumer.organisationId };
}

async function seed(): Promise<void> {
  const database = createExecutionDatabase(home.target, { logger: home.logger });
  const store = createPostgresExecutionStore({ database });
  const run = async (owner: Owner, versionId: string | undefined, day: string, outcome: Outcome) => {
    const execution = createExecution({ owner, versionId: versionId ?? "" });
    await store.create(execution);
    const { claims } = await store.claim({
      workerId: "worker",
      sandboxLevel: "B",
      limit: 1,
      free: { cpu: 100, memory: 100 },
      leaseSeconds: 60,
      excludedVersionIds: [],
      onlyId: execution.id,
    });
    await query(
      "update execution set created_at = $2, started_at = started_at - interval '3 seconds' where id = $1",
      execution.id,
      day,
    );
    for (const claim of claims) expect(await store.finish(claim, outcome)).toBe(true);
  };
  const shop = await subscribe("shop", "pro", "2026-03-01");
  const [first, second] = versions;
  for (const day of ["03", "04", "10", "16"]) {
    for (const outcome of [RESULT, RESULT, RESULT, ERROR])
      await run(shop, first, `2026-03-${day} 01:00+0`, outcome);
  }
  for (const day of ["05", "06"]) await run(shop, first, `2026-03-${day} 23:59:59+0`, NOT_STARTED);
  await call(consumer, `PUT /subscriptions/${shop.id}`, { planId: "cpu" });
  await query(
    "update subscription_term set since = '2026-03-16 12:00+0' where subscription_id = $1 and since > '2026-03-02'",
    shop.id,
  );
  for (let index = 0; index < 20; index++)
    await run(shop, second, `2026-03-${17 + (index % 5)} 12:00+0`, RESULT);
  const planner = await subscribe("planner", "mixed", "2026-03-01");
  for (let index = 0; index < 8; index++) await run(planner, second, "2026-03-31 23:59:59+0", RESULT);
  for (const day of ["03-01", "04-01"])
    await run(toJobOwner(provider.organisationId), first, `2026-${day} 00:00+0`, RESULT);
  await store.close();
  await database.close();
}

async function read(user: TestUser, parameters: string): Promise<readonly Usage[]> {
  const items: Usage[] = [];
  for (let cursor = ""; ;) {
    const { status, body } = await call(user, `GET /usage?limit=7&${parameters}${cursor}`);
    expect({ status, body }).toMatchObject({ status: 200 });
    items.push(...(body["items"] as Usage[]));
    const { nextCursor } = body;
    if (typeof nextCursor !== "string") return items;
    cursor = `&cursor=${nextCursor}`;
  }
}

/** Money in units of 10^-12, by currency. */
function addUp(items: readonly Usage[]) {
  const cost: Record<string, bigint> = {};
  for (const { currency, amount } of items.flatMap((item) => item.cost)) {
    const [whole = "0", part = ""] = amount.split(".");
    cost[currency] = (cost[currency] ?? 0n) + BigInt(whole + part.padEnd(12, "0"));
  }
  const sum = (
    name: "executions" | "succeeded" | "failed" | "unknown" | "notCharged" | "cpuSeconds" | "gbSeconds",
  ) => Number(items.reduce((total, item) => total + item[name], 0).toFixed(6));
  return {
    executions: sum("executions"),
    succeeded: sum("succeeded"),
    failed: sum("failed"),
    unknown: sum("unknown"),
    notCharged: sum("notCharged"),
    cpuSeconds: sum("cpuSeconds"),
    gbSeconds: sum("gbSeconds"),
    cost,
  };
}

/** What the executions of the month add up to. */
async function addUpExecutions(condition: string, id: string) {
  const [row] = await query(
    `select count(*)::int as executions, count(*) filter (where status = 'SUCCEEDED')::int as succeeded,
        count(*) filter (where status = 'FAILED')::int as failed, count(*) filter (where status = 'UNKNOWN')::int as unknown,
        count(*) filter (where failure_code = 'NOT_STARTED')::int as "notCharged",
        sum(cpu_micros / 1e6)::float8 as "cpuSeconds",
        (sum(extract(epoch from ended_at - started_at) * memory_milli / 1000)
          filter (where failure_code is distinct from 'NOT_STARTED'))::float8 as "gbSeconds"
      from execution where created_at >= '2026-03-01+0' and created_at < '2026-04-01+0' and ${condition}`,
    id,
  );
  return row;
}

/** 16 days of the fee of 31, and 6 executions beyond 10; 3 CPU-seconds beyond 6; half of 8 executions and 2 CPU-seconds. */
const COST = { EUR: 5_109_677_419_355n + 15_000_000_000n + 140_000_000_000n, USD: 369_000_000n };

test.each(USAGE_DIMENSIONS)(
  "by %s, the month is what its executions add up to, for both sides, and costs the same",
  async (by) => {
    const used = await addUpExecutions("organisation_id = $1", consumer.organisationId);
    expect(used).toMatchObject({ executions: 46, notCharged: 2, cpuSeconds: 11 });
    const expected = { ...used, cost: COST };
    expect(addUp(await read(consumer, `${MONTH}&by=${by}`))).toEqual(expected);
    expect(addUp(await read(provider, `${MONTH}&by=${by}&side=provider`))).toEqual(expected);
  },
);

test("jobs are used by the organisation itself, and a day begins at midnight UTC", async () => {
  const jobs = await read(provider, `${MONTH}&by=application`);
  expect(jobs).toMatchObject([{ key: "jobs", label: "Jobs", executions: 1, cost: [] }]);
  expect(await read(provider, "from=2026-04-01&to=2026-04-01")).toMatchObject([
    { key: "2026-04-01", executions: 1 },
  ]);
  expect(await read(consumer, "from=2026-04-01&to=2026-04-02")).toEqual([]);
});

test("a part of a month costs what the whole month says of it", async () => {
  const days = await read(consumer, MONTH);
  expect(days.find(({ key }) => key === "2026-03-10")?.cost).toEqual([
    { currency: "EUR", amount: "0.32435483871" },
  ]);
  for (const day of ["2026-03-10", "2026-03-16", "2026-03-21", "2026-03-31"])
    expect(await read(consumer, `from=${day}&to=${day}`)).toEqual(days.filter(({ key }) => key === day));
});

/** Costs of the plan "pro". */
const readFees = async (period: string) =>
  (await read(consumer, `${period}&by=plan`))
    .filter(({ key }) => key.endsWith("/pro"))
    .flatMap(({ cost }) => cost);

test("a fee is due for each day on which there was its plan, once, and for no day before or after", async () => {
  const [{ id = "" } = {}] = await query(
    "select id from subscription where application_id <> $1 and service_key = $2",
    applicationId,
    serviceKey,
  );
  const [pro] = await query("select id from plan where slug = 'pro'");
  const april = "from=2026-04-01&to=2026-04-30";
  expect(await readFees(april)).toEqual([]);
  const have = (since: string, planId: string | null) =>
    query("insert into subscription_term values ($1, $2, $3)", id, since, planId);
  // For a night without it, twice on one day, and from the 30th on until the first moment of May.
  await have("2026-04-10 00:01+0", pro?.["id"] ?? null);
  await have("2026-04-10 23:59+0", null);
  await have("2026-04-11 00:01+0", pro?.["id"] ?? null);
  await have("2026-04-11 12:00+0", null);
  await have("2026-04-11 18:00+0", pro?.["id"] ?? null);
  await have("2026-04-11 23:59+0", null);
  await have("2026-04-30 00:00+0", pro?.["id"] ?? null);
  await have("2026-05-01 00:00+0", null);
  expect(await readFees(april)).toEqual([{ currency: "EUR", amount: "0.99" }]);
  expect(await readFees("from=2026-04-12&to=2026-04-29")).toEqual([]);
  expect(await readFees("from=2026-05-01&to=2026-05-31")).toEqual([]);
  await query(
    "update subscription_term set since = '2026-04-01' where subscription_id = $1 and since = '2026-04-10 00:01+0'",
    id,
  );
  await query(
    "delete from subscription_term where subscription_id = $1 and since between '2026-04-02' and '2026-04-30 00:00+0'",
    id,
  );
  expect(await readFees(april)).toEqual([{ currency: "EUR", amount: "9.9" }]);
  await query("delete from subscription_term where subscription_id = $1 and since >= '2026-04-01'", id);
});

test("whose usage it is is said for each dimension; subscribers are named to those who may list them", async () => {
  const labels = async (user: TestUser, parameters: string) =>
    (await read(user, `${MONTH}&${parameters}`)).map(({ label }) => label).sort();
  const [own] = await query("select name from organisation where id = $1", consumer.organisationId);
  expect(await labels(consumer, "by=application")).toEqual(["planner", "shop"]);
  expect(await labels(consumer, "by=subscription")).toEqual(["planner / tsp", "shop / tsp"]);
  expect(await labels(consumer, "by=plan")).toEqual(["tsp / cpu", "tsp / mixed", "tsp / pro"]);
  expect(await labels(consumer, "by=version")).toEqual(["tsp / monthly fees", "tsp 1.0.0", "tsp 1.1.0"]);
  expect(await labels(consumer, "by=service")).toEqual(["tsp"]);
  const named = [`${own?.["name"]} / planner`, `${own?.["name"]} / shop`];
  expect(await labels(provider, "by=application&side=provider")).toEqual(named);
  const viewer = await createTestMember(instance, provider.organisationId, "viewer");
  const response = await instance.api.inject({
    url: `/api/usage?${MONTH}&by=application&side=provider`,
    headers: { authorization: `Bearer ${viewer.token}`, "x-organizationid": provider.organisationId },
  });
  const { items }: { items: Usage[] } = response.json();
  expect(items.map(({ key, label }) => key === label)).toEqual([true, true]);
});

test("another organisation sees nothing of it, on either side", async () => {
  const stranger = await createTestUser(instance);
  for (const side of ["consumer", "provider"])
    for (const by of USAGE_DIMENSIONS)
      expect(await read(stranger, `${MONTH}&by=${by}&side=${side}`)).toEqual([]);
  // Whoever only subscribes is no provider of it.
  expect(await read(consumer, `${MONTH}&side=provider`)).toEqual([]);
});

test.each([
  "from=2026-03-02&to=2026-03-01",
  "from=2026-02-31",
  "from=0000-01-01&to=0000-01-02",
  "from=2025-01-01&to=2026-03-01",
  "from=yesterday",
  "by=input",
  "side=both",
  "cursor=x",
  "limit=0",
  "sid=provider",
])("%s is refused", async (parameters) => {
  expect(await call(consumer, `GET /usage?${parameters}`)).toMatchObject({
    status: 400,
    body: { code: "INVALID_INPUT" },
  });
});

test("usage stays as it is when it is rolled up, its executions are removed and the application is deleted", async () => {
  const readAll = async () => [
    ...(await read(consumer, `${MONTH}&by=version`)),
    ...(await read(provider, `${MONTH}&by=plan&side=provider`)),
  ];
  const before = await readAll();
  await rollUpUsage(home.database);
  expect(await readAll()).toEqual(before);
  await query("delete from execution");
  expect((await call(consumer, `DELETE /applications/${applicationId}`)).status).toBe(204);
  expect(await readAll()).toEqual(before);
});
