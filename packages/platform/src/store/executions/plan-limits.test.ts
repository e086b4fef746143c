import { afterAll, beforeAll, expect, test } from "vitest";
import { createExecution } from "@platform/engine/testing/execution-fixtures";
import type { Owner } from "@platform/engine/store/owner";
import type { Outcome } from "@platform/engine/python/port/runtime";
import { startAtOnce } from "../../testing/held-lock.ts";
import { createQuotaScene } from "../../testing/quota-scene.ts";
import type { QuotaScene } from "../../testing/quota-scene.ts";
import { createExecutionDatabase, createPostgresExecutionStore } from "./execution-store.ts";

let scene: QuotaScene;

beforeAll(async () => {
  scene = await createQuotaScene();
});
afterAll(() => scene.close());

const succeed = (cpuSeconds?: number): Outcome => ({
  status: "SUCCEEDED",
  result: Buffer.from("{}"),
  metadata: null,
  ...(cpuSeconds === undefined ? {} : { cpuSeconds }),
});
const fail = (code: string, cpuSeconds?: number): Outcome => ({
  status: "FAILED",
  code,
  detail: "no",
  ...(cpuSeconds === undefined ? {} : { cpuSeconds }),
});

async function startAndEnd(owner: Owner, outcome: Outcome): Promise<void> {
  const { id } = await scene.start(owner);
  await scene.store.finish(await scene.claim(id), outcome);
}

async function readCpu(owner: Owner): Promise<number | undefined> {
  return (await scene.readCounted(owner))?.cpuSeconds;
}

test("a subscription has as many executions at one time as its plan, and the next start is told to wait for an end", async () => {
  const owner = await scene.createLimited({ concurrent: 4 });
  const other = await scene.createLimited({ concurrent: 2, cap: 50 });
  expect(await Promise.all([scene.countStarted(owner, 12), scene.countStarted(other, 12)])).toEqual([4, 2]);
  await expect(scene.start(owner)).rejects.toMatchObject({
    code: "RATE_LIMITED",
    status: 429,
    headers: { "retry-after": "1" },
    message: expect.stringContaining("4 executions at one time"),
  });
  await expect(scene.start(other)).rejects.toMatchObject({
    code: "RATE_LIMITED",
    headers: { "x-quota-remaining": "48" },
  });
});

test("two gateways at once let through no more than the plan has at one time", async () => {
  const gateways = Array.from({ length: 2 }, () =>
    createPostgresExecutionStore({ database: createExecutionDatabase(scene.home.target, scene.home) }),
  );
  const owner = await scene.createLimited({ concurrent: 7 });
  const row = { text: "select 1 from quota where subscription_id = $1 for update", values: [owner.id] };
  const counts = await startAtOnce(scene.home, row, () =>
    gateways.map((gateway) => scene.countStarted(owner, 5, gateway)),
  );
  expect(counts.toSorted((a, b) => a - b)).toEqual([2, 5]);
  await Promise.all(gateways.map((gateway) => gateway.close()));
});

const ENDS: readonly (readonly [string, (owner: Owner, id: string) => Promise<unknown>])[] = [
  ["success", async (_, id) => scene.store.finish(await scene.claim(id), succeed(1))],
  ["failure", async (_, id) => scene.store.finish(await scene.claim(id), fail("EXECUTION_ERROR"))],
  [
    "failure of the platform",
    async (_, id) => scene.store.finish(await scene.claim(id), fail("NOT_STARTED")),
  ],
  ["cancellation before it runs", (owner, id) => scene.store.cancel(id, owner.id)],
  [
    "cancellation while it runs",
    async (owner, id) => {
      const claim = await scene.claim(id);
      await scene.store.cancel(id, owner.id);
      return scene.store.finish(claim, fail("CANCELLED"));
    },
  ],
  [
    "being given back cancelled",
    async (owner, id) => {
      const claim = await scene.claim(id);
      await scene.store.cancel(id, owner.id);
      return scene.store.giveBack(claim, 0);
    },
  ],
  [
    "loss of its worker",
    async (_, id) => {
      await scene.claim(id, 0.01);
      await expect.poll(() => scene.store.sweep()).toBe(1);
    },
  ],
];

test.each(ENDS)("%s makes room for one execution, in whatever month it was started", async (_name, end) => {
  const owner = await scene.createLimited({ concurrent: 1 });
  for (const isOver of [false, true]) {
    const { id } = await scene.start(owner);
    expect(await scene.countStarted(owner, 3)).toBe(0);
    if (isOver) await scene.endMonth(owner);
    await end(owner, id);
    expect(await scene.readCounted(owner)).toMatchObject({ unended: 0 });
  }
  expect(await scene.countStarted(owner, 3)).toBe(1);
});

test("what is given back to be claimed again, or is asked to end, takes its place until it has ended", async () => {
  const owner = await scene.createLimited({ concurrent: 1 });
  const { id } = await scene.start(owner);
  await scene.store.giveBack(await scene.claim(id), 0);
  expect(await scene.countStarted(owner, 2)).toBe(0);
  const claim = await scene.claim(id);
  await scene.store.cancel(id, owner.id);
  expect(await scene.countStarted(owner, 2)).toBe(0);
  for (let tries = 0; tries < 3; tries++) await scene.store.finish(claim, fail("CANCELLED"));
  expect(await scene.readCounted(owner)).toMatchObject({ unended: 0 });
});

test("a start that is repeated after its answer was lost takes one place, and holds CPU time once", async () => {
  const owner = await scene.createLimited({ concurrent: 1, cpuSeconds: 10 });
  const disturbed = createPostgresExecutionStore({
    database: {
      ...scene.database,
      query: async (statement) => {
        if (statement.name === "execution-create") await scene.database.query(statement);
        return await scene.database.query(statement);
      },
    },
  });
  const execution = createExecution({ owner });
  for (let tries = 0; tries < 2; tries++)
    expect(await disturbed.create(execution)).toMatchObject({ id: execution.id });
  expect(await scene.readCounted(owner)).toEqual({ used: 1, cpuSeconds: 1, unended: 1 });
  await disturbed.close();
});

test("CPU time is held by starts, at first one second each, and what was measured takes its place", async () => {
  const owner = await scene.createLimited({ cpuSeconds: 3 });
  const started = await Promise.all(Array.from({ length: 3 }, () => scene.start(owner)));
  expect(await readCpu(owner)).toBe(3);
  await expect(scene.start(owner)).rejects.toMatchObject({
    code: "QUOTA_EXCEEDED",
    status: 429,
    headers: { "x-quota-limit": "3", "x-quota-remaining": "0" },
    message: expect.stringContaining("3 CPU-seconds a month"),
  });
  for (const { id } of started) await scene.store.finish(await scene.claim(id), succeed(0.25));
  expect(await readCpu(owner)).toBe(0.75);
  const { quota } = await scene.start(owner);
  expect(quota).toMatchObject({ unit: "cpu-second", cap: 3 });
  expect(quota?.left).toBeGreaterThan(1.25);
  expect(quota?.left).toBeLessThan(1.5);
});

test("a start is let through while any CPU time is left, and what it takes beyond the cap is counted", async () => {
  const owner = await scene.createLimited({ cpuSeconds: 1 });
  await startAndEnd(owner, succeed(0.999));
  await startAndEnd(owner, fail("TIMEOUT", 60));
  expect(await readCpu(owner)).toBe(60.999);
  expect(await scene.countStarted(owner, 3)).toBe(0);
});

test("a cap of CPU time is exceeded at most by what as many executions take as run at one time", async () => {
  const owner = await scene.createLimited({ cpuSeconds: 10, concurrent: 2 });
  await startAndEnd(owner, succeed(0.001));
  for (let tries = 0; tries < 5; tries++) {
    const started = await Promise.allSettled(Array.from({ length: 4 }, () => scene.start(owner)));
    for (const start of started)
      if (start.status === "fulfilled")
        await scene.store.finish(await scene.claim(start.value.id), succeed(9));
  }
  const taken = (await readCpu(owner)) ?? 0;
  expect(taken).toBeGreaterThan(10);
  expect(taken).toBeLessThanOrEqual(10 + 2 * 9);
});

test("starts hold what executions have taken lately", async () => {
  const owner = await scene.createLimited({ cpuSeconds: 3 });
  for (let ended = 0; ended < 60; ended++) await startAndEnd(owner, succeed(0.001));
  const started = await scene.countStarted(owner, 60);
  expect(started).toBeGreaterThan(30);
  const slow = await scene.createLimited({ cpuSeconds: 1000 });
  for (let ended = 0; ended < 30; ended++) await startAndEnd(slow, succeed(20));
  expect(await scene.countStarted(slow, 60)).toBeLessThan(40);
});

test.each([
  ["the platform could not start", 0, fail("NOT_STARTED")],
  ["was not measured", 1, succeed()],
  ["was failed by its code", 0.5, fail("EXECUTION_ERROR", 0.5)],
  ["took no time", 0, succeed(0)],
])("of what %s, %d CPU-seconds are counted", async (_name, seconds, outcome) => {
  const owner = await scene.createLimited({ cpuSeconds: 10 });
  await startAndEnd(owner, outcome);
  expect(await readCpu(owner)).toBe(seconds);
});

test("a month that has begun has the whole cap of CPU time, and ends of what was started before change nothing of it", async () => {
  const owner = await scene.createLimited({ cpuSeconds: 2 });
  const { id } = await scene.start(owner);
  await scene.endMonth(owner);
  expect(await scene.countStarted(owner, 4)).toBe(2);
  await scene.store.finish(await scene.claim(id), succeed(100));
  expect(await readCpu(owner)).toBe(2);
});

test("an end that begins in the last moment of a month takes nothing back of the next, which has begun meanwhile", async () => {
  const owner = await scene.createLimited({ cpuSeconds: 10 });
  const { id } = await scene.start(owner);
  await scene.home.database.query({
    text: "update quota set month = month + interval '1 month', used = 3, cpu_used = 3000000 where subscription_id = $1",
    values: [owner.id],
  });
  await scene.store.finish(await scene.claim(id), fail("NOT_STARTED"));
  expect(await scene.readCounted(owner)).toEqual({ used: 3, cpuSeconds: 3, unended: 0 });
});
