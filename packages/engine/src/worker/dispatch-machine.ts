import type { Resources } from "@platform/contract/project";
import type { Step } from "../base/machine.ts";

/*
 * A worker: how much of its capacity is free, how many claims it has in hand, and how it stops.
 *
 *   new -> working             it claims what fits
 *   working -> leavingQueue    it claims no more; a claim that is under way may still bring something
 *   leavingQueue -> waiting    what is in hand may end by itself, for a while
 *   waiting -> drained         nothing is in hand, or the while is over: what has not begun is stopped
 *   drained -> finishing       its owner has ended what ran: the outcomes are written, for as long as a lease
 *   finishing -> closed        nothing is in hand, or the lease is over
 *
 * A stop passes through all of them in this order; where nothing is in hand, it does not stay.
 */

export type DispatchPhase =
  | "new"
  | "working"
  | "leavingQueue"
  | "waiting"
  | "drained"
  | "finishing"
  | "closed";

export interface DispatchState {
  readonly phase: DispatchPhase;
  /** Thousandths of a vCPU and of a GB, so that fractions add up exactly. */
  readonly free: Resources;
  /** Claims that something of is left here. */
  readonly inHand: number;
}

export type DispatchEvent =
  | { readonly type: "start" | "drain" | "queueLeft" | "close" }
  /** A claim came: it takes so much. */
  | { readonly type: "claimed"; readonly resources: Resources }
  /** Nothing of a claim uses so much any more. */
  | { readonly type: "freed"; readonly resources: Resources }
  /** Nothing of a claim is left. */
  | { readonly type: "left" }
  /** What is waited for takes too long, or is not to be waited for. */
  | { readonly type: "timeOver" };

/**
 * `look`: something may fit now. `leaveQueue`: a `queueLeft` is to follow. `stopStarting`: what has not begun is to go back.
 * `waitForEnds` and `waitForWrites`: a `timeOver` is to follow; `drained` and `closed` end them.
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

/** vCPUs and GB that nothing uses. */
export function readFree({ free }: DispatchState): Resources {
  return { cpu: free.cpu / UNITS, memory: free.memory / UNITS };
}

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
  timeOver: (state) => {
    if (state.phase === "waiting") return go(state, "drained", ["stopStarting", "drained"]);
    return state.phase === "finishing" ? go(state, "closed", ["closed"]) : stay(state);
  },
  close: (state) =>
    state.phase === "drained" ? moveOn({ ...state, phase: "finishing" }, ["waitForWrites"]) : stay(state),
};

/** What is waited for has come where nothing is in hand; else `waiting` is what begins now. */
function moveOn(state: DispatchState, waiting: readonly DispatchEffect[] = []): DispatchStep {
  if (state.inHand > 0) return { state, effects: waiting };
  if (state.phase === "waiting") return go(state, "drained", ["drained"]);
  return state.phase === "finishing" ? go(state, "closed", ["closed"]) : stay(state);
}

function go(state: DispatchState, phase: DispatchPhase, effects: readonly DispatchEffect[]): DispatchStep {
  return { state: { ...state, phase }, effects };
}

function stay(state: DispatchState): DispatchStep {
  return { state, effects: [] };
}

function toUnits({ cpu, memory }: Resources): Resources {
  return { cpu: Math.round(cpu * UNITS), memory: Math.round(memory * UNITS) };
}

function add(free: Resources, resources: Resources, sign: 1 | -1): Resources {
  const { cpu, memory } = toUnits(resources);
  return { cpu: free.cpu + sign * cpu, memory: free.memory + sign * memory };
}
