import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ProjectKind } from "@platform/contract/project";
import { createUuidV7 } from "../base/uuid.ts";
import { SECOND } from "../base/time.ts";
import { BACKEND_PRIORITY } from "../store/kinds.ts";
import { mapRecords } from "../store/map-records.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import { createRateMeter } from "./rate-meter.ts";
import { createWaiting } from "./waiting.ts";
import { SUCCEEDED, createExecution, createOwner, request } from "../testing/execution-fixtures.ts";
import type { ExecutionStore } from "../store/execution-store.ts";

const OWNER = "owner";

async function open(base: ExecutionStore = createMemoryStore()) {
  const clock = { now: 0, time: Date.now() };
  const ends = createRateMeter(() => clock.now);
  const waiting = createWaiting(base, { ends, now: () => clock.now, readTime: () => clock.time });
  const store = mapRecords(base, waiting.describe);
  const start = async (
    ownerId = OWNER,
    versionId = "version",
    more: { readonly priority?: number } = {},
  ): Promise<string> => {
    const id = createUuidV7();
    await store.create({
      id,
      owner: createOwner(ownerId),
      versionId,
      resources: { cpu: 2, memory: 8 },
      timeoutSeconds: 60,
      body: Buffer.from("{}"),
      references: {},
      ...more,
    });
    return id;
  };
  const id = await start();
  /** What a record says some seconds later. */
  const readLater = async (wanted = id) => {
    clock.now += 4 * SECOND;
    await store.find(wanted, OWNER);
    // What is read in the background has come.
    await setImmediate();
    return await store.find(wanted, OWNER);
  };
  return {
    clock,
    ends,
    store,
    foresee: async (cpu: number, ownerId = OWNER) => {
      const start = createExecution({
        owner: createOwner(ownerId),
        versionId: "version",
        resources: { cpu, memory: 8 },
      });
      return await waiting.foresee(start, await base.foresee(start));
    },
    id,
    start,
    readLater,
    readReason: async () => (await readLater())?.waiting?.reason,
    report: (workerId: string, cpu: number, memory: number, kind: ProjectKind = "service") =>
      store.report({
        workerId,
        kind,
        capacity: { cpu, memory },
        free: { cpu: 0, memory: 0 },
        excludedVersionIds: [],
        reservedId: null,
        reservesAfterSeconds: null,
      }),
  };
}

test("a pending execution says that no worker runs, that none is large enough, and that it waits in the queue once one is", async () => {
  const { store, id, readReason, report } = await open();
  expect(await readReason()).toBe("NO_WORKER");
  await report("much memory", 1, 64);
  await report("many vCPUs", 64, 4);
  expect(await readReason()).toBe("NO_LARGE_WORKER");
  expect((await store.list(OWNER, { limit: 1 })).items[0]?.waiting?.reason).toBe("NO_LARGE_WORKER");
  await report("large", 2, 8);
  expect(await readReason()).toBe("QUEUE");
  await store.leave("large");
  expect(await readReason()).toBe("NO_LARGE_WORKER");
  await store.cancel(id, OWNER);
  expect(await readReason()).toBeUndefined();
});

test("what is to begin later says when, and that it is worth asking again then, or in ten minutes", async () => {
  const base = createMemoryStore();
  const { clock, store, readLater } = await open(base);
  const startAt = Date.parse("2126-11-24T17:00:00Z");
  const execution = createExecution({ owner: createOwner(OWNER), startAt });
  clock.time = startAt - 3_000 * SECOND;
  expect(await store.create(execution)).toMatchObject({
    waiting: { reason: "START_AT", startAt: "2126-11-24 17:00:00", estimateSeconds: 3_000 },
    retryAfterSeconds: 600,
  });
  clock.time = startAt - 41 * SECOND;
  const near = { waiting: { reason: "START_AT", estimateSeconds: 41 }, retryAfterSeconds: 41 };
  expect(await readLater(execution.id)).toMatchObject(near);
  clock.time = startAt + SECOND;
  expect(await readLater(execution.id)).toMatchObject({
    waiting: { reason: "START_AT", estimateSeconds: 1 },
  });
});

test("what pauses after an attempt that failed says so, and when the next one can begin; what could not be started says that", async () => {
  const base = createMemoryStore();
  const { clock, store, id, readLater, report } = await open(base);
  await report("large", 2, 8);
  const policy = { onError: { max: 2, backoffSeconds: 100 } };
  const retried = createExecution({ owner: createOwner(OWNER), retries: policy });
  await store.create(retried);
  for (const claim of (await store.claim(request())).claims) {
    if (claim.id === retried.id)
      await store.retry(claim, { status: "FAILED", code: "EXECUTION_ERROR", detail: "" }, 100);
    else await store.giveBack(claim, 100);
  }
  clock.time = Date.now() + 40 * SECOND;
  const { waiting } = (await readLater(retried.id)) ?? {};
  expect(waiting?.reason).toBe("RETRY");
  // What has passed of the pause while the test ran is not in it.
  expect(waiting?.estimateSeconds).toBeGreaterThan(0);
  expect(waiting?.estimateSeconds).toBeLessThanOrEqual(61);
  expect((await readLater(id))?.waiting).toEqual({ reason: "SETBACK" });
});

test("workers, queue and durations are read once in a few seconds, however often records are", async () => {
  const base = createMemoryStore();
  const reads = { workers: 0, queue: 0, lists: 0 };
  const { clock, store, id } = await open({
    ...base,
    listWorkers: () => {
      reads.workers++;
      return base.listWorkers();
    },
    surveyQueue: () => {
      reads.queue++;
      return base.surveyQueue();
    },
    list: (...parameters) => {
      reads.lists++;
      return base.list(...parameters);
    },
  });
  for (let poll = 0; poll < 100; poll++) {
    await store.find(id, OWNER);
    clock.now += SECOND / 10;
  }
  for (const count of [reads.workers, reads.queue]) {
    expect(count).toBeGreaterThanOrEqual(3);
    expect(count).toBeLessThanOrEqual(5);
  }
  expect(reads.lists).toBe(1);
});

test("what was known of the workers long ago is not told, nor while they cannot be listed", async () => {
  const base = createMemoryStore();
  let isBroken = false;
  const { clock, store, id, readReason } = await open({
    ...base,
    listWorkers: () => (isBroken ? Promise.reject(new Error("away")) : base.listWorkers()),
  });
  expect(await readReason()).toBe("NO_WORKER");
  isBroken = true;
  clock.now += 60 * SECOND;
  expect((await store.find(id, OWNER))?.waiting).toEqual({ reason: "QUEUE" });
  expect(await readReason()).toBe("QUEUE");
});

test("the position counts who is before it, by the turns of the owners", async () => {
  const { report, start, readLater, id } = await open();
  await report("large", 2, 8);
  const second = await start();
  const third = await start();
  const other = await start("another");
  expect((await readLater(id))?.waiting?.position).toBe(0);
  expect((await readLater(second))?.waiting?.position).toBe(2);
  expect((await readLater(third))?.waiting?.position).toBe(3);
  expect(other).not.toBe(third);
});

test("who comes after a backlog of another and has its turn before is told so", async () => {
  const { clock, store, report, start } = await open();
  await report("large", 2, 8);
  for (let count = 0; count < 40; count++) await start();
  const newcomer = await start("another");
  await store.find(newcomer, "another");
  clock.now += 4 * SECOND;
  await store.find(newcomer, "another");
  expect((await store.find(newcomer, "another"))?.waiting?.position).toBe(1);
});

test("far behind, the position is about right", async () => {
  const { report, start, readLater } = await open();
  await report("large", 2, 8);
  let last = "";
  for (let count = 0; count < 420; count++) last = await start();
  const position = (await readLater(last))?.waiting?.position ?? 0;
  expect(position).toBeGreaterThan(420 - 60);
  expect(position).toBeLessThanOrEqual(420);
});

test("how long it waits is told by the rate at which executions end, where many do", async () => {
  const { clock, ends, report, start, readLater } = await open();
  await report("large", 2, 8);
  let last = "";
  for (let count = 0; count < 40; count++) last = await start();
  for (let count = 0; count < 100; count++) {
    ends.add();
    clock.now += SECOND / 2;
  }
  const record = await readLater(last);
  expect(record?.waiting?.estimateSeconds).toBeGreaterThan(15);
  expect(record?.waiting?.estimateSeconds).toBeLessThan(30);
  expect(record?.retryAfterSeconds).toBe(record?.waiting?.estimateSeconds);
});

test("a job of a backend is told nothing by the rate at which executions end: these are mostly services, which wait elsewhere", async () => {
  const { clock, ends, report, start, readLater } = await open();
  await report("of backends", 2, 8, "backend");
  for (let count = 0; count < 100; count++) {
    ends.add();
    clock.now += SECOND / 2;
  }
  const job = await start(OWNER, "version", { priority: BACKEND_PRIORITY });
  expect((await readLater(job))?.waiting).toEqual({ reason: "QUEUE", position: 0 });
});

test("else by how long the last runs of its version took, of this owner alone, and how many fit the workers", async () => {
  const base = createMemoryStore();
  const { clock, store, report, start, readLater, id } = await open({
    ...base,
    list: async (ownerId, filter) => {
      const { items, nextCursor } = await base.list(ownerId, filter);
      const took = (seconds: number, versionId: string) =>
        items.map((record) => ({ ...record, versionId, startedAt: 0, endedAt: seconds * SECOND }));
      const own = ownerId === OWNER ? 40 : 4_000;
      return {
        items: [...took(own, "version"), ...took(400, "a third"), ...took(own, "version")],
        nextCursor,
      };
    },
  });
  await report("for two", 4, 16);
  const [claim] = (await store.claim(request({ limit: 1 }))).claims;
  if (claim === undefined) throw new Error("There was nothing to claim.");
  await store.finish(claim, SUCCEEDED);
  expect(claim.id).toBe(id);
  const ids = [await start(), await start(), await start()];
  clock.now += 20 * SECOND;
  await readLater(ids[2]);
  expect((await readLater(ids[0]))?.waiting).toEqual({ reason: "QUEUE", position: 0, estimateSeconds: 20 });
  expect((await readLater(ids[2]))?.waiting).toEqual({ reason: "QUEUE", position: 2, estimateSeconds: 60 });
  const third = await start(OWNER, "a third");
  expect((await readLater(third))?.waiting).toEqual({ reason: "QUEUE", position: 3, estimateSeconds: 800 });
  const unknown = await start(OWNER, "another version");
  expect((await readLater(unknown))?.waiting).toEqual({ reason: "QUEUE", position: 4 });
});

test("a running one has its lease, says while its worker prepares it, and when it is worth asking again", async () => {
  const base = createMemoryStore();
  const { clock, store, id, readLater } = await open({
    ...base,
    list: async (ownerId, filter) => {
      const { items } = await base.list(ownerId, { limit: filter.limit });
      return {
        items: items.map((record) => ({ ...record, startedAt: 0, endedAt: 40 * SECOND })),
        nextCursor: null,
      };
    },
  });
  const [claim] = (await store.claim(request({ leaseSeconds: 30 }))).claims;
  if (claim === undefined) throw new Error("There was nothing to claim.");
  await store.notePreparing(claim, true);
  const preparing = await readLater();
  expect(preparing?.waiting).toEqual({ reason: "PREPARING" });
  await store.notePreparing(claim, false);
  const running = await readLater();
  expect(running?.waiting).toBeUndefined();
  expect(running?.live).toMatchObject({ isPreparing: false });
  const { startedAt } = running ?? {};
  clock.time = (startedAt ?? 0) + 10 * SECOND;
  expect((await readLater())?.retryAfterSeconds).toBe(30);
  clock.time = (startedAt ?? 0) + 1_000 * SECOND;
  expect((await readLater())?.retryAfterSeconds).toBe(60);
  await store.finish(claim, SUCCEEDED);
  const ended = await store.find(id, OWNER);
  expect(ended).not.toHaveProperty("retryAfterSeconds");
  expect(ended).not.toHaveProperty("live");
});

test("one that could not be started says that it pauses", async () => {
  const { store, readReason, report } = await open();
  await report("large", 2, 8);
  const [claim] = (await store.claim(request())).claims;
  if (claim === undefined) throw new Error("There was nothing to claim.");
  await store.giveBack(claim, 60);
  expect(await readReason()).toBe("SETBACK");
});

test("a start is foreseen without a read before: who it waits for, at once where a worker has room, and how long such runs take", async () => {
  const { clock, store, id, foresee, report } = await open();
  expect((await foresee(2)).waiting).toEqual({ reason: "NO_WORKER" });
  await report("worker", 4, 16);
  clock.now += 20 * SECOND;
  expect((await foresee(8)).waiting).toEqual({ reason: "NO_LARGE_WORKER" });
  expect(await foresee(2)).toEqual({ waiting: { reason: "QUEUE", position: 1 }, durations: null });
  const { claims } = await store.claim({ ...request(), limit: 1 });
  for (const claim of claims) await store.finish(claim, SUCCEEDED);
  expect((await store.find(id, OWNER))?.status).toBe("SUCCEEDED");
  clock.now += 20 * SECOND;
  expect(await foresee(2)).toMatchObject({
    waiting: { reason: "QUEUE", position: 0, estimateSeconds: 1 },
    durations: { typical: expect.any(Number), long: expect.any(Number) },
  });
  expect((await foresee(2, "another")).durations).toBeNull();
});
