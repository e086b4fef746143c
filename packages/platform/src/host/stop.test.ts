import { expect, test } from "vitest";
import { reduceStop } from "./stop.ts";
import type { StopEvent, StopState } from "./stop.ts";

/** The effects of events, in their order, on a process that is up. */
function play(...events: readonly StopEvent[]): readonly string[] {
  let state: StopState = { phase: "up" };
  return events.flatMap((event) => {
    const step = reduceStop(state, event);
    state = step.state;
    return step.effects.map((effect) => (effect.type === "exit" ? `exit ${effect.code}` : effect.type));
  });
}

const signal = (at: number): StopEvent => ({ type: "signal", signal: "SIGTERM", at });
const closed: StopEvent = { type: "closed" };
const overdue: StopEvent = { type: "overdue" };
const failed: StopEvent = { type: "failed" };

test.each<[name: string, events: readonly StopEvent[], effects: readonly string[]]>([
  ["one signal drains, and the exit is clean", [signal(5), closed], ["drain", "exit 0"]],
  ["npm's copy of a signal is the same stop", [signal(0), signal(40), closed], ["drain", "exit 0"]],
  ["signals of a whole group are the same stop", [signal(0), signal(1), signal(1_999)], ["drain"]],
  [
    "a later signal ends what runs, and everything is still closed",
    [signal(0), signal(2_000), closed],
    ["drain", "kill", "exit 1"],
  ],
  [
    "npm's copy of the later signal is no third one",
    [signal(0), signal(3_000), signal(3_040)],
    ["drain", "kill"],
  ],
  [
    "a third signal exits at once",
    [signal(0), signal(3_000), signal(5_000), closed],
    ["drain", "kill", "exit 1"],
  ],
  ["killing that takes too long exits", [signal(0), signal(3_000), overdue], ["drain", "kill", "exit 1"]],
  ["draining is not overdue: it has its own limit", [signal(0), overdue, closed], ["drain", "exit 0"]],
  ["a failure exits at once", [failed, closed, signal(0)], ["exit 1"]],
  ["a failure while draining exits at once", [signal(0), failed, closed], ["drain", "exit 1"]],
  ["nothing follows an exit", [signal(0), closed, closed, signal(9_000), failed], ["drain", "exit 0"]],
])("%s", (_name, events, effects) => {
  expect(play(...events)).toEqual(effects);
});
