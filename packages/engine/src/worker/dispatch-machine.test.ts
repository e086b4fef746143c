import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDispatchState, readFree, reduceDispatch } from "./dispatch-machine.ts";
import type { DispatchEffect, DispatchEvent, DispatchState } from "./dispatch-machine.ts";
import { createWorkerModel, STOPPING_MOVES, WORKING_MOVES } from "../testing/worker-model.ts";
import type { ModelMove } from "../testing/worker-model.ts";

const ONE = { cpu: 0.1, memory: 0.3 };
const CAPACITY = { cpu: 0.3, memory: 1 };
const START: DispatchEvent = { type: "start" };
const CLAIMED: DispatchEvent = { type: "claimed", resources: ONE };
const FREED: DispatchEvent = { type: "freed", resources: ONE };
const LEFT: DispatchEvent = { type: "left" };
const DRAIN: DispatchEvent = { type: "drain" };
const QUEUE_LEFT: DispatchEvent = { type: "queueLeft" };
const TIME_OVER: DispatchEvent = { type: "timeOver" };
const KILL: DispatchEvent = { type: "kill" };
const CLOSE: DispatchEvent = { type: "close" };

function play(events: readonly DispatchEvent[]): { state: DispatchState; effects: DispatchEffect[] } {
  const effects: DispatchEffect[] = [];
  let state = createDispatchState(CAPACITY);
  for (const event of events) {
    const step = reduceDispatch(state, event);
    state = step.state;
    effects.push(...step.effects);
  }
  return { state, effects };
}

const list = (moves: readonly ModelMove[], maxLength: number) =>
  fc.array(fc.tuple(fc.constantFrom(...moves), fc.nat(5)), { maxLength, size: "max" });

describe("a worker", () => {
  test("counts fractions of vCPUs and GB exactly", () => {
    expect(readFree(play([START, CLAIMED, CLAIMED, CLAIMED]).state)).toEqual({ cpu: 0, memory: 0.1 });
    expect(readFree(play([START, CLAIMED, CLAIMED, FREED, FREED]).state)).toEqual(CAPACITY);
  });

  test.each<[string, readonly DispatchEvent[], DispatchState["phase"], readonly DispatchEffect[]]>([
    ["claims from its start on", [START, START], "working", ["openQueue"]],
    [
      "looks for more when capacity is free again",
      [START, CLAIMED, FREED, LEFT],
      "working",
      ["openQueue", "look"],
    ],
    [
      "with nothing in hand stops at once",
      [START, DRAIN, QUEUE_LEFT, CLOSE],
      "closed",
      ["openQueue", "leaveQueue", "drained", "closed"],
    ],
    ["stops without ever having started", [DRAIN, QUEUE_LEFT, START], "drained", ["leaveQueue", "drained"]],
    [
      "waits for what a claim under way brings",
      [START, DRAIN, CLAIMED, QUEUE_LEFT],
      "waiting",
      ["openQueue", "leaveQueue", "waitForEnds"],
    ],
    [
      "is drained when the last claim has left",
      [START, CLAIMED, CLAIMED, DRAIN, QUEUE_LEFT, LEFT, LEFT],
      "drained",
      ["openQueue", "leaveQueue", "waitForEnds", "drained"],
    ],
    [
      "stops what has not begun when the time is over, and is drained once",
      [START, CLAIMED, DRAIN, QUEUE_LEFT, TIME_OVER, TIME_OVER, LEFT],
      "drained",
      ["openQueue", "leaveQueue", "waitForEnds", "stopStarting", "drained"],
    ],
    [
      "that is closed waits until the last claim has left",
      [START, CLAIMED, DRAIN, QUEUE_LEFT, TIME_OVER, CLOSE, LEFT],
      "closed",
      ["openQueue", "leaveQueue", "waitForEnds", "stopStarting", "drained", "waitForWrites", "closed"],
    ],
    [
      "that is closed waits no longer than a lease",
      [START, CLAIMED, DRAIN, QUEUE_LEFT, TIME_OVER, CLOSE, TIME_OVER, LEFT],
      "closed",
      ["openQueue", "leaveQueue", "waitForEnds", "stopStarting", "drained", "waitForWrites", "closed"],
    ],
    [
      "that is to kill what runs waits for its end no longer, but for the writes of its outcomes",
      [START, CLAIMED, DRAIN, QUEUE_LEFT, KILL, CLOSE, KILL, LEFT],
      "closed",
      ["openQueue", "leaveQueue", "waitForEnds", "stopStarting", "drained", "waitForWrites", "closed"],
    ],
    [
      "waits for the writes of outcomes though what runs is to be killed",
      [START, CLAIMED, DRAIN, QUEUE_LEFT, TIME_OVER, CLOSE, KILL],
      "finishing",
      ["openQueue", "leaveQueue", "waitForEnds", "stopStarting", "drained", "waitForWrites"],
    ],
    ["is not closed before it is drained", [START, CLOSE], "working", ["openQueue"]],
  ])("%s", (_what, events, phase, effects) => {
    const played = play(events);
    expect([played.state.phase, played.effects]).toEqual([phase, effects]);
  });

  test("and its claims and its queue hold their promises whatever the order of events", () => {
    fc.assert(
      fc.property(list(WORKING_MOVES, 80), list(STOPPING_MOVES, 60), (working, stopping) => {
        const model = createWorkerModel();
        for (const [move, which] of [...working, ...stopping]) model.play(move, which);
        expect(model.finish()).toEqual([]);
      }),
      { numRuns: 5_000 },
    );
  });
});
