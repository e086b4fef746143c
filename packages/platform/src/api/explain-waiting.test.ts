import { expect, test } from "vitest";
import type { QueuePlace } from "../store/history/explain.ts";
import { explainWaiting } from "./explain-waiting.ts";

const NEEDS = { cpu: 4, memory: 2 };
const WORKER = { capacity: { cpu: 8, memory: 16 }, free: { cpu: 2, memory: 8 } };
const PLACE: QueuePlace = {
  ahead: 0,
  isPaused: false,
  startAt: null,
  startBy: null,
  isLimited: false,
  setbacks: 0,
  retried: 0,
  workers: [WORKER],
  typicalWaitMs: null,
};

const explain = (place: Partial<QueuePlace>) =>
  explainWaiting({ status: "PENDING", needs: NEEDS, isPreparing: false, place: { ...PLACE, ...place } });

test.each<readonly [Partial<QueuePlace>, string, string]>([
  [{ workers: [] }, "NO_WORKER", "No worker is running."],
  [
    { workers: [], startAt: Date.UTC(2026, 10, 30, 6) },
    "DELAYED",
    "It is not to start before 2026-11-30 06:00:00 UTC.",
  ],
  [
    { workers: [{ capacity: { cpu: 8, memory: 1 }, free: { cpu: 8, memory: 1 } }] },
    "NO_WORKER",
    "It needs 4 vCPU and 2 GB; no running worker is that large.",
  ],
  [
    { ahead: 3, typicalWaitMs: 40_000 },
    "BEHIND_OTHERS",
    "3 executions are before it. It needs 4 vCPU and 2 GB; the largest free worker has 2 vCPU and 8 GB. Such executions typically wait 40 s.",
  ],
  [
    { ahead: 1, workers: [{ ...WORKER, free: { cpu: 4, memory: 2 } }], typicalWaitMs: 1_234 },
    "BEHIND_OTHERS",
    "1 execution is before it. Such executions typically wait 1.2 s.",
  ],
  [
    { ahead: 10_000, workers: [{ ...WORKER, free: NEEDS }] },
    "BEHIND_OTHERS",
    "10000 or more executions are before it.",
  ],
  [
    {},
    "NO_CAPACITY",
    "It is the next one. It needs 4 vCPU and 2 GB; the largest free worker has 2 vCPU and 8 GB.",
  ],
  [
    { workers: [WORKER, { ...WORKER, free: { cpu: 5, memory: 5 } }] },
    "NEXT",
    "It is the next one, and a worker has room for it.",
  ],
  [
    { isPaused: true, setbacks: 2 },
    "DELAYED",
    "A worker could not start it (tries so far: 2); it is tried again after a pause.",
  ],
  [{ isPaused: true }, "DELAYED", "It is not to start yet."],
  [
    { isPaused: true, retried: 2 },
    "DELAYED",
    "Attempt 2 failed; the next one begins after a pause, as its service has chosen.",
  ],
  [
    { isPaused: true, retried: 2, setbacks: 1 },
    "DELAYED",
    "A worker could not start it (tries so far: 1); it is tried again after a pause.",
  ],
])("%o is explained as %s", (place, reason, text) => {
  expect(explain(place)).toMatchObject({ reason, text, needs: NEEDS });
});

test.each<readonly [Partial<QueuePlace>, string]>([
  [{ ahead: 3 }, "BEHIND_OTHERS"],
  [{ startAt: Date.UTC(2026, 10, 30, 6) }, "DELAYED"],
  [{ isLimited: true }, "LIMITED"],
  [{ workers: [] }, "NO_WORKER"],
])("%o, where its start has a deadline, is explained as %s until then", (place, reason) => {
  const { text, startBy } = explain({ ...place, startBy: Date.UTC(2026, 10, 30, 7) });
  expect(startBy).toBe("2026-11-30 07:00:00");
  expect(text).toBe(`${explain(place).text} If it has not begun by 2026-11-30 07:00:00 UTC, it ends.`);
  expect(explain(place)).not.toHaveProperty("startBy");
  expect(explain(place).reason).toBe(reason);
});

test.each([
  ["RUNNING", true, "PREPARING"],
  ["RUNNING", false, "CLAIMED"],
  ["SUCCEEDED", false, "NOT_WAITING"],
  ["PENDING", false, "NOT_WAITING"],
] as const)(
  "%s without a place in the queue (preparing: %s) is explained as %s",
  (status, isPreparing, reason) => {
    const explained = explainWaiting({ status, needs: NEEDS, isPreparing, place: null });
    expect(explained).toMatchObject({ reason, needs: NEEDS });
    expect(explained).not.toHaveProperty("ahead");
  },
);
