import { stay } from "../base/machine.ts";
import type { Step } from "../base/machine.ts";

/*
 * When a process takes work from its queue.
 *
 *   new      -> taking                   it is opened
 *   idle     -> taking                   there may be work: a notification, the poll, or free capacity
 *   empty    -> taking                   as idle, except for free capacity: the last take left the queue empty
 *   empty    -> taking                   the loop is told of a take that was begun elsewhere (`lent`)
 *   taking   -> idle, empty, taking      work left in the queue: unknown, nothing, certainly some
 *   taking   -> outdated -> taking       work was announced during the take, and may not be in its answer
 *   taking   -> pausing -> taking        the take failed: it is repeated after a growing pause
 *   (any)    -> closed                   by way of `closing` during a take: what it returns has been taken and must be handled
 *
 * So there is one take at a time, no announcement is missed, and an unavailable queue is not called in a tight loop.
 */

/** Where the loop is in the diagram above. */
export type TakeState =
  | { readonly name: "new" | "idle" | "empty" | "closing" | "closed" }
  /** `failures`: takes that failed in a row. */
  | { readonly name: "taking" | "outdated" | "pausing"; readonly failures: number };

/** What the loop is informed of. */
export type TakeEvent =
  /** `opened`: it may take from now on. `announced`: there may be new work. `freed`: capacity has become free. */
  | { readonly type: "opened" | "announced" | "freed" }
  /** A take was begun that the machine did not ask for, in the state `empty`. It is answered like any other. */
  | { readonly type: "lent" }
  /** What the take left in the queue, as far as is known. */
  | { readonly type: "taken"; readonly left: TakeResult }
  | { readonly type: "failed" | "paused" | "closed" };

/** What a take left in the queue: something (take again at once), nothing, or not known. */
export type TakeResult = "something" | "unknown" | "nothing";

/** What the loop has to do. `take` is answered with `taken` or `failed`. */
export type TakeEffect =
  | { readonly type: "take" }
  /** Is answered with `paused`. */
  | { readonly type: "pause"; readonly failures: number }
  /** No take is under way, and none follows. */
  | { readonly type: "end" };

type TakeStep = Step<TakeState, TakeEffect>;

/** The state before `opened`: announcements are ignored. */
export const NEW: TakeState = { name: "new" };

/** The transitions in the diagram above. An event that has no transition in a state is ignored. */
export function reduceTake(state: TakeState, event: TakeEvent): TakeStep {
  return event.type === "taken" ? endTake(state, event.left) : MOVES[event.type](state);
}

const MOVES: Readonly<Record<Exclude<TakeEvent["type"], "taken">, (state: TakeState) => TakeStep>> = {
  opened: (state) => (state.name === "new" ? take(0) : stay(state)),
  announced: (state) => look(state, ["idle", "empty"]),
  freed: (state) => look(state, ["idle"]),
  lent: (state) => stay(state.name === "empty" ? { name: "taking", failures: 0 } : state),
  failed: failTake,
  paused: (state) => (state.name === "pausing" ? take(state.failures) : stay(state)),
  closed: close,
};

function look(state: TakeState, waiting: readonly TakeState["name"][]): TakeStep {
  if (waiting.includes(state.name)) return take(0);
  return stay(state.name === "taking" ? { ...state, name: "outdated" } : state);
}

function endTake(state: TakeState, left: TakeResult): TakeStep {
  if (state.name === "closing") return end();
  if (state.name === "outdated") return take(0);
  if (state.name !== "taking") return stay(state);
  if (left === "something") return take(0);
  return stay({ name: left === "nothing" ? "empty" : "idle" });
}

function failTake(state: TakeState): TakeStep {
  if (state.name === "closing") return end();
  if (state.name !== "taking" && state.name !== "outdated") return stay(state);
  const failures = state.failures + 1;
  return { state: { name: "pausing", failures }, effects: [{ type: "pause", failures }] };
}

function close(state: TakeState): TakeStep {
  if (state.name === "closing" || state.name === "closed") return stay(state);
  return state.name === "taking" || state.name === "outdated" ? stay({ name: "closing" }) : end();
}

function take(failures: number): TakeStep {
  return { state: { name: "taking", failures }, effects: [{ type: "take" }] };
}

function end(): TakeStep {
  return { state: { name: "closed" }, effects: [{ type: "end" }] };
}
