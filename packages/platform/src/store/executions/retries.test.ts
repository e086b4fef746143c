import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RetryPolicy } from "@platform/contract/retries";
import { DAY } from "@platform/engine/base/time";
import type { Claim, NewExecution } from "@platform/engine/store/execution-store";
import type { FailedOutcome } from "@platform/engine/store/retry-rules";
import { createExecution, createUuidAt } from "@platform/engine/testing/execution-fixtures";
import { createQuotaScene } from "../../testing/quota-scene.ts";
import type { QuotaScene } from "../../testing/quota-scene.ts";
import { ensurePartitions, maintainPartitions } from "./partitions.ts";

let scene: QuotaScene;

beforeAll(async () => {
  scene = await createQuotaScene();
});
afterAll(() => scene.close());

const RETRIES: RetryPolicy = { onLost: "retry", onError: { max: 3, backoffSeconds: 0 } };
const BUSY: FailedOutcome = { status: "FAILED", code: "EXECUTION_ERROR", detail: "busy", cpuSeconds: 0.25 };
const DONE = { status: "SUCCEEDED", result: Buffer.from("{}"), metadata: null } as const;

async function begin(change: Partial<NewExecution> = {}): Promise<NewExecution> {
  const execution = createExecution({ retries: RETRIES, ...change });
  await scene.store.create(execution);
  return execution;
}

/** As if what runs had begun so long before. */
async function age(id: string, interval: string): Promise<void> {
  await scene.home.database.query({
    text: "update execution set started_at = started_at - $2::interval where id = $1",
    values: [id, interval],
  });
}

async function readUsage(ownerId: string) {
  const [row] = await scene.home.database.query({
    text: `select sum(succeeded)::int as succeeded, sum(failed)::int as failed, sum(unknown)::int as unknown,
        sum(uncounted)::int as uncounted, sum(cpu_micros)::int as cpu, round(sum(gb_micros) / 1e6)::int as gb
      from usage_entry where owner_id = $1`,
    values: [ownerId],
  });
  return row;
}

/** How many rows there are of it. */
async function countAttempts(id: string): Promise<number> {
  const rows = await scene.home.database.query({
    text: "select 1 from execution_attempt where execution_id = $1",
    values: [id],
  });
  return rows.length;
}

/** Runs an attempt for as long as one can, which is 360 s, and gives its claim. */
async function runLong(id: string): Promise<Claim> {
  const claim = await scene.claim(id);
  await age(id, "1 year");
  return claim;
}

test("an execution counts once, CPU and memory time of each of its attempts once, however often that is written", async () => {
  const owner = await scene.createLimited({ cap: 5, cpuSeconds: 100, concurrent: 1 });
  const { id } = await begin({ owner, resources: { cpu: 1, memory: 2 } });
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const claim = await runLong(id);
    for (let tries = 0; tries < 2; tries += 1) expect(await scene.store.retry(claim, BUSY, 0)).toBe(true);
    expect(await scene.readCounted(owner)).toMatchObject({ used: 1, unended: 1 });
    expect(await readUsage(owner.id)).toMatchObject({ succeeded: null });
  }
  const last = await runLong(id);
  for (let tries = 0; tries < 2; tries += 1)
    expect(await scene.store.finish(last, { ...DONE, cpuSeconds: 0.5 })).toBe(true);
  expect(await scene.readCounted(owner)).toEqual({ used: 1, cpuSeconds: 1, unended: 0 });
  // 3 attempts with 2 GB.
  const sums = { succeeded: 1, failed: 0, unknown: 0, uncounted: 0, cpu: 1_000_000, gb: 2_160 };
  expect(await readUsage(owner.id)).toEqual(sums);
});

test("what an attempt has used counts also where nothing was measured of the last, and where it is cancelled between two", async () => {
  const unmeasured = await begin();
  await scene.store.retry(await scene.claim(unmeasured.id), BUSY, 0);
  await scene.store.finish(await scene.claim(unmeasured.id), DONE);
  expect(await readUsage(unmeasured.owner.id)).toMatchObject({ succeeded: 1, uncounted: 0, cpu: 250_000 });
  const owner = await scene.createLimited({ cap: 5, cpuSeconds: 100, concurrent: 1 });
  const cancelled = await begin({ owner });
  await scene.store.retry(await runLong(cancelled.id), BUSY, 0);
  await scene.store.cancel(cancelled.id, owner.id);
  expect(await readUsage(owner.id)).toMatchObject({ failed: 1, uncounted: 0, cpu: 250_000, gb: 360 });
  expect(await scene.readCounted(owner)).toEqual({ used: 1, cpuSeconds: 0.25, unended: 0 });
});

test("what was cancelled while its attempt failed is used once", async () => {
  const owner = await scene.createLimited({ cap: 5, cpuSeconds: 100, concurrent: 1 });
  const { id } = await begin({ owner });
  const claim = await runLong(id);
  await scene.store.cancel(id, owner.id);
  for (let tries = 0; tries < 2; tries += 1) expect(await scene.store.retry(claim, BUSY, 0)).toBe(true);
  expect(await readUsage(owner.id)).toMatchObject({ failed: 1, uncounted: 0, cpu: 250_000, gb: 360 });
  expect(await scene.readCounted(owner)).toEqual({ used: 1, cpuSeconds: 0.25, unended: 0 });
});

test("nobody pays for the time that a lost worker had, though the next attempt succeeds", async () => {
  const { id, owner } = await begin({ resources: { cpu: 1, memory: 2 } });
  await scene.claim(id, 0.01);
  await age(id, "10 minutes");
  await expect.poll(() => scene.store.sweep()).toBe(1);
  await scene.store.finish(await runLong(id), { ...DONE, cpuSeconds: 0.5 });
  expect(await readUsage(owner.id)).toMatchObject({ succeeded: 1, uncounted: 0, cpu: 500_000, gb: 720 });
});

test("no attempt follows a lost worker a day after the first has begun, whatever its service allows", async () => {
  const { id, owner } = await begin({ retries: { onLost: "retry", onError: { max: 9, backoffSeconds: 0 } } });
  const lose = async () => {
    await scene.claim(id, 0.01);
    await age(id, "1 hour");
    await expect.poll(() => scene.store.sweep()).toBe(1);
  };
  await lose();
  expect((await scene.store.find(id, owner.id))?.status).toBe("PENDING");
  await scene.home.database.query({
    text: "update execution_attempt set started_at = started_at - interval '23 hours' where execution_id = $1",
    values: [id],
  });
  await lose();
  expect(await scene.store.find(id, owner.id)).toMatchObject({
    status: "UNKNOWN",
    attempts: [{ number: 1 }],
  });
});

test("a sweep and the write of an attempt that race leave one of them: it is started again once", async () => {
  for (let round = 0; round < 20; round += 1) {
    const { id, owner } = await begin();
    const claim = await scene.claim(id, 0.001);
    const [, isWritten] = await Promise.all([scene.store.sweep(), scene.store.retry(claim, BUSY, 0)]);
    await expect
      .poll(async () => {
        await scene.store.sweep();
        return (await scene.store.find(id, owner.id))?.status;
      })
      .toBe("PENDING");
    const attempts = (await scene.store.find(id, owner.id))?.attempts ?? [];
    expect(attempts.map(({ code }) => code)).toEqual([isWritten ? "EXECUTION_ERROR" : "WORKER_LOST"]);
    await scene.store.cancel(id, owner.id);
  }
});

test("every change of state is in the feed, that it waits again as well", async () => {
  const { id } = await begin();
  await scene.store.retry(await scene.claim(id), BUSY, 0);
  await scene.store.finish(await scene.claim(id), DONE);
  const rows = await scene.home.database.query<{ status: string }>({
    text: "select status from feed_new where execution_id = $1 order by id",
    values: [id],
  });
  expect(rows.map(({ status }) => status)).toEqual(["PENDING", "RUNNING", "PENDING", "RUNNING", "SUCCEEDED"]);
});

const RETENTION = { retentionDays: 30, logRetentionDays: 30 };

/** Has failed twice, with a checkpoint of the first attempt, so many days ago. */
async function runOld(daysAgo: number, more: Partial<NewExecution>): Promise<NewExecution> {
  const { database, logger } = scene.home;
  const now = Date.now() - daysAgo * DAY;
  await ensurePartitions(database, { logger, retentionDays: 30, now });
  const execution = await begin({ id: createUuidAt(now), versionId: randomUUID(), ...more });
  const first = await scene.claim(execution.id);
  const progress = { fraction: 0.5, message: "half" };
  await scene.store.noteProgress(first, { progress, checkpoint: Buffer.from('{"n":1}') });
  await scene.store.retry(first, BUSY, 0);
  await scene.store.finish(await scene.claim(execution.id), BUSY);
  await database.query({
    text: "update execution set created_at = now() - make_interval(days => $2), ended_at = now() - make_interval(days => $2) where id = $1",
    values: [execution.id, daysAgo],
  });
  return execution;
}

test("attempts and the last checkpoint stay with an execution that is kept for longer, and go with all others", async () => {
  const kept = await runOld(35, { kept: { result: 40, log: null } });
  const other = await runOld(35, {});
  const before = await scene.store.find(kept.id, kept.owner.id);
  expect(before?.attempts).toHaveLength(1);
  const keepHouse = (now: number) =>
    maintainPartitions(scene.home.database, { logger: scene.home.logger, ...RETENTION, now });
  await keepHouse(Date.now());
  const after = await scene.store.find(kept.id, kept.owner.id);
  expect(after?.attempts).toEqual(before?.attempts);
  expect(after?.progress).toEqual(before?.progress);
  expect(after?.progress).toMatchObject({ fraction: null, checkpointAt: expect.any(Number) });
  const checkpoint = await scene.store.readCheckpoint(kept.id, kept.owner.id);
  expect(Buffer.from(checkpoint ?? []).toString()).toBe('{"n":1}');
  expect([await scene.store.find(other.id, other.owner.id), await countAttempts(other.id)]).toEqual([
    null,
    0,
  ]);
  expect(await countAttempts(kept.id)).toBe(1);
  await keepHouse(Date.now() + 6 * DAY);
  expect([await scene.store.find(kept.id, kept.owner.id), await countAttempts(kept.id)]).toEqual([null, 0]);
});

test("when the result of an execution expires before its day, what its attempts failed with is removed too", async () => {
  const { id, owner } = await runOld(3, { kept: { result: 1, log: null } });
  const { database, logger } = scene.home;
  await maintainPartitions(database, { logger, ...RETENTION, now: Date.now() });
  const record = await scene.store.find(id, owner.id);
  expect(record).toMatchObject({ failure: { detail: "" } });
  expect(record?.attempts).toMatchObject([{ code: "EXECUTION_ERROR", detail: "" }]);
});
