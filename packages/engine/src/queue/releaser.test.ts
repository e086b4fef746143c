import { randomUUID } from "node:crypto";
import type { ExecutionStatus } from "@platform/contract/execution";
import { expect, test, vi } from "vitest";
import { HOUR, SECOND } from "../base/time.ts";
import type { DueRound } from "../store/held.ts";
import type { ExecutionRecord, StoreEvent } from "../store/execution-store.ts";
import { startReleaser } from "./releaser.ts";

const RECORD: Omit<ExecutionRecord, "id" | "status"> = {
  ownerId: "owner",
  versionId: "version",
  resources: { cpu: 1, memory: 1 },
  createdAt: 0,
  startedAt: null,
  endedAt: null,
  sandboxLevel: null,
  failure: null,
};

/** A store whose rounds answer what `next` is, and are counted. */
function openScene() {
  vi.useFakeTimers();
  const listeners = new Set<(event: StoreEvent) => void>();
  const scene = {
    rounds: 0,
    next: { released: 0, nextMs: null, waitsForPlace: false } as DueRound | Error,
    warnings: 0,
    /** How long a round takes. */
    takesMs: 0,
    emit: (type: "held" | "reset" | "pending") => {
      for (const listener of listeners) listener({ type });
    },
    /** Undefined: another process has changed it. */
    emitChanged: (status: ExecutionStatus | undefined) => {
      const id = randomUUID();
      const record = status === undefined ? {} : { record: { ...RECORD, id, status } };
      for (const listener of listeners) listener({ type: "changed", id, ...record });
    },
    /** How many rounds there are within so many milliseconds. */
    countWithin: async (milliseconds: number) => {
      const before = scene.rounds;
      await vi.advanceTimersByTimeAsync(milliseconds);
      return scene.rounds - before;
    },
  };
  const stop = startReleaser({
    store: {
      releaseDue: async () => {
        scene.rounds++;
        if (scene.takesMs > 0) await new Promise((resolve) => void setTimeout(resolve, scene.takesMs));
        if (scene.next instanceof Error) throw scene.next;
        return scene.next;
      },
      subscribe: (listener) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    logger: { warn: () => void scene.warnings++ },
    now: () => Date.now(),
  });
  const close = async () => {
    await stop();
    vi.useRealTimers();
    return listeners.size;
  };
  return { scene, close };
}

test("a round is when the next execution is due, and otherwise every ten seconds", async () => {
  const { scene, close } = openScene();
  scene.next = { released: 0, nextMs: 3 * SECOND, waitsForPlace: false };
  expect(await scene.countWithin(0)).toBe(0);
  await scene.countWithin(10 * SECOND);
  expect(await scene.countWithin(2 * SECOND)).toBe(0);
  scene.next = { released: 1, nextMs: HOUR, waitsForPlace: false };
  expect(await scene.countWithin(1 * SECOND)).toBe(1);
  expect(await scene.countWithin(9.9 * SECOND)).toBe(0);
  expect(await scene.countWithin(0.2 * SECOND)).toBe(1);
  expect(await close()).toBe(0);
});

test("an event wakes it, many at once for one round, and other events do not", async () => {
  const { scene, close } = openScene();
  await scene.countWithin(SECOND);
  for (let count = 0; count < 100; count++) scene.emit("held");
  expect(await scene.countWithin(SECOND)).toBe(1);
  scene.emit("pending");
  expect(await scene.countWithin(SECOND)).toBe(0);
  scene.emit("reset");
  expect(await scene.countWithin(SECOND)).toBe(1);
  await close();
});

test("events that never cease put no round off, and rounds that take long take half of the time at most", async () => {
  const { scene, close } = openScene();
  await scene.countWithin(SECOND);
  const countBusy = async (milliseconds: number) => {
    let rounds = 0;
    for (let passed = 0; passed < milliseconds; passed += 10) {
      scene.emit("held");
      rounds += await scene.countWithin(10);
    }
    return rounds;
  };
  expect(await countBusy(SECOND)).toBeGreaterThanOrEqual(25);
  scene.takesMs = 200;
  await countBusy(SECOND);
  const rounds = await countBusy(4 * SECOND);
  expect(rounds).toBeGreaterThanOrEqual(9);
  expect(rounds).toBeLessThanOrEqual(11);
  scene.takesMs = 0;
  await scene.countWithin(SECOND);
  await close();
});

test("what is due and left to another process is looked at again after a second, the rest of many at once", async () => {
  const { scene, close } = openScene();
  scene.next = { released: 0, nextMs: -5, waitsForPlace: false };
  await scene.countWithin(10 * SECOND);
  expect(await scene.countWithin(10 * SECOND)).toBe(10);
  scene.next = { released: 256, nextMs: 0, waitsForPlace: false };
  await scene.countWithin(SECOND);
  expect(await scene.countWithin(SECOND)).toBe(50);
  await close();
});

test("a store that cannot be asked is asked again, and a closed one never", async () => {
  const { scene, close } = openScene();
  scene.next = new Error("away");
  await scene.countWithin(20 * SECOND);
  expect(scene.warnings).toBeGreaterThanOrEqual(10);
  await close();
  vi.useFakeTimers();
  scene.emit("held");
  expect(await scene.countWithin(HOUR)).toBe(0);
  vi.useRealTimers();
});

test("while some wait for a place, an end wakes it, also one in another process; a start of a run does not, and otherwise no end does", async () => {
  const { scene, close } = openScene();
  scene.next = { released: 0, nextMs: null, waitsForPlace: true };
  scene.emit("held");
  await scene.countWithin(100);
  // Every two seconds, where a notification is lost.
  expect(await scene.countWithin(4 * SECOND)).toBe(2);
  const ends = ["SUCCEEDED", "FAILED", "UNKNOWN", undefined] as const;
  for (const status of ends) {
    scene.emitChanged(status);
    expect(await scene.countWithin(50)).toBe(1);
  }
  scene.emitChanged("RUNNING");
  scene.emitChanged("PENDING");
  expect(await scene.countWithin(50)).toBe(0);
  scene.next = { released: 0, nextMs: null, waitsForPlace: false };
  await scene.countWithin(2 * SECOND);
  for (const status of ends) scene.emitChanged(status);
  expect(await scene.countWithin(SECOND)).toBe(0);
  await close();
});
