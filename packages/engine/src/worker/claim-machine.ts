import { stay } from "../base/machine.ts";
import type { Step } from "../base/machine.ts";
import type { Preparation } from "./prepare-claim.ts";
import type { NotStarted, Outcome } from "../python/port/runtime.ts";

/*
 * One claim of a worker.
 *
 *   preparing -> starting -> running     code and inputs are prepared; handed to Python; user code may have begun
 *   (any of these) -> writing            its ending is written, with retries as long as its lease is held
 *   writing -> dropping                  the lease was lost meanwhile: no further retries
 *   (then) leaving                       its lease is not needed any more, but some of its processes are left
 *   (then) over                          nothing is left of it on this worker
 *
 * A claim that could not be started because of the platform goes back into the queue; so does one that this worker stops before it began.
 * Nothing is written for a claim whose lease was lost. What was cancelled is not tried again, whatever its outcome is.
 */

/** Where the claim is in the diagram above; `stopped` is the reason to end it that came first, or `lost`. Null: none came. */
export type ClaimState =
  | { readonly name: "preparing"; readonly stopped: StopReason | null }
  | {
      readonly name: "starting" | "running";
      readonly stopped: StopReason | null;
      readonly processes: "present" | "gone";
    }
  | { readonly name: "writing" | "dropping"; readonly processes: Processes }
  | { readonly name: "leaving" | "over" };

/** `none`: it was never handed over, so only the claim holds its capacity. */
type Processes = "none" | "present" | "gone";

/** Cancelled by its owner; its lease was lost; given up before it began, because the worker stops. */
export type StopReason = "cancelled" | "lost" | "stopping";

/** What the claim is informed of. */
export type ClaimEvent =
  | { readonly type: "prepared"; readonly preparation: Preparation }
  /** User code may have begun. */
  | { readonly type: "began" }
  | { readonly type: "answered"; readonly answer: Outcome | NotStarted }
  /** All its processes have ended. */
  | { readonly type: "gone" }
  | { readonly type: "stop"; readonly reason: StopReason }
  /** The store has accepted the ending or refused it: there are no more retries. */
  | { readonly type: "written" }
  /** A bug of the platform: its lease is left to expire. */
  | { readonly type: "broken" };

/** How it ended on this worker. */
export type Ending =
  | Exclude<Preparation, { readonly kind: "ready" }>
  /** Of a run: if it has failed, and its service wants it, another attempt may follow. */
  | { readonly kind: "outcome"; readonly outcome: Outcome; readonly mayRetry: boolean }
  /** The worker stops; the claim is given back at once. */
  | { readonly kind: "stopped" };

/** What `run-claim.ts` has to do. `stopPreparing` is answered with `prepared`, `write` with `written`. */
export type ClaimEffect =
  | { readonly type: "handOver"; readonly ready: Extract<Preparation, { readonly kind: "ready" }> }
  | { readonly type: "stopPreparing"; readonly reason: StopReason }
  | { readonly type: "kill" | "logLost" | "noteStarted" }
  | { readonly type: "write"; readonly ending: Ending }
  /** Its lease is not needed any more; its capacity is free; nothing is left of it. Once each. */
  | { readonly type: "release" | "free" | "leave" };

type ClaimStep = Step<ClaimState, ClaimEffect>;

/** Failure of an execution that was cancelled after it was claimed. */
export const CANCELLED = { code: "CANCELLED", detail: "The execution was cancelled." } as const;

/** The first state of every claim. */
export const PREPARING: ClaimState = { name: "preparing", stopped: null };

/** Whether user code has not begun and can still be prevented from beginning. */
export function isStarting({ name }: ClaimState): boolean {
  return name === "preparing" || name === "starting";
}

/** The transitions in the diagram above. Events without a transition are ignored, but for `began`: the start is always noted. */
export function reduceClaim(state: ClaimState, event: ClaimEvent): ClaimStep {
  switch (event.type) {
    case "prepared":
      return state.name === "preparing" ? endPreparation(state.stopped, event.preparation) : stay(state);
    case "began":
      return begin(state);
    case "answered":
      return answer(state, event.answer);
    case "gone":
      return loseProcesses(state);
    case "stop":
      return stop(state, event.reason);
    case "written":
      return isBeingWritten(state) ? settle(state.processes) : stay(state);
    case "broken":
      break;
  }
  return breakOff(state);
}

function endPreparation(stopped: StopReason | null, preparation: Preparation): ClaimStep {
  if (stopped !== null) return endStopped(stopped, "none");
  if (preparation.kind !== "ready") return write(preparation, "none");
  return {
    state: { name: "starting", stopped: null, processes: "present" },
    effects: [{ type: "handOver", ready: preparation }],
  };
}

function begin(state: ClaimState): ClaimStep {
  return {
    state: state.name === "starting" ? { ...state, name: "running" } : state,
    effects: [{ type: "noteStarted" }],
  };
}

function answer(state: ClaimState, given: Outcome | NotStarted): ClaimStep {
  if (state.name !== "starting" && state.name !== "running") return stay(state);
  const { stopped, processes } = state;
  if (stopped === "lost") return settle(processes);
  if (given.status !== "NOT_STARTED")
    return write({ kind: "outcome", outcome: given, mayRetry: stopped !== "cancelled" }, processes);
  if (stopped !== null) return endStopped(stopped, processes);
  return write({ kind: "fault", scope: given.scope, cause: new Error(given.detail) }, processes);
}

function loseProcesses(state: ClaimState): ClaimStep {
  if (state.name === "leaving")
    return { state: { name: "over" }, effects: [{ type: "free" }, { type: "leave" }] };
  if (!("processes" in state) || state.processes !== "present") return stay(state);
  return { state: { ...state, processes: "gone" }, effects: [{ type: "free" }] };
}

/** `lost` has precedence over other reasons. */
function stop(state: ClaimState, reason: StopReason): ClaimStep {
  if (state.name === "writing" && reason === "lost") return stay({ ...state, name: "dropping" });
  if (!("stopped" in state) || state.stopped === "lost") return stay(state);
  if (state.stopped !== null && reason !== "lost") return stay(state);
  return { state: { ...state, stopped: reason }, effects: listStopEffects(state, reason) };
}

function isBeingWritten(state: ClaimState): state is Extract<ClaimState, { name: "writing" | "dropping" }> {
  return state.name === "writing" || state.name === "dropping";
}

function breakOff(state: ClaimState): ClaimStep {
  if (state.name === "leaving" || state.name === "over") return stay(state);
  return settle("processes" in state && state.processes === "gone" ? "gone" : "none");
}

function listStopEffects({ name }: ClaimState, reason: StopReason): readonly ClaimEffect[] {
  const effects: ClaimEffect[] = reason === "lost" ? [{ type: "logLost" }] : [];
  if (name === "preparing") return [...effects, { type: "stopPreparing", reason }];
  return reason === "stopping" ? effects : [...effects, { type: "kill" }];
}

function endStopped(reason: StopReason, processes: Processes): ClaimStep {
  if (reason === "lost") return settle(processes);
  if (reason === "stopping") return write({ kind: "stopped" }, processes);
  return write({ kind: "outcome", outcome: { status: "FAILED", ...CANCELLED } }, processes);
}

function write(ending: Ending, processes: Processes): ClaimStep {
  return { state: { name: "writing", processes }, effects: [{ type: "write", ending }] };
}

/** Its lease is of no more use. */
function settle(processes: Processes): ClaimStep {
  if (processes === "present") return { state: { name: "leaving" }, effects: [{ type: "release" }] };
  const freed: readonly ClaimEffect[] = processes === "none" ? [{ type: "free" }] : [];
  return { state: { name: "over" }, effects: [{ type: "release" }, ...freed, { type: "leave" }] };
}
