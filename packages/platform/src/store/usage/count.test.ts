import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Claim, NewExecution } from "@platform/engine/store/execution-store";
import type { Outcome } from "@platform/engine/python/port/runtime";
import { createExecution, createOwner } from "@platform/engine/testing/execution-fixtures";
import { createTestStore } from "../../testing/test-store.ts";
import type { TestStore } from "../../testing/test-store.ts";
import { addMissingUsage, checkUsage } from "./check.ts";
import { rollUpUsage } from "./roll-up.ts";

let scene: TestStore;

beforeAll(async () => {
  scene = await createTestStore();
});
afterAll(() => scene.close());

interface Sums {
  readonly succeeded: number;
  readonly failed: number;
  readonly unknown: number;
  readonly uncounted: number;
  readonly cpu: number;
  readonly gb: number;
}

const NOTHING: Sums = { succeeded: 0, failed: 0, unknown: 0, uncounted: 0, cpu: 0, gb: 0 };

/** What one owner has used, rolled up or not; the time of the runs is not known to a test, so `gb` is 1 where there is any. */
async function readSums(ownerId: string): Promise<Sums> {
  const [row = NOTHING] = await scene.home.database.query<Sums>({
    text: `select coalesce(sum(succeeded), 0)::int as succeeded, coalesce(sum(failed), 0)::int as failed,
        coalesce(sum(unknown), 0)::int as unknown, coalesce(sum(uncounted), 0)::int as uncounted,
        coalesce(sum(cpu_micros), 0)::int as cpu, (coalesce(sum(gb_micros), 0) > 0)::int as gb
      from (select * from usage_day union all select * from usage_entry) u where owner_id = $1`,
    values: [ownerId],
  });
  return row;
}

async function start(execution: NewExecution, leaseSeconds = 60): Promise<Claim> {
  await scene.store.create(execution);
  const { claims } = await scene.store.claim({
    workerId: "worker",
    sandboxLevel: "B",
    limit: 1,
    free: { cpu: 10, memory: 10 },
    leaseSeconds,
    excludedVersionIds: [],
    onlyId: execution.id,
  });
  const [claim] = claims;
  if (claim === undefined) throw new Error("The execution cannot be claimed.");
  return claim;
}

/** As if it had run for a second. */
async function age(id: string): Promise<void> {
  await scene.home.database.query({
    text: "update execution set started_at = started_at - interval '1 second' where id = $1",
    values: [id],
  });
}

const CPU = { cpuSeconds: 0.25 };
const RESULT = { status: "SUCCEEDED", result: Buffer.from("{}"), metadata: null } as const;
const ENDS: readonly (readonly [string, Outcome, Partial<Sums>])[] = [
  ["succeeded", { ...RESULT, ...CPU }, { succeeded: 1, cpu: 250_000, gb: 1 }],
  ["succeeded without being measured", RESULT, { succeeded: 1, gb: 1 }],
  [
    "was failed by its code",
    { status: "FAILED", code: "EXECUTION_ERROR", detail: "no", ...CPU },
    { failed: 1, cpu: 250_000, gb: 1 },
  ],
  [
    "could not be started",
    { status: "FAILED", code: "NOT_STARTED", detail: "no", ...CPU },
    { failed: 1, uncounted: 1 },
  ],
  [
    "was lost by its worker",
    { status: "UNKNOWN", code: "WORKER_LOST", detail: "no" },
    { unknown: 1, uncounted: 1 },
  ],
];

test.each(ENDS)("what %s is used once, however often its end is written", async (_, outcome, sums) => {
  const execution = createExecution();
  const claim = await start(execution);
  await age(execution.id);
  for (let tries = 0; tries < 3; tries++) expect(await scene.store.finish(claim, outcome)).toBe(true);
  expect(await readSums(execution.owner.id)).toEqual({ ...NOTHING, ...sums });
});

test("a clock that was set forward adds no more memory time than an execution could run", async () => {
  const execution = { ...createExecution(), timeoutSeconds: 100 };
  const claim = await start(execution);
  const { database } = scene.home;
  await database.query({
    text: "update execution set started_at = started_at - interval '1 year' where id = $1",
    values: [execution.id],
  });
  await scene.store.finish(claim, RESULT);
  const [row] = await database.query<{ seconds: number }>({
    text: `select (sum(u.gb_micros) / max(e.memory_milli) / 1000)::float8 as seconds
      from usage_entry u join execution e on e.owner_id = u.owner_id where u.owner_id = $1`,
    values: [execution.owner.id],
  });
  expect(row?.seconds).toBe(400);
});

test("what never ran, or whose worker is gone, is counted apart by whatever ends it", async () => {
  const owner = createOwner();
  const waiting = createExecution({ owner });
  await scene.store.create(waiting);
  for (let tries = 0; tries < 2; tries++) await scene.store.cancel(waiting.id, owner.id);
  expect(await readSums(owner.id)).toEqual({ ...NOTHING, failed: 1, uncounted: 1 });
  const given = createExecution({ owner });
  const claim = await start(given);
  await scene.store.cancel(given.id, owner.id);
  expect(await readSums(owner.id)).toMatchObject({ failed: 1 });
  await scene.store.giveBack(claim, 0);
  expect(await readSums(owner.id)).toEqual({ ...NOTHING, failed: 2, uncounted: 2 });
  const again = createExecution({ owner });
  await scene.store.giveBack(await start(again), 0);
  expect(await readSums(owner.id)).toMatchObject({ failed: 2, unknown: 0 });
  await start(createExecution({ owner }), 0.01);
  await expect
    .poll(() => scene.store.sweep().then(() => readSums(owner.id)))
    .toEqual({ ...NOTHING, failed: 2, unknown: 1, uncounted: 3 });
  await scene.store.cancel(again.id, owner.id);
});

test("a roll-up that runs twice, several at once, or is killed before its end changes no sum", async () => {
  const owners = Array.from({ length: 5 }, () => createOwner());
  const runs = owners.flatMap((owner) => Array.from({ length: 8 }, () => createExecution({ owner })));
  for (const run of runs) await scene.store.finish(await start(run), { ...RESULT, ...CPU });
  const read = () => Promise.all(owners.map(({ id }) => readSums(id)));
  const sums = owners.map(() => expect.objectContaining({ succeeded: 8, cpu: 8 * 250_000 }));
  expect(await read()).toEqual(sums);
  const { database } = scene.home;
  const killed = database.transaction(async (run) => {
    expect(await rollUpUsage({ query: run })).toBeGreaterThanOrEqual(40);
    await run({ text: "select pg_terminate_backend(pg_backend_pid())" });
  });
  await expect(killed).rejects.toThrow(/UNAVAILABLE|terminat|connection/iu);
  expect(await read()).toEqual(sums);
  const moved = await Promise.all(Array.from({ length: 4 }, () => rollUpUsage(database)));
  expect(moved.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(40);
  expect([await rollUpUsage(database), await read()]).toEqual([0, sums]);
  // The same lines again: added to the days that are there.
  const [owner = createOwner()] = owners;
  await scene.store.finish(
    await start({ ...createExecution({ owner }), versionId: runs[0]?.versionId ?? "" }),
    RESULT,
  );
  expect(await rollUpUsage(database)).toBe(1);
  expect(await readSums(owner.id)).toMatchObject({ succeeded: 9 });
});

test("usage is what the executions add up to; a line that was changed is named", async () => {
  const { database } = scene.home;
  expect(await checkUsage(database)).toMatchObject({ differences: [] });
  const execution = createExecution();
  await scene.store.finish(await start(execution), { ...RESULT, ...CPU });
  const { days, lines, differences } = await checkUsage(database);
  expect([days > 0, lines > 0, differences]).toEqual([true, true, []]);
  await rollUpUsage(database);
  await database.query({
    text: "update usage_day set succeeded = 3, cpu_micros = 5 where owner_id = $1",
    values: [execution.owner.id],
  });
  expect((await checkUsage(database)).differences).toMatchObject([
    {
      day: new Date().toISOString().slice(0, 10),
      ownerId: execution.owner.id,
      versionId: execution.versionId,
      kept: { succeeded: "3", cpu_micros: "5" },
      counted: { succeeded: "1", cpu_micros: "250000" },
    },
  ]);
});

test("usage that a process of a former release did not count is added once, by several at once, and nothing where a line has too much", async () => {
  const { database } = scene.home;
  const [owner, other] = [createOwner(), createOwner()];
  const execution = createExecution({ owner });
  const runs = [execution, { ...createExecution({ owner }), versionId: execution.versionId }];
  for (const run of [...runs, createExecution({ owner: other })])
    await scene.store.finish(await start(run), { ...RESULT, ...CPU });
  await rollUpUsage(database);
  // As it would be with one of the two uncounted, and with another under a plan that it has not had.
  await database.query({
    text: "update usage_day set succeeded = 1, cpu_micros = 250000, gb_micros = 0 where owner_id = $1",
    values: [owner.id],
  });
  await database.query({
    text: "update usage_day set plan_id = gen_random_uuid() where owner_id = $1",
    values: [other.id],
  });
  const added = await Promise.all([1, 2, 3].map(() => addMissingUsage(database)));
  expect(added.toSorted((one, next) => one - next)).toEqual([0, 0, 1]);
  expect(await readSums(owner.id)).toMatchObject({ succeeded: 2, cpu: 500_000 });
  expect(await readSums(other.id)).toMatchObject({ succeeded: 1, cpu: 250_000 });
  expect(await addMissingUsage(database)).toBe(0);
  await rollUpUsage(database);
  await database.query({
    text: "update usage_day set plan_id = null where owner_id = $1",
    values: [other.id],
  });
});

test("a subscription has each plan from its moment on, and each execution that of its start", async () => {
  const { database } = scene.home;
  const owner = createOwner();
  const [first, second] = [randomUUID(), randomUUID()];
  await database.query({
    text: `insert into subscription_term (subscription_id, since, plan_id)
      values ($1, now() - interval '2 hours', $2), ($1, now() - interval '1 hour', $3), ($1, now() + interval '1 hour', null)`,
    values: [owner.id, first, second],
  });
  const [former, present] = [createExecution({ owner }), createExecution({ owner })];
  const claims = [await start(former), await start(present)];
  await database.query({
    text: "update execution set created_at = created_at - interval '90 minutes' where id = $1",
    values: [former.id],
  });
  for (const claim of claims) await scene.store.finish(claim, RESULT);
  const rows = await database.query({
    text: "select plan_id from usage_entry where owner_id = $1 and version_id = any ($2::uuid[]) order by version_id = $3",
    values: [owner.id, [former.versionId, present.versionId], present.versionId],
  });
  expect(rows).toEqual([{ plan_id: first }, { plan_id: second }]);
});
