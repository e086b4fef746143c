import type { Resources } from "@platform/contract/project";
import { stay } from "../base/machine.ts";
import type { Step } from "../base/machine.ts";

/*
 * A worker: how much of its capacity is free, how many claims it has, and how it stops.
 *
 *   new -> working             it claims what fits
 *   working -> leavingQueue    it claims no more; a claim under way may still return executions
 *   leavingQueue -> waiting    its claims may end by themselves, within a time
 *   waiting -> drained         no claims are left, or the time is over: executions that have not begun are stopped
 *   drained -> finishing       its owner has ended the running executions: the outcomes are written, for as long as a lease
 *   finishing -> closed        no claims are left, or the lease is over
 *
 * A stop passes through all states in this order, without waiting when no claims are left.
 */

/** Where the worker is in the diagram above. */
type DispatchPhase = "new" | "working" | "leavingQueue" | "waiting" | "drained" | "finishing" | "closed";

/** The phase of a worker and what it has in hand. */
export interface DispatchState {
  readonly phase: DispatchPhase;
  /** Thousandths of a vCPU and of a GB, so that fractions add up exactly. */
  readonly free: Resources;
  /** Number of claims of which anything is left on this worker. */
  readonly inHand: number;
}

/** What the worker is informed of. Resources in vCPUs and GB. */
export type DispatchEvent =
  | { readonly type: "start" | "drain" | "queueLeft" | "close" }
  /** A claim takes this much. */
  | { readonly type: "claimed"; readonly resources: Resources }
  /** This much of a claim has become free. */
  | { readonly type: "freed"; readonly resources: Resources }
  /** Nothing is left of a claim. */
  | { readonly type: "left" }
  /** The wait takes too long. */
  | { readonly type: "timeOver" }
  /** The wait for the end of what runs is to be skipped; its outcomes are written all the same. */
  | { readonly type: "kill" };

/**
 * `look`: an execution may fit now. `leaveQueue`: is answered with `queueLeft`. `stopStarting`: gives back claims that have not begun.
 * `waitForEnds` and `waitForWrites`: are answered with `timeOver`; `drained` and `closed` end them.
 */
export type DispatchEffect =
  | "openQueue"
  | "look"
  | "leaveQueue"
  | "waitForEnds"
  | "stopStarting"
  | "drained"
  | "waitForWrites"
  | "closed";

type DispatchStep = Step<DispatchState, DispatchEffect>;

const UNITS = 1_000;

/** @param capacity vCPUs and GB */
export function createDispatchState(capacity: Resources): DispatchState {
  return { phase: "new", free: toUnits(capacity), inHand: 0 };
}

/** The free vCPUs and GB. */
export function readFree({ free }: DispatchState): Resources {
  return { cpu: free.cpu / UNITS, memory: free.memory / UNITS };
}

/** The transitions in the diagram above. `claimed`, `freed` and `left` are counted in every phase. */
export function reduceDispatch(state: DispatchState, event: DispatchEvent): DispatchStep {
  if (event.type === "claimed")
    return stay({ ...state, free: add(state.free, event.resources, -1), inHand: state.inHand + 1 });
  if (event.type === "freed")
    return { state: { ...state, free: add(state.free, event.resources, 1) }, effects: ["look"] };
  if (event.type === "left") return moveOn({ ...state, inHand: state.inHand - 1 });
  return MOVES[event.type](state);
}

type Move = (state: DispatchState) => DispatchStep;

const MOVES: Readonly<Record<Exclude<DispatchEvent["type"], "claimed" | "freed" | "left">, Move>> = {
  start: (state) => (state.phase === "new" ? go(state, "working", ["openQueue"]) : stay(state)),
  drain: (state) =>
    state.phase === "new" || state.phase === "working"
      ? go(state, "leavingQueue", ["leaveQueue"])
      : stay(state),
  queueLeft: (state) =>
    state.phase === "leavingQueue" ? moveOn({ ...state, phase: "waiting" }, ["waitForEnds"]) : stay(state),
  timeOver: (state) => (state.phase === "finishing" ? go(state, "closed", ["closed"]) : waitNoLonger(state)),
  kill: waitNoLonger,
  close: (state) =>
    state.phase === "drained" ? moveOn({ ...state, phase: "finishing" }, ["waitForWrites"]) : stay(state),
};

/** What is waited for has come where nothing is in hand; else `waiting` is what begins now. */
function moveOn(state: DispatchState, waiting: readonly DispatchEffect[] = []): DispatchStep {
  if (state.inHand > 0) return { state, effects: waiting };
  if (state.phase === "waiting") return go(state, "drained", ["drained"]);
  return state.phase === "finishing" ? go(state, "closed", ["closed"]) : stay(state);
}

function waitNoLonger(state: DispatchState): DispatchStep {
  return state.phase === "waiting" ? go(state, "drained", ["stopStarting", "drained"]) : stay(state);
}

function go(state: DispatchState, phase: DispatchPhase, effects: readonly DispatchEffect[]): DispatchStep {
  return { state: { ...state, phase }, effects };
}

function toUnits({ cpu, memory }: Resources): Resources {
  return { cpu: Math.round(cpu * UNITS), memory: Math.round(memory * UNITS) };
}

function add(free: Resources, resources: Resources, sign: 1 | -1): Resources {
  const { cpu, memory } = toUnits(resources);
  return { cpu: free.cpu + sign * cpu, memory: free.memory + sign * memory };
}
