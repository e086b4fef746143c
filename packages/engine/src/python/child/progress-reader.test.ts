import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MEGABYTE } from "../../base/bytes.ts";
import { FRAME } from "../wire/frames.ts";
import { createProgressReader } from "./progress-reader.ts";

/* The rate at which the reports of one connection are read; `createStepReader` asks before each frame. */

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

let time = 0;

function advance(milliseconds: number): void {
  time += milliseconds;
  vi.advanceTimersByTime(milliseconds);
}

function open(bytes: number) {
  let noted = 0;
  let wakes = 0;
  const reader = createProgressReader(
    { note: () => (noted += 1) },
    () => (wakes += 1),
    () => time,
  );
  const frame = { type: FRAME.checkpoint, payload: Buffer.alloc(bytes) };
  /** Takes what may be taken now. */
  const flood = () => {
    for (let tries = 0; tries < 10_000 && !reader.isHeld(); tries += 1) reader.take(frame);
    return noted;
  };
  return { reader, flood, countWakes: () => wakes };
}

test("of small reports fifty are read at once, then fifty in a second, and each pause ends by itself", () => {
  const { flood, countWakes } = open(0);
  expect(flood()).toBeLessThanOrEqual(51);
  for (let second = 1; second <= 3; second += 1) {
    const before = countWakes();
    for (let step = 0; step < 100; step += 1) {
      advance(10);
      flood();
    }
    expect(countWakes()).toBeGreaterThan(before);
  }
  expect(flood()).toBeGreaterThanOrEqual(195);
  expect(flood()).toBeLessThanOrEqual(201);
});

test("of the largest, sixteen megabytes in a second are read", () => {
  const { flood } = open(MEGABYTE);
  expect(flood()).toBeLessThan(16);
  advance(1000);
  expect(flood()).toBeLessThan(30);
});

test("a run that reports as often as the runner lets it never waits", () => {
  const { reader, countWakes } = open(0);
  const frame = { type: FRAME.progress, payload: Buffer.alloc(100) };
  for (let burst = 0; burst < 10; burst += 1) reader.take(frame);
  for (let step = 0; step < 100; step += 1) {
    advance(100);
    expect(reader.isHeld()).toBe(false);
    reader.take(frame);
  }
  expect(countWakes()).toBe(0);
});

test("nothing is held back once the writer has ended", () => {
  const { reader, flood } = open(0);
  flood();
  expect(reader.isHeld()).toBe(true);
  reader.release();
  expect(reader.isHeld()).toBe(false);
});
