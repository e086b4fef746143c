import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createUuidAt } from "@platform/engine/testing/execution-fixtures";
import { createTestService, createTestUser } from "../testing/fixtures.ts";
import type { TestService } from "../testing/fixtures.ts";
import { createHistoryScene } from "../testing/history-scene.ts";
import type { HistoryScene, StoredExecution } from "../testing/history-scene.ts";
import type { Statement } from "../postgres/database.ts";
import { createQuantumBudgetStore, settleAllCharges } from "./quantum-budgets.ts";
import type { QuantumBudgetStore } from "./quantum-budgets.ts";
import { describeCharge, findCost } from "./quantum-costs.ts";
import { parseDecimal, formatDecimal } from "../base/decimal.ts";

const TERMS = {
  currency: "EUR",
  perJob: "1",
  perShot: "0.01",
  perSecond: "0.1",
  shots: 100,
  timeoutSeconds: 60,
};
const BOUND = "8";

let scene: HistoryScene;
let budgets: QuantumBudgetStore;
let organisationId: string;
let service: TestService;

beforeAll(async () => {
  scene = await createHistoryScene();
  budgets = createQuantumBudgetStore(scene.home.database);
});
afterAll(() => scene?.close());
beforeEach(async () => {
  const user = await createTestUser(scene.instance);
  ({ organisationId } = user);
  service = await createTestService(scene.instance, user, "qpu");
  await budgets.put({ organisationId, currency: "EUR" }, "100");
});

const run = async (text: string, ...values: readonly unknown[]) =>
  await scene.home.database.query({ text, values });
const read = async () => await budgets.find({ organisationId, currency: "EUR" });
const hold = async (executionId: string, terms = TERMS) =>
  await budgets.hold({
    executionId,
    organisationId,
    currency: terms.currency,
    timeoutSeconds: terms.timeoutSeconds,
    ...describeCharge(terms),
  });

type Ended = Required<Pick<StoredExecution, "status">> & Pick<StoredExecution, "code" | "ranMs">;

test.each<Ended & { readonly cost: string }>([
  { status: "SUCCEEDED", ranMs: 1_234, cost: "2.1234" },
  { status: "SUCCEEDED", ranMs: 90_000, cost: "8" },
  { status: "FAILED", code: "TIMEOUT", ranMs: 61_000, cost: "6" },
  { status: "FAILED", code: "CANCELLED", ranMs: 1, cost: "0.0001" },
  { status: "FAILED", code: "STARTUP_ERROR", ranMs: 5_000, cost: "0" },
  { status: "UNKNOWN", code: "WORKER_LOST", ranMs: 5_000, cost: "0" },
])(
  "a job that is $status $code after $ranMs ms has cost $cost, in the view and in the budget",
  async (job) => {
    const [id = ""] = await scene.insert([
      { ownerId: organisationId, versionId: service.versionId, at: Date.now(), ...job },
    ]);
    const [row] = await scene.home.database.query<{ readonly ms: number }>({
      text: "select (extract(epoch from ended_at - started_at) * 1000)::float8 as ms from execution where id = $1",
      values: [id],
    });
    const { status, code } = job;
    const failure = code === undefined ? null : { code };
    expect(findCost(TERMS, { status, startedAt: 0, endedAt: row?.ms ?? null, failure })).toBe(job.cost);
    expect(await hold(id)).toBe(true);
    expect(await read()).toMatchObject({ spent: job.cost, held: "0" });
  },
);

test("what has not ended holds its bound, which what it has cost takes the place of in the round of every minute", async () => {
  const [id = ""] = await scene.insert([
    { ownerId: organisationId, versionId: service.versionId, at: Date.now(), status: "RUNNING" },
  ]);
  await hold(id);
  await settleAllCharges(scene.home.database);
  const left = async () =>
    await run(
      "select trim_scale(held)::text as held, trim_scale(spent)::text as spent from quantum_budget where organisation_id = $1",
      organisationId,
    );
  expect(await left()).toEqual([{ held: BOUND, spent: "0" }]);
  await run(
    "update execution set status = 'SUCCEEDED', lease_until = null, ended_at = started_at + interval '2 s' where id = $1",
    id,
  );
  await settleAllCharges(scene.home.database);
  expect(await left()).toEqual([{ held: "0", spent: "2.2" }]);
  await settleAllCharges(scene.home.database);
  expect(await left()).toEqual([{ held: "0", spent: "2.2" }]);
});

test("holding twice for one job, and taking back twice, is once", async () => {
  const id = createUuidAt(Date.now());
  for (const _ of [1, 2]) expect(await hold(id)).toBe(true);
  expect(await read()).toMatchObject({ held: BOUND });
  for (const _ of [1, 2]) await budgets.release(id);
  expect(await read()).toMatchObject({ held: "0", spent: "0" });
});

test("processes that hold at the same time hold no more than there is", async () => {
  const held = await Promise.all(
    Array.from({ length: 30 }, async (_, index) => await hold(createUuidAt(Date.now() - index))),
  );
  expect(held.filter(Boolean)).toHaveLength(12);
  expect(await read()).toMatchObject({ held: "96", left: "4" });
});

/** Jobs that have ended, as ids. */
const insertEnded = async (count: number): Promise<readonly string[]> =>
  await scene.insert(
    Array.from({ length: count }, () => ({
      ownerId: organisationId,
      versionId: service.versionId,
      at: Date.now(),
      status: "SUCCEEDED" as const,
      ranMs: 1_000,
    })),
  );

test("starts that find too little left at the same time all find what the first has settled", async () => {
  const ended = await insertEnded(12);
  for (const id of ended) expect(await hold(id)).toBe(true);
  const held = await Promise.all(
    Array.from({ length: 8 }, async (_, index) => await hold(createUuidAt(Date.now() - index))),
  );
  expect(held).toEqual(Array.from({ length: 8 }, () => true));
});

test("a start that finds too little left waits for who settles the budget at that time", async () => {
  const ended = await insertEnded(12);
  for (const id of ended) await hold(id);
  const settler = await scene.home.database.pool.connect();
  await settler.query("begin");
  await settleAllCharges({
    query: async <Row extends object>({ text, values = [] }: Statement) =>
      (await settler.query<Row>(text, [...values])).rows,
  });
  let hasAnswer = false;
  const held = hold(createUuidAt(Date.now())).finally(() => (hasAnswer = true));
  const waiting =
    "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%quantum_charge%'";
  await expect.poll(async () => hasAnswer || (await run(waiting)).length > 0).toBe(true);
  await settler.query("commit");
  settler.release();
  expect(await held).toBe(true);
});

test("what was held for a job that was never started is given back after minutes", async () => {
  const id = createUuidAt(Date.now());
  await hold(id);
  expect(await read()).toMatchObject({ held: BOUND });
  await run(
    "update quantum_charge set created_at = now() - interval '11 minutes' where execution_id = $1",
    id,
  );
  expect(await read()).toMatchObject({ held: "0", spent: "0", left: "100" });
});

test("a new month has the whole budget, which the end of a job of the month before does not change", async () => {
  const [id = ""] = await scene.insert([
    { ownerId: organisationId, versionId: service.versionId, at: Date.now(), ranMs: 1_000 },
  ]);
  await hold(id);
  const past = "(date_trunc('month', now() at time zone 'UTC') - interval '1 month')::date";
  await run(`update quantum_charge set month = ${past} where execution_id = $1`, id);
  await run(
    `update quantum_budget set month = ${past}, spent = 95 where organisation_id = $1`,
    organisationId,
  );
  expect(await hold(createUuidAt(Date.now()))).toBe(true);
  expect(await read()).toMatchObject({
    month: new Date().toISOString().slice(0, 7),
    held: BOUND,
    spent: "0",
    left: "92",
  });
});

test("a smaller budget keeps what is spent, and a removed one bounds nothing", async () => {
  await hold(createUuidAt(Date.now()));
  await budgets.put({ organisationId, currency: "EUR" }, "5");
  expect(await read()).toMatchObject({ amount: "5", held: BOUND, left: "0" });
  expect(await hold(createUuidAt(Date.now()))).toBe(false);
  expect(await hold(createUuidAt(Date.now()), { ...TERMS, currency: "USD" })).toBe(true);
  expect(await budgets.delete({ organisationId, currency: "EUR" })).toBe(true);
  expect(await hold(createUuidAt(Date.now()))).toBe(true);
  expect([await read(), await budgets.list(organisationId)]).toEqual([null, []]);
  expect(await budgets.delete({ organisationId, currency: "EUR" })).toBe(false);
});

test("a budget that is removed and set again has what the month has cost, also meanwhile", async () => {
  const [before = "", meanwhile = ""] = await insertEnded(2);
  await hold(before);
  await budgets.delete({ organisationId, currency: "EUR" });
  await hold(meanwhile);
  await hold(createUuidAt(Date.now()));
  await budgets.put({ organisationId, currency: "EUR" }, "12");
  expect(await read()).toMatchObject({ amount: "12", spent: "4.2", held: BOUND, left: "0" });
  expect(await hold(createUuidAt(Date.now()))).toBe(false);
});

test("costs are exact, whatever doubles make of them", () => {
  const third = {
    ...TERMS,
    perJob: "0.1",
    perShot: "0.000000001",
    shots: 9_007_199_254_740_991,
    perSecond: "0",
  };
  const sum = parseDecimal("9007199.354740991") ?? 0n;
  expect(describeCharge(third).bound).toBe(formatDecimal(sum));
});
