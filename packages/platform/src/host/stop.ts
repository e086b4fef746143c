import { runMachine, stay } from "@platform/engine/base/machine";
import type { Step } from "@platform/engine/base/machine";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND } from "@platform/engine/base/time";

/*
 * How this process stops. Stops are requested by signals, and one request may arrive as several signals: npm forwards the
 * SIGINT that the terminal has already sent to the whole process group, and a service manager may signal every process of
 * the group. Signals that follow within SAME_STOP_MS therefore belong to the same request.
 *
 *   up       -> draining   first request: running executions may end by themselves, within --drain-seconds
 *   draining -> killing    second request: they are ended now; PostgreSQL is still shut down properly
 *   killing  -> leaving    third request, or KILL_WITHIN_MS is over: the process exits at once
 *
 * An uncaught error leads to `leaving` from every phase. The embedded PostgreSQL must not outlive this process in any case,
 * so it is stopped on Node's "exit" event, which every exit passes.
 */

/** npm's copy of a terminal's SIGINT comes 1 to 40 ms after the first (measured); a person presses again later than this. */
const SAME_STOP_MS = 2 * SECOND;
/** Killing waits only for processes to end and for a checkpoint of PostgreSQL. */
const KILL_WITHIN_MS = 20 * SECOND;

/** The phase of the process. */
export type StopState =
  | { readonly phase: "up" }
  /** `since`: when it was requested, in milliseconds of a monotonic clock. */
  | { readonly phase: "draining" | "killing"; readonly since: number }
  | { readonly phase: "leaving" };

/** What can happen; `at` in milliseconds of a monotonic clock. */
export type StopEvent =
  | { readonly type: "signal"; readonly signal: NodeJS.Signals; readonly at: number }
  /** Everything is closed. */
  | { readonly type: "closed" }
  /** Killing has taken too long. */
  | { readonly type: "overdue" }
  | { readonly type: "failed" };

/** What is to be done. */
type StopEffect =
  | { readonly type: "drain" | "kill"; readonly signal: NodeJS.Signals }
  | { readonly type: "exit"; readonly code: 0 | 1 };

type StopStep = Step<StopState, StopEffect>;

/** The transitions. Exit code 0: every execution had --drain-seconds to end. */
export function reduceStop(state: StopState, event: StopEvent): StopStep {
  if (state.phase === "leaving") return stay(state);
  if (event.type === "signal") return requestStop(state, event);
  if (event.type === "overdue" && state.phase !== "killing") return stay(state);
  return leave(event.type === "closed" && state.phase === "draining" ? 0 : 1);
}

function requestStop(
  state: Exclude<StopState, { readonly phase: "leaving" }>,
  { signal, at }: Extract<StopEvent, { readonly type: "signal" }>,
): StopStep {
  if (state.phase === "up")
    return { state: { phase: "draining", since: at }, effects: [{ type: "drain", signal }] };
  if (at - state.since < SAME_STOP_MS) return stay(state);
  return state.phase === "draining"
    ? { state: { phase: "killing", since: at }, effects: [{ type: "kill", signal }] }
    : leave(1);
}

function leave(code: 0 | 1): StopStep {
  return { state: { phase: "leaving" }, effects: [{ type: "exit", code }] };
}

/** How a stop is carried out. */
export interface StopOptions {
  /** Closes everything in order; never rejects. */
  readonly close: () => Promise<void>;
  readonly exit: (code: number) => void;
  /** Called when a phase begins, to log it. */
  readonly onPhase: (phase: "draining" | "killing", signal: NodeJS.Signals) => void;
}

/** The stop of this process. */
export interface Stop {
  /** To be called when a signal arrives. */
  readonly ask: (signal: NodeJS.Signals) => void;
  /** To be called for an uncaught error: exits without waiting for anything. */
  readonly fail: () => void;
  /** Aborted when draining begins: nothing new is started. */
  readonly stopping: AbortSignal;
  /** Aborted when killing begins: running executions are ended. */
  readonly killing: AbortSignal;
}

/** Runs the machine of this file. */
export function createStop({ close, exit, onPhase }: StopOptions): Stop {
  const stopping = new AbortController();
  const killing = new AbortController();
  const perform = (effect: StopEffect): void => {
    switch (effect.type) {
      case "drain":
        onPhase("draining", effect.signal);
        stopping.abort();
        void close().then(() => dispatch({ type: "closed" }));
        return;
      case "kill":
        onPhase("killing", effect.signal);
        killing.abort();
        setTimeout(() => dispatch({ type: "overdue" }), KILL_WITHIN_MS).unref();
        return;
      case "exit":
        exit(effect.code);
    }
  };
  const { dispatch } = runMachine<StopState, StopEvent, StopEffect>({ phase: "up" }, reduceStop, perform);
  return {
    ask: (signal) => dispatch({ type: "signal", signal, at: readMonotonic() }),
    fail: () => dispatch({ type: "failed" }),
    stopping: stopping.signal,
    killing: killing.signal,
  };
}
