/**
 * The states of one run, their transitions, and the effects of these. Pure: `execution.ts` performs the effects.
 *
 *   queued --handedOver--> running --answer, end of the process, kill--> answered --drained--> settled --gone--> ended
 *
 * `answered`: the outcome is decided and no longer changes; output from before it is still being stored. The state of the processes is
 * independent of it (`Processes`): they may end long before the log is stored, or long after. A run that is refused or killed in the
 * queue never has any. An event that has no transition in a state is ignored.
 */

import { stay } from "../../base/machine.ts";
import { describeExit, fail } from "./answers.ts";
import type {
  Answered,
  KillReason,
  ProcessEnd,
  Processes,
  RunEffect,
  RunEvent,
  RunState,
  Running,
  Settled,
  RunStep,
  Timer,
} from "./run-state.ts";
import type { LogLine, NotStarted, Outcome } from "../port/runtime.ts";

/** The first state of every run. */
export const QUEUED: RunState = { name: "queued" };
const ENDED: RunState = { name: "ended" };
const HANDED_OVER: RunState = {
  name: "running",
  processes: "running",
  control: "open",
  end: null,
  kill: null,
};
const BEGIN: readonly RunEffect[] = [
  { type: "reportBegun", begun: true },
  { type: "startTimer", timer: "limit" },
  { type: "child", action: "serve" },
];

/** The effects of entering a step, its time limit, and the step that follows when the limit passes. */
const STEPS: Readonly<Record<Processes, ProcessStep>> = {
  running: { enter: [], timer: null, next: null },
  leaving: { enter: [], timer: "exit", next: "killed" },
  terminating: { enter: [{ type: "child", action: "terminate" }], timer: "grace", next: "killed" },
  killed: { enter: [{ type: "child", action: "kill" }], timer: "confirm", next: "stuck" },
  stuck: { enter: [{ type: "child", action: "killSandbox" }], timer: null, next: null },
  gone: { enter: [{ type: "reportEnded" }], timer: null, next: null },
};

interface ProcessStep {
  readonly enter: readonly RunEffect[];
  readonly timer: Exclude<Timer, "limit" | "answer"> | null;
  readonly next: Processes | null;
}

/** For a process whose end was reported without an exit status. */
const UNKNOWN_EXIT: ProcessEnd = { how: "exit", code: null, signal: null };

/** The transitions in the diagram above. */
export function reduce(state: RunState, event: RunEvent): RunStep {
  switch (state.name) {
    case "queued":
      return reduceQueued(event);
    case "running":
      return reduceRunning(state, event);
    case "answered":
      return event.type === "drained" ? settle(state) : reduceProcesses(state, event);
    case "settled": {
      const { state: next, effects } = reduceProcesses(state, event);
      return { state: next.processes === "gone" ? ENDED : next, effects };
    }
    case "ended":
      break;
  }
  return stay(state);
}

function reduceQueued(event: RunEvent): RunStep {
  if (event.type === "handedOver") return { state: HANDED_OVER, effects: BEGIN };
  if (event.type === "refused") return refuse(event.outcome, event.lines);
  if (event.type !== "kill") return stay(QUEUED);
  const refused = refuse(fail(event.reason.code, event.reason.detail), []);
  return { ...refused, effects: [...refused.effects, { type: "withdraw" }] };
}

function refuse(outcome: Outcome | NotStarted, lines: readonly LogLine[]): RunStep {
  return {
    state: { name: "answered", processes: "gone", outcome },
    effects: [
      { type: "reportBegun", begun: false },
      { type: "writeLog", lines },
      { type: "drainLog" },
      { type: "reportEnded" },
    ],
  };
}

function reduceRunning(state: Running, event: RunEvent): RunStep {
  switch (event.type) {
    case "answer":
      return decide(state, event.outcome);
    case "receiving":
    case "controlClosed":
      return changeControl(state, event.type);
    case "exit":
      return exit(state, { how: "exit", ...event.exit });
    case "gone":
      return lose(state, null);
    case "lost":
      return lose(state, { how: "lost", detail: event.detail });
    case "kill":
      return kill(state, event.reason);
    case "timeUp":
      return passTime(state, event);
    case "handedOver":
    case "refused":
    case "drained":
      break;
  }
  return stay(state);
}

/** The exit of the process is reported shortly after, and explains the failure better. */
function closeControl(state: Running): RunStep {
  return state.end === null ? awaitAnswer(state) : decide(state, null);
}

function changeControl(state: Running, event: "receiving" | "controlClosed"): RunStep {
  if (event === "controlClosed") return closeControl({ ...state, control: "closed" });
  return stay(state.control === "open" ? { ...state, control: "receiving" } : state);
}

function exit(state: Running, end: ProcessEnd): RunStep {
  return state.processes === "gone" ? stay(state) : expectAnswer({ ...state, end });
}

/** The process has ended. Its answer may still be on its way, unless the connection has ended too or a kill has decided already. */
function expectAnswer(state: Running): RunStep {
  return state.kill !== null || state.control === "closed" ? decide(state, null) : awaitAnswer(state);
}

/** Storing a large answer takes as long as it takes: the time limit of the run is the one that counts. */
function passTime(state: Running, event: Extract<RunEvent, { readonly type: "timeUp" }>): RunStep {
  if (event.timer !== "answer") return reduceProcesses(state, event);
  return state.control === "receiving" && state.kill === null ? awaitAnswer(state) : decide(state, null);
}

function awaitAnswer(state: Running): RunStep {
  return { state, effects: [{ type: "startTimer", timer: "answer" }] };
}

/** @param end null when its processes are gone after their exit was reported: the answer is awaited already */
function lose(state: Running, end: ProcessEnd | null): RunStep {
  if (state.processes === "gone") return stay(state);
  const gone = moveProcesses(state, "gone");
  if (end === null && state.end !== null) return gone;
  const step = expectAnswer({ ...gone.state, end: end ?? UNKNOWN_EXIT });
  return { state: step.state, effects: [...gone.effects, ...step.effects] };
}

/** The first reason is kept: a run that was cancelled does not become one that exceeded its time limit. */
function kill(state: Running, reason: KillReason): RunStep {
  if (state.kill !== null) return stay(state);
  const isAsked = reason.code === "CANCELLED" || (reason.code === "TIMEOUT" && reason.isAsked === true);
  const step = isAsked ? "terminating" : "killed";
  const { state: next, effects } = moveProcesses({ ...state, kill: reason }, step);
  return { state: next, effects: [{ type: "stopTimer", timer: "limit" }, ...effects] };
}

/** @param answer null when none came and none is awaited any longer */
function decide(state: Running, answer: Outcome | null): RunStep {
  const outcome = toOutcome(state, answer);
  const { state: next, effects } = moveProcesses(state, chooseStep(state, answer));
  return {
    state: { name: "answered", processes: next.processes, outcome },
    effects: [
      { type: "child", action: "closeControl" }, // nothing after the answer is read
      { type: "drainLog" },
      { type: "stopTimer", timer: "limit" },
      { type: "stopTimer", timer: "answer" },
      ...effects,
      { type: "child", action: "reportAnswered" },
    ],
  };
}

/**
 * The outcome of a run that was handed over. A kill that was ordered before the answer came has precedence, so that a cancelled run is never
 * reported as succeeded; then the answer of the code; then how its process ended.
 */
export function toOutcome({ kill, end }: Pick<Running, "kill" | "end">, answer: Outcome | null): Outcome {
  if (kill !== null) return fail(kill.code, kill.detail);
  if (answer !== null) return answer;
  if (end === null)
    return fail("EXECUTION_ERROR", "The code closed the runtime's own connection before run returned.");
  if (end.how === "lost") return { status: "UNKNOWN", code: "WORKER_LOST", detail: end.detail };
  return fail("EXECUTION_ERROR", `The process ${describeExit(end)} before run returned.`);
}

/** A process that closed its connection and lives on will not end by itself. */
function chooseStep({ processes, end }: Running, answer: Outcome | null): Processes {
  if (answer === null && end === null) return "killed";
  return processes === "running" ? "leaving" : processes;
}

function settle({ processes, outcome }: Answered): RunStep {
  return {
    state: processes === "gone" ? ENDED : { name: "settled", processes },
    effects: [{ type: "settle", outcome }],
  };
}

/** The transitions of the processes, which do not depend on the outcome. */
function reduceProcesses<S extends Running | Answered | Settled>(state: S, event: RunEvent): RunStep<S> {
  if (event.type === "gone" || event.type === "lost") return moveProcesses(state, "gone");
  const { timer, next } = STEPS[state.processes];
  if (event.type !== "timeUp" || event.timer !== timer || next === null) return stay(state);
  return moveProcesses(state, next);
}

/** Steps are only passed forward: `gone` is final, and from `stuck` only `gone` follows. */
function moveProcesses<S extends Running | Answered | Settled>(state: S, to: Processes): RunStep<S> {
  const from = state.processes;
  if (from === to || from === "gone" || (from === "stuck" && to !== "gone")) return stay(state);
  const { enter, timer } = STEPS[to];
  const stopped = STEPS[from].timer;
  return {
    state: { ...state, processes: to },
    effects: [
      ...(stopped === null ? [] : [{ type: "stopTimer", timer: stopped } as const]),
      ...enter,
      ...(timer === null ? [] : [{ type: "startTimer", timer } as const]),
    ],
  };
}
