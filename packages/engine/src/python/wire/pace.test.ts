import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createPacedReader } from "./paced-reader.ts";
import { createPace } from "./pace.ts";
import type { Pace } from "./pace.ts";

const UNITS = 10_000;

/** A pace whose turns come when the test says so. */
function createWheel(): { readonly pace: Pace; readonly turn: () => boolean } {
  let planned: (() => void) | null = null;
  const pace = createPace({
    unitsPerTurn: UNITS,
    turnMs: 5,
    wait: (action) => {
      planned = action;
    },
  });
  return {
    pace,
    turn: () => {
      const action = planned;
      planned = null;
      action?.();
      return action !== null;
    },
  };
}

/** Work without end that takes what it is given. */
function createFlood(): { spent: number; work: (allowance: number) => { cost: number; state: "more" } } {
  const flood = {
    spent: 0,
    work: (allowance: number) => {
      flood.spent += allowance;
      return { cost: allowance, state: "more" as const };
    },
  };
  return flood;
}

test("floods share what a turn has, equally, and no more", () => {
  const { pace, turn } = createWheel();
  const floods = [createFlood(), createFlood(), createFlood(), createFlood()];
  for (const flood of floods) pace.enter(flood.work);
  for (let count = 0; count < 10; count += 1) turn();
  const total = floods.reduce((sum, flood) => sum + flood.spent, 0);
  expect(total).toBeLessThanOrEqual(11 * UNITS);
  const [first, ...others] = floods.map((flood) => flood.spent);
  expect(new Set(others).size).toBe(1);
  expect((first ?? 0) - (others[0] ?? 0)).toBeLessThanOrEqual(UNITS); // it came first, when nobody waited
});

test("who has little to say waits for one turn only, however many floods there are", () => {
  const { pace, turn } = createWheel();
  for (let count = 0; count < 10; count += 1) pace.enter(createFlood().work);
  turn();
  let isDone = false;
  pace.enter(() => {
    isDone = true;
    return { cost: 100, state: "done" };
  });
  expect(isDone).toBe(false);
  turn();
  expect(isDone).toBe(true);
});

test("a turn that cost too much is paid back, and when nobody waits there are no more turns", () => {
  const { pace, turn } = createWheel();
  pace.enter(() => ({ cost: 3 * UNITS, state: "done" }));
  const flood = createFlood();
  pace.enter(flood.work);
  turn();
  turn();
  expect(flood.spent).toBe(0);
  turn();
  expect(flood.spent).toBe(UNITS);
  pace.leave(flood.work);
  turn();
  expect(turn()).toBe(false);
});

test("a stream is read only as far as its reader comes: what is not taken stays with the writer", async () => {
  const { pace, turn } = createWheel();
  const stream = new PassThrough({ highWaterMark: 1000 });
  let taken = 0;
  let ends = 0;
  const reader = createPacedReader(stream, pace, (chunk) => {
    taken += chunk.length;
    return { cost: UNITS, rest: null };
  });
  reader.redirect(
    (chunk) => {
      taken += chunk.length;
      return { cost: UNITS, rest: null };
    },
    [],
    () => (ends += 1),
  );
  let offered = 0;
  for (let isWelcome = true; isWelcome && offered < 100_000; offered += 500) {
    isWelcome = stream.write(Buffer.alloc(500));
    await nextTurn();
  }
  for (let count = 0; count < 5; count += 1) {
    turn();
    await nextTurn();
  }
  expect(taken).toBeLessThanOrEqual(7 * 500);
  expect(reader.hasWaited()).toBe(true);
  stream.end();
  for (let count = 0; count < 50; count += 1) {
    turn();
    await nextTurn();
  }
  expect([taken, ends]).toEqual([offered, 1]);
});
