import { QUEUED, reduce } from "../python/child/run-machine.ts";
import type { RunEffect, RunEvent, RunState, Timer } from "../python/child/run-state.ts";

export const SUCCEEDED = { status: "SUCCEEDED", result: Buffer.from("{}"), metadata: null } as const;
export const RAISED = { status: "FAILED", code: "ValueError", detail: "no" } as const;
export const NOT_STARTED = { status: "NOT_STARTED", scope: "version", detail: "no process" } as const;
export const CANCELLED = { code: "CANCELLED", detail: "by the caller" } as const;
export const TIMEOUT = { code: "TIMEOUT", detail: "over the limit" } as const;

/** Everything that can happen to a run. */
export const EVENTS = {
  handedOver: { type: "handedOver" },
  refused: { type: "refused", outcome: NOT_STARTED, lines: [] },
  cancel: { type: "kill", reason: CANCELLED },
  limit: { type: "kill", reason: TIMEOUT },
  answer: { type: "answer", outcome: SUCCEEDED },
  raised: { type: "answer", outcome: RAISED },
  receiving: { type: "receiving" },
  controlClosed: { type: "controlClosed" },
  exit: { type: "exit", exit: { code: 3, signal: null } },
  gone: { type: "gone" },
  lost: { type: "lost", detail: "the worker's process ended" },
  drained: { type: "drained" },
  answerDue: { type: "timeUp", timer: "answer" },
  exitDue: { type: "timeUp", timer: "exit" },
  graceDue: { type: "timeUp", timer: "grace" },
  confirmDue: { type: "timeUp", timer: "confirm" },
} as const satisfies Record<string, RunEvent>;

/** What a run was, seen from outside: its effects in order, and the timers that run. */
export interface History {
  readonly state: RunState;
  readonly done: readonly string[];
  readonly timers: ReadonlySet<Timer>;
  readonly outcomes: readonly unknown[];
}

export const UNTOUCHED: History = { state: QUEUED, done: [], timers: new Set(), outcomes: [] };

function describeEffect(effect: RunEffect): string {
  if (effect.type === "child") return effect.action;
  if (effect.type === "startTimer") return `start ${effect.timer}`;
  return effect.type === "stopTimer" ? `stop ${effect.timer}` : effect.type;
}

/** The timer that an event is the end of no longer runs. */
export function findTimer(event: RunEvent): Timer | null {
  if (event.type === "timeUp") return event.timer;
  return event.type === "kill" && event.reason === TIMEOUT ? "limit" : null;
}

export function follow(history: History, event: RunEvent): History {
  const { state, effects } = reduce(history.state, event);
  const timers = new Set(history.timers);
  const fired = findTimer(event);
  if (fired !== null) timers.delete(fired);
  for (const effect of effects) {
    if (effect.type === "startTimer") timers.add(effect.timer);
    if (effect.type === "stopTimer") timers.delete(effect.timer);
  }
  const outcomes = effects.flatMap((effect) => (effect.type === "settle" ? [effect.outcome] : []));
  return {
    state,
    timers,
    done: [...history.done, ...effects.map(describeEffect)],
    outcomes: [...history.outcomes, ...outcomes],
  };
}

export function play(...events: readonly RunEvent[]): History {
  return events.reduce(follow, UNTOUCHED);
}

/** What was done without the timers, which the states show. */
export function listActions(history: History): readonly string[] {
  return history.done.filter((action) => !/^(?:start|stop) /u.test(action));
}
