import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { beginBoot, reduceBoot } from "./boot-machine.ts";
import type { BootEffect, BootEvent, BootState } from "./boot-machine.ts";
import type { ZygoteEvent } from "../wire/control-messages.ts";
import type { BootFailure } from "./start-failure.ts";
import { BootWorld } from "../../testing/boot-world.ts";

const SETTINGS = { helloMs: 2000, bootMs: 5000 };
const line = (message: string) => ({ time: 0, severity: "INFO", message }) as const;

const said = (event: ZygoteEvent): BootEvent => ({ type: "said", said: event, time: 0 });
const HELLO = said({ event: "hello", pid: 1 });
const READY = said({ event: "ready", mode: "fork" });
const UNSAFE = said({ event: "unsafe", reason: "a thread was started" });
const FAILED = said({
  event: "failed",
  code: "STARTUP_ERROR",
  detail: "no licence",
  traceback: "Traceback:\n  x",
});
const EXIT = said({ event: "exit", id: 1, code: 0, signal: null });
const GONE = said({ event: "gone", id: 1 });
const LIMIT: BootEvent = { type: "limit" };
const STOP: BootEvent = { type: "ordered", order: { order: "stop" } };
const KILL: BootEvent = { type: "ordered", order: { order: "kill" } };
const FORK: BootEvent = { type: "ordered", order: { order: "fork", id: 1 } };
const PRINTED: BootEvent = { type: "printed", lines: [line("importing")] };
const UNSTARTABLE: BootEvent = { type: "unstartable", reason: "EMFILE" };
const WORKS: BootEvent = { type: "diagnosed", fault: null };
const BROKEN: BootEvent = { type: "diagnosed", fault: "bwrap: no permissions" };
const EXCESS = { status: "FAILED", code: "OUT_OF_MEMORY", detail: "too large" } as const;
const ended = (hasBegun: boolean, excess: typeof EXCESS | null = null): BootEvent => ({
  type: "ended",
  end: { description: "ended with exit code 3", hasBegun, excess },
  kept: [line("importing")],
});

const STOP_EFFECT: BootEffect = { type: "order", order: { order: "stop" } };

function play(events: readonly BootEvent[]): {
  readonly state: BootState;
  readonly effects: readonly BootEffect[];
} {
  let { state } = beginBoot(SETTINGS);
  const effects: BootEffect[] = [];
  for (const event of events) {
    const step = reduceBoot(state, event, SETTINGS);
    state = step.state;
    effects.push(...step.effects);
  }
  return { state, effects };
}

function describeEnd(events: readonly BootEvent[]): string | null | undefined {
  for (const effect of play(events).effects)
    if (effect.type === "report" && effect.report.event === "closed")
      return describeFailure(effect.report.failure);
  return undefined;
}

function describeFailure(failure: BootFailure | null): string | null {
  if (failure === null) return null;
  const { outcome, lines } = failure;
  const status = outcome.status === "FAILED" ? "FAILED" : `${outcome.status} ${outcome.scope}`;
  return `${status} ${outcome.detail} (${lines.map(({ message }) => message).join(", ")})`;
}

describe("how a boot ended is said once, with who is at fault", () => {
  test.each<readonly [string, readonly BootEvent[], string | null]>([
    ["it was ready", [HELLO, READY, ended(true)], null],
    ["it was stopped before it was ready", [HELLO, STOP, ended(true)], null],
    ["it was killed before it said a word", [KILL, ended(false)], null],
    ["it cannot be forked", [HELLO, UNSAFE, ended(true)], null],
    ["the import failed", [HELLO, FAILED, ended(true)], "FAILED no licence (importing, Traceback:,   x)"],
    [
      "the import failed, and the process stayed until its limit",
      [HELLO, FAILED, LIMIT, ended(true)],
      "FAILED no licence (importing, Traceback:,   x)",
    ],
    [
      "the process ended while it imported",
      [HELLO, ended(true)],
      "FAILED The process ended with exit code 3 while it imported src/program.py. (importing)",
    ],
    [
      "the import took too long",
      [HELLO, LIMIT, ended(true)],
      "FAILED The import of src/program.py took longer than 5 s. (importing)",
    ],
    [
      "it never said a word",
      [LIMIT, ended(true)],
      "NOT_STARTED version The process of the version did not answer within 2 s. (importing)",
    ],
    [
      "the interpreter ended before the import",
      [ended(true)],
      "FAILED The interpreter ended with exit code 3 before it could import src/program.py. (importing)",
    ],
    ["the kernel killed it before it said a word", [ended(true, EXCESS)], "FAILED too large (importing)"],
    [
      "the sandbox did not start it, though sandboxes work",
      [ended(false), WORKS],
      "NOT_STARTED version The sandbox of the version ended with exit code 3: importing ()",
    ],
    [
      "no sandbox works",
      [ended(false), BROKEN],
      "NOT_STARTED worker No sandbox works on this machine: bwrap: no permissions ()",
    ],
    ["its end was ordered while an empty sandbox was tried", [ended(false), STOP, BROKEN], null],
    [
      "no process could be started",
      [UNSTARTABLE],
      "NOT_STARTED worker No process could be started: EMFILE ()",
    ],
  ])("%s", (_, events, expected) => expect(describeEnd(events)).toBe(expected));
});

test("a zygote that has said why its import failed is told to end, since it waits for that", () => {
  const { state, effects } = play([HELLO, FAILED]);
  expect(state.name).toBe("ending");
  expect(effects.slice(-2)).toEqual([{ type: "stopTimer" }, STOP_EFFECT]);
});

test("the trial of an empty sandbox ends when nobody waits for it any more", () => {
  const { state, effects } = play([ended(false), FORK, STOP, KILL, FORK]);
  expect(state.name).toBe("abandoning");
  expect(effects.slice(-2)).toEqual([{ type: "diagnose" }, { type: "stopDiagnosis" }]);
});

/** What a process, user code in it, the pool and the clock can do, in any order. */
const MOVES: fc.Arbitrary<BootEvent> = fc.constantFrom(
  HELLO,
  HELLO,
  HELLO,
  READY,
  READY,
  UNSAFE,
  FAILED,
  EXIT,
  GONE,
  PRINTED,
  FORK,
  FORK,
  LIMIT,
  LIMIT,
  STOP,
  KILL,
  UNSTARTABLE,
  ended(true),
  ended(false),
  WORKS,
  BROKEN,
);

test("a boot keeps its promises whatever the order of events", () => {
  fc.assert(
    fc.property(fc.array(MOVES, { maxLength: 25, size: "max" }), (events) => {
      const world = new BootWorld();
      for (const event of events) world.play(event);
      world.finish([HELLO, READY, EXIT, LIMIT, STOP, KILL, FORK, PRINTED, WORKS]);
      expect(world.state).toEqual({ name: "closed" });
    }),
    { numRuns: 2000 },
  );
});
