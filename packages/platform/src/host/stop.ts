import { SECOND } from "@platform/engine/base/time";

/*
 * How this process stops. A stop is asked for by signals, and one wish to stop may arrive as several of them: npm
 * forwards the SIGINT that the terminal has sent to the whole process group already, and a service manager may signal
 * every process of the group. Signals that follow within SAME_STOP_MS are therefore the same wish.
 *
 *   up       -> draining   the first wish: running executions end by themselves, within --drain-seconds
 *   draining -> killing    a second wish: they are ended now; PostgreSQL is stopped in order all the same
 *   killing  -> leaving    a third wish, or the bound on killing: the process exits at once
 *
 * A failure that nothing caught leaves at once from wherever it happens. What must not outlive this process whatever
 * the path (the embedded PostgreSQL) hangs on Node's "exit" event, which every way to `leaving` passes.
 */

/** Measured: npm's copy of a terminal's SIGINT comes 1 to 40 ms after the first; people press again after more than this. */
const SAME_STOP_MS = 2 * SECOND;
/** Killing has no more to wait for than the ends of processes and a checkpoint of PostgreSQL. */
const KILL_WITHIN_MS = 20 * SECOND;

export type StopState =
  | { readonly phase: "up" }
  /** `since`: when the wish came, in milliseconds of a monotonic clock. */
  | { readonly phase: "draining" | "killing"; readonly since: number }
  | { readonly phase: "leaving" };

export type StopEvent =
  | { readonly type: "signal"; readonly at: number }
  /** Everything is closed. */
  | { readonly type: "closed" }
  /** Killing has taken too long. */
  | { readonly type: "overdue" }
  | { readonly type: "failed" };

export type StopEffect =
  | { readonly type: "drain" | "kill" }
  | { readonly type: "exit"; readonly code: 0 | 1 };

export interface StopStep {
  readonly state: StopState;
  readonly effect: StopEffect | null;
}

/** What an event makes of a state, and what is to be done. Code 0: every execution had the time it was promised. */
export function reduceStop(state: StopState, event: StopEvent): StopStep {
  if (state.phase === "leaving") return { state, effect: null };
  if (event.type === "signal") return wish(state, event.at);
  if (event.type === "overdue" && state.phase !== "killing") return { state, effect: null };
  return leave(event.type === "closed" && state.phase === "draining" ? 0 : 1);
}

function wish(state: StopState, at: number): StopStep {
  if (state.phase === "leaving") return { state, effect: null };
  if (state.phase === "up") return { state: { phase: "draining", since: at }, effect: { type: "drain" } };
  if (at - state.since < SAME_STOP_MS) return { state, effect: null };
  return state.phase === "draining"
    ? { state: { phase: "killing", since: at }, effect: { type: "kill" } }
    : leave(1);
}

function leave(code: 0 | 1): StopStep {
  return { state: { phase: "leaving" }, effect: { type: "exit", code } };
}

export interface StopOptions {
  /** Closes everything in order; never rejects. */
  readonly close: () => Promise<void>;
  readonly exit: (code: number) => void;
  /** Says what happens, for the operator. */
  readonly onPhase: (phase: "draining" | "killing", signal: NodeJS.Signals) => void;
}

export interface Stop {
  /** A signal has arrived. */
  readonly ask: (signal: NodeJS.Signals) => void;
  /** Something failed that nothing caught: nothing is waited for. */
  readonly fail: () => void;
  /** Aborted as soon as the process is to stop: nothing new is begun. */
  readonly stopping: AbortSignal;
  /** Aborted when running executions are to end now. */
  readonly killing: AbortSignal;
}

export function createStop({ close, exit, onPhase }: StopOptions): Stop {
  const stopping = new AbortController();
  const killing = new AbortController();
  let state: StopState = { phase: "up" };

  const dispatch = (event: StopEvent, signal: NodeJS.Signals = "SIGTERM") => {
    const step = reduceStop(state, event);
    state = step.state;
    if (step.effect !== null) perform(step.effect, signal);
  };
  const perform = (effect: StopEffect, signal: NodeJS.Signals) => {
    switch (effect.type) {
      case "drain":
        onPhase("draining", signal);
        stopping.abort();
        void close().then(() => dispatch({ type: "closed" }));
        return;
      case "kill":
        onPhase("killing", signal);
        killing.abort();
        setTimeout(() => dispatch({ type: "overdue" }), KILL_WITHIN_MS).unref();
        return;
      case "exit":
        exit(effect.code);
    }
  };
  return {
    ask: (signal) => dispatch({ type: "signal", at: performance.now() }, signal),
    fail: () => dispatch({ type: "failed" }),
    stopping: stopping.signal,
    killing: killing.signal,
  };
}
