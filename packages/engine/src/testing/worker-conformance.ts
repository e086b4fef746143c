import { afterEach, expect, test } from "vitest";
import type { Resources } from "@platform/contract/project";
import type { Claim, ExecutionStore, NewExecution, WorkerReport } from "../store/execution-store.ts";
import { createExecution, emptyQueue, finishAll, PLENTY, request, SMALL } from "./execution-fixtures.ts";
import { createReserver } from "../worker/reservation.ts";
import { SILENT } from "./silent-logger.ts";

const LARGE = { cpu: 1, memory: 8 };
const CAPACITY = { cpu: 64, memory: 16 };

/** The promises of an ExecutionStore as a registry of workers; part of its conformance suite. */
export function describeWorkers(use: () => ExecutionStore): void {
  const present = new Set<string>();
  const report = (store: ExecutionStore, overrides: Partial<WorkerReport> = {}) => {
    present.add(overrides.workerId ?? "worker");
    return store.report({
      workerId: "worker",
      capacity: CAPACITY,
      free: { cpu: 60, memory: 4 },
      excludedVersionIds: [],
      reservedId: null,
      reservesAfterSeconds: 0,
      ...overrides,
    });
  };
  afterEach(async () => {
    await emptyQueue(use());
    for (const workerId of present) await use().leave(workerId);
    present.clear();
  });

  test("workers are listed with what they can run at most, from their first report until they leave", async () => {
    const store = use();
    expect(await store.listWorkers()).toEqual([]);
    await report(store, { workerId: "one", capacity: { cpu: 0.5, memory: 2 } });
    await report(store, { workerId: "two" });
    await report(store, { workerId: "one", capacity: { cpu: 0.5, memory: 3 } });
    expect(await store.listWorkers()).toHaveLength(2);
    expect(await store.listWorkers()).toEqual(expect.arrayContaining([{ cpu: 0.5, memory: 3 }, CAPACITY]));
    await store.leave("one");
    expect(await store.listWorkers()).toEqual([CAPACITY]);
  });

  test("one worker alone makes room for an execution that finds none, until that is claimed", async () => {
    const store = use();
    await emptyQueue(store);
    const first = await create(store, LARGE);
    const second = await create(store, LARGE);
    expect(await report(store, { workerId: "one" })).toEqual({ id: first.id, resources: LARGE });
    expect(await report(store, { workerId: "two" })).toEqual({ id: second.id, resources: LARGE });
    expect(await report(store, { workerId: "three" })).toBeNull();
    expect(await report(store, { workerId: "one", reservedId: first.id })).toMatchObject({ id: first.id });
    await finishAll(store, await claim(store, PLENTY, first.id));
    expect(await report(store, { workerId: "one", reservedId: first.id })).toBeNull();
  });

  test("when the worker that made room is gone, another one does", async () => {
    const store = use();
    await emptyQueue(store);
    const { id } = await create(store, LARGE);
    expect(await report(store, { workerId: "one" })).toMatchObject({ id });
    expect(await report(store, { workerId: "two" })).toBeNull();
    await store.leave("one");
    expect(await report(store, { workerId: "two" })).toMatchObject({ id });
  });

  test("a worker that lets go of an execution leaves it to others", async () => {
    const store = use();
    await emptyQueue(store);
    const { id } = await create(store, LARGE);
    expect(await report(store, { workerId: "one" })).toMatchObject({ id });
    expect(await report(store, { workerId: "one", reservesAfterSeconds: null })).toBeNull();
    expect(await report(store, { workerId: "two" })).toMatchObject({ id });
  });

  test("no room is made for what fits, what never could, what the worker cannot start, and what has just come", async () => {
    const store = use();
    await emptyQueue(store);
    const execution = await create(store, LARGE);
    await create(store, SMALL);
    expect(await report(store, { free: LARGE })).toBeNull();
    expect(await report(store, { capacity: { cpu: 64, memory: 7 } })).toBeNull();
    expect(await report(store, { excludedVersionIds: [execution.versionId] })).toBeNull();
    expect(await report(store, { reservesAfterSeconds: 3600 })).toBeNull();
    expect(await report(store, { reservesAfterSeconds: null })).toBeNull();
    expect(await report(store)).toMatchObject({ id: execution.id });
  });

  test("a claim for one execution takes that one, if it fits, and no other", async () => {
    const store = use();
    await emptyQueue(store);
    await create(store, SMALL);
    const { id } = await create(store, LARGE);
    expect(await claim(store, SMALL, id)).toEqual([]);
    const claims = await claim(store, LARGE, id);
    expect(claims.map((each) => each.id)).toEqual([id]);
    expect(await claim(store, PLENTY, id)).toEqual([]);
    await finishAll(store, claims);
  });

  test("a large execution starts under a stream of small ones within one worker's worth of them", async () => {
    const store = use();
    await emptyQueue(store);
    const simulation = createSimulation(store);
    present.add("simulated");
    await simulation.work(20, "");
    const large = await create(store, LARGE);
    const smallOnesEnded = await simulation.work(200, large.id);
    expect(smallOnesEnded).toBeLessThanOrEqual(CAPACITY.memory);
    await simulation.close();
  });
}

/** One worker whose queue always holds more small executions than it has room for; each step, the oldest run ends. */
function createSimulation(store: ExecutionStore) {
  const reserver = createReserver({
    store,
    workerId: "simulated",
    capacity: CAPACITY,
    logger: SILENT,
    reservesAfterSeconds: 0,
  });
  const running: Claim[] = [];
  const readFree = (): Resources => ({
    cpu: CAPACITY.cpu - running.reduce((sum, { resources }) => sum + resources.cpu, 0),
    memory: CAPACITY.memory - running.reduce((sum, { resources }) => sum + resources.memory, 0),
  });
  const claimMore = async () => {
    await reserver.report(readFree(), { limit: 32, excludedVersionIds: [] });
    const plan = reserver.plan(readFree());
    if (plan === "nothing") return;
    running.push(...(await claim(store, readFree(), plan === "anything" ? undefined : plan.onlyId)));
    if (plan !== "anything") reserver.settle();
  };
  return {
    /** Until so many runs have ended or the execution runs; says how many ended. */
    work: async (runs: number, untilId: string) => {
      for (let ended = 0; ended < runs; ended++) {
        for (let index = 0; index < 3; index++) await create(store, SMALL);
        await claimMore();
        if (running.some(({ id }) => id === untilId)) return ended;
        await finishAll(store, running.splice(0, 1));
      }
      return runs;
    },
    close: async () => {
      await finishAll(store, running.splice(0));
      await reserver.leave();
    },
  };
}

async function create(store: ExecutionStore, resources: Resources): Promise<NewExecution> {
  const execution = createExecution({ resources });
  await store.create(execution);
  return execution;
}

async function claim(store: ExecutionStore, free: Resources, onlyId?: string): Promise<readonly Claim[]> {
  const { claims } = await store.claim(
    request({ free, limit: 32, ...(onlyId === undefined ? {} : { onlyId }) }),
  );
  return claims;
}
