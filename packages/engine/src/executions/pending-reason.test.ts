import { expect, test } from "vitest";
import { createUuidV7 } from "../base/uuid.ts";
import { SECOND } from "../base/time.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import { withPendingReason } from "./pending-reason.ts";
import { createOwner } from "../testing/execution-fixtures.ts";
import type { ExecutionStore } from "../store/execution-store.ts";

const OWNER = "owner";

async function open(base: ExecutionStore = createMemoryStore()) {
  const clock = { now: 0 };
  const store = withPendingReason(base, () => clock.now);
  const id = createUuidV7();
  await store.create({
    id,
    owner: createOwner(OWNER),
    versionId: "version",
    resources: { cpu: 2, memory: 8 },
    timeoutSeconds: 60,
    body: Buffer.from("{}"),
    references: {},
  });
  return {
    clock,
    store,
    id,
    /** What a record says some seconds later. */
    readReason: async () => {
      clock.now += 4 * SECOND;
      await store.find(id, OWNER);
      return (await store.find(id, OWNER))?.pendingReason;
    },
    report: (workerId: string, cpu: number, memory: number) =>
      store.report({
        workerId,
        capacity: { cpu, memory },
        free: { cpu: 0, memory: 0 },
        excludedVersionIds: [],
        reservedId: null,
        reservesAfterSeconds: null,
      }),
  };
}

test("a pending execution says that no worker runs, that none is large enough, and nothing once one is", async () => {
  const { store, id, readReason, report } = await open();
  expect(await readReason()).toBe("NO_WORKER");
  await report("much memory", 1, 64);
  await report("many vCPUs", 64, 4);
  expect(await readReason()).toBe("NO_LARGE_WORKER");
  expect((await store.list(OWNER, { limit: 1 })).items[0]?.pendingReason).toBe("NO_LARGE_WORKER");
  await report("large", 2, 8);
  expect(await readReason()).toBeUndefined();
  await store.leave("large");
  expect(await readReason()).toBe("NO_LARGE_WORKER");
  await store.cancel(id, OWNER);
  expect(await readReason()).toBeUndefined();
});

test("polls list the workers once in a few seconds", async () => {
  const base = createMemoryStore();
  let lists = 0;
  const { clock, store, id } = await open({
    ...base,
    listWorkers: () => {
      lists++;
      return base.listWorkers();
    },
  });
  for (let poll = 0; poll < 100; poll++) {
    await store.find(id, OWNER);
    clock.now += SECOND / 10;
  }
  expect(lists).toBeGreaterThanOrEqual(3);
  expect(lists).toBeLessThanOrEqual(5);
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
  expect((await store.find(id, OWNER))?.pendingReason).toBeUndefined();
  expect(await readReason()).toBeUndefined();
});
