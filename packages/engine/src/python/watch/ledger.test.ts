import { expect, test } from "vitest";
import { enterSample, isAhead, openLedger, planLook } from "./ledger.ts";
import type { Ledger } from "./ledger.ts";

const GIGABYTE = 1_000_000_000;
const LIMITS = { memoryBytes: 4 * GIGABYTE, cpus: 0.5 };

/** Enters the samples of a run that began at 0: milliseconds, seconds of processor time, memory. */
function follow(...samples: readonly (readonly [number, number, number])[]): Ledger {
  return samples.reduce(
    (ledger, [at, cpuSeconds, memoryBytes]) => enterSample(ledger, { at, cpuSeconds, memoryBytes }, LIMITS),
    openLedger(0, 0),
  );
}

test("a run that uses more than its share is ahead for as long as its share takes to come up to it", () => {
  const ahead = follow([100, 0.2, 0]);
  expect(isAhead(ahead)).toBe(true);
  expect(ahead.nextMs).toBeCloseTo(300);
  expect(isAhead(enterSample(ahead, { at: 390, cpuSeconds: 0.2, memoryBytes: 0 }, LIMITS))).toBe(true);
  expect(isAhead(enterSample(ahead, { at: 401, cpuSeconds: 0.2, memoryBytes: 0 }, LIMITS))).toBe(false);
});

test("a run that waited for an hour has saved up no more than a tenth of a second of its share", () => {
  expect(follow([3_600_000, 0, 0]).credit).toBeCloseTo(0.05);
});

test("what a run used before it began is not held against it", () => {
  const begun = openLedger(1000, 7);
  expect(isAhead(enterSample(begun, { at: 1100, cpuSeconds: 7.04, memoryBytes: 0 }, LIMITS))).toBe(false);
});

test("processes that end without being waited for take nothing back from what was used", () => {
  const ledger = follow([1000, 0.4, 0], [2000, 0.1, 0], [3000, 0.4, 0]);
  expect(ledger.cpuSeconds).toBeCloseTo(0.7);
});

test.each([
  ["far from both limits, after a second", 0.1, GIGABYTE, 1000],
  ["near its share, after 100 ms", 0.45, GIGABYTE, 100],
  ["where the memory may be full sooner, after that time", 0.1, 3.5 * GIGABYTE, 500],
  ["near the limit of memory, after 100 ms", 0.1, 3.99 * GIGABYTE, 100],
])("a run is looked at again %s", (_, cpuSeconds, memoryBytes, nextMs) => {
  expect(follow([1000, cpuSeconds, memoryBytes]).nextMs).toBeCloseTo(nextMs);
});

test("a run that was held back is looked at soon after it is let go", () => {
  expect(follow([100, 0.2, 0], [401, 0.2, 0]).nextMs).toBe(25);
});

test.each([
  ["takes a twentieth of the time", 10, false, 200],
  ["comes after a second at the latest, though it took long", 500, false, 1000],
  ["is not put off for a run that is stopped: it would get less than its share", 500, true, 40],
])("a look %s", (_, lookedMs, isStopped, restMs) => {
  expect(planLook({ nextMs: 40 }, { lookedMs, isStopped })).toBe(restMs);
});

/** The part of one processor that a run with two busy threads gets in a minute, where it may use one and a look that stops it takes so long. */
function simulateShare(stopMs: number): number {
  let ledger = openLedger(0, 0);
  const run = { at: 0, cpuSeconds: 0, memoryBytes: 0 };
  let isStopped = false;
  const pass = (milliseconds: number): void => {
    run.at += milliseconds;
    if (!isStopped) run.cpuSeconds += (2 * milliseconds) / 1000;
  };
  pass(ledger.nextMs);
  while (run.at < 60_000) {
    ledger = enterSample(ledger, run, { ...LIMITS, cpus: 1 });
    const lookedMs = isAhead(ledger) ? stopMs : 1;
    isStopped = isAhead(ledger);
    pass(lookedMs);
    pass(planLook(ledger, { lookedMs, isStopped }));
  }
  return run.cpuSeconds / (run.at / 1000);
}

test.each([1, 10, 50])("a run gets its share of the processors where to stop it takes %i ms", (stopMs) => {
  const share = simulateShare(stopMs);
  expect(share).toBeGreaterThan(0.9);
  expect(share).toBeLessThan(1.1);
});

test("the largest sample is the peak", () => {
  expect(follow([100, 0, 5], [200, 0, 9], [300, 0, 7]).peakBytes).toBe(9);
});
