import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NEW, reduceTake } from "./take-machine.ts";
import type { TakeEffect, TakeEvent, TakeResult, TakeState } from "./take-machine.ts";

const OPENED: TakeEvent = { type: "opened" };
const ANNOUNCED: TakeEvent = { type: "announced" };
const FREED: TakeEvent = { type: "freed" };
const LENT: TakeEvent = { type: "lent" };
const FAILED: TakeEvent = { type: "failed" };
const PAUSED: TakeEvent = { type: "paused" };
const CLOSED: TakeEvent = { type: "closed" };
const taken = (left: TakeResult): TakeEvent => ({ type: "taken", left });

function play(events: readonly TakeEvent[]): { state: TakeState; effects: string[] } {
  const effects: string[] = [];
  let state = NEW;
  for (const event of events) {
    const step = reduceTake(state, event);
    state = step.state;
    effects.push(...step.effects.map(describeEffect));
  }
  return { state, effects };
}

function describeEffect(effect: TakeEffect): string {
  return effect.type === "pause" ? `pause ${effect.failures}` : effect.type;
}

describe("a process that takes work from a queue", () => {
  test.each<[string, readonly TakeEvent[], string, readonly string[]]>([
    ["asks when it is opened", [OPENED], "taking", ["take"]],
    ["asks for nothing before", [ANNOUNCED, FREED], "new", []],
    [
      "asks when something is announced, or capacity becomes free",
      [OPENED, taken("unknown"), ANNOUNCED, taken("unknown"), FREED],
      "taking",
      ["take", "take", "take"],
    ],
    [
      "asks an empty queue only when something is announced",
      [OPENED, taken("nothing"), FREED, FREED, ANNOUNCED],
      "taking",
      ["take", "take"],
    ],
    ["asks again at once where more is left", [OPENED, taken("something")], "taking", ["take", "take"]],
    [
      "asks once more for all that came while it asked",
      [OPENED, ANNOUNCED, FREED, ANNOUNCED, taken("nothing"), taken("nothing")],
      "empty",
      ["take", "take"],
    ],
    [
      "pauses longer with each failure in a row, whatever is announced",
      [OPENED, FAILED, ANNOUNCED, PAUSED, ANNOUNCED, FAILED, PAUSED, taken("unknown"), ANNOUNCED, FAILED],
      "pausing",
      ["take", "pause 1", "take", "pause 2", "take", "take", "pause 1"],
    ],
    [
      "counts a take that was begun elsewhere as its own",
      [OPENED, taken("nothing"), LENT, ANNOUNCED, taken("nothing"), taken("nothing")],
      "empty",
      ["take", "take"],
    ],
    [
      "waits for that one as well when it is closed",
      [OPENED, taken("nothing"), LENT, CLOSED],
      "closing",
      ["take"],
    ],
    ["ends at once when nothing is under way", [OPENED, taken("unknown"), CLOSED], "closed", ["take", "end"]],
    ["ends at once during a pause", [OPENED, FAILED, CLOSED, PAUSED], "closed", ["take", "pause 1", "end"]],
    ["waits for the take under way when it is closed", [OPENED, CLOSED], "closing", ["take"]],
    [
      "asks for nothing more after that",
      [OPENED, ANNOUNCED, CLOSED, ANNOUNCED, taken("something"), ANNOUNCED, OPENED],
      "closed",
      ["take", "end"],
    ],
    ["ends also when that take fails", [OPENED, CLOSED, FAILED], "closed", ["take", "end"]],
    ["ends without ever having been opened", [CLOSED, OPENED], "closed", ["end"]],
  ])("%s", (_what, events, name, effects) => {
    const played = play(events);
    expect([played.state.name, played.effects]).toEqual([name, effects]);
  });

  test("holds its promises whatever the order of events", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...MOVES), { maxLength: 60, size: "max" }), (moves) => {
        const model = createModel();
        for (const move of moves) model.play(move);
        expect(model.finish()).toEqual([]);
      }),
      { numRuns: 3_000 },
    );
  });
});

type Move = "open" | "announce" | "free" | "close" | "lend" | "pause ends" | "take fails" | TakeResult;
/** What ends most of the machine's life is rare, so that long lives are played as well. */
const MOVES: readonly Move[] = [
  ...(["open", "announce", "free", "lend", "pause ends", "take fails"] as const).flatMap((move) => [
    move,
    move,
    move,
  ]),
  ...(["something", "unknown", "nothing"] as const).flatMap((move) => [move, move]),
  "close",
];

/** The world around the machine: it answers only what was asked for, and lists which promises were broken. */
function createModel() {
  const broken: string[] = [];
  let state = NEW;
  let takes = 0;
  let pauses = 0;
  let ends = 0;
  let failures = 0;
  /** Something came since the latest take was begun. */
  let isLookOwed = false;
  let isOpen = false;
  let isClosed = false;

  const demand = (isKept: boolean, promise: string) => {
    if (!isKept) broken.push(promise);
  };
  const dispatch = (event: TakeEvent) => {
    const step = reduceTake(state, event);
    state = step.state;
    for (const effect of step.effects) perform(effect);
    demand(takes <= 1, "one take at a time");
    demand(takes * pauses === 0, "no take during a pause");
    const isLooking = takes + pauses > 0;
    demand(isLooking || !isLookOwed || !isOpen || isClosed, "what was announced is looked for");
    demand(ends === (isClosed && takes === 0 ? 1 : 0), "it ends once it is closed and nothing is under way");
  };
  const perform = (effect: TakeEffect) => {
    demand(ends === 0, "no effect after the end");
    if (effect.type === "take") {
      demand(isOpen && !isClosed, "takes from opening to closing only");
      takes++;
      isLookOwed = false;
    }
    if (effect.type === "pause") {
      demand(effect.failures === failures, "a pause knows the failures in a row");
      pauses++;
    }
    if (effect.type === "end") {
      ends++;
      pauses = 0;
    }
  };
  const answer = (event: TakeEvent) => {
    if (takes === 0) return;
    takes--;
    failures = event.type === "failed" ? failures + 1 : 0;
    dispatch(event);
    const isMoreLeft = event.type === "taken" && event.left === "something";
    demand(!isMoreLeft || isClosed || takes === 1, "what was left is taken at once");
  };
  const moves: Readonly<Record<Move, () => void>> = {
    open: () => {
      isOpen ||= !isClosed;
      dispatch(OPENED);
    },
    announce: () => {
      isLookOwed = isOpen && !isClosed;
      dispatch(ANNOUNCED);
    },
    free: () => {
      isLookOwed ||= takes > 0 && !isClosed;
      dispatch(FREED);
    },
    lend: () => {
      if (state.name !== "empty") return;
      takes++;
      dispatch(LENT);
    },
    close: () => {
      isClosed = true;
      dispatch(CLOSED);
    },
    "pause ends": () => {
      if (pauses === 0) return;
      pauses--;
      dispatch(PAUSED);
    },
    "take fails": () => answer(FAILED),
    something: () => answer(taken("something")),
    unknown: () => answer(taken("unknown")),
    nothing: () => answer(taken("nothing")),
  };
  return {
    play: (move: Move) => moves[move](),
    /** However it stands, closing it and answering what is under way ends it. */
    finish: (): readonly string[] => {
      moves.close();
      moves.unknown();
      demand(takes + pauses === 0 && ends === 1, "closing ends it");
      return broken;
    },
  };
}
