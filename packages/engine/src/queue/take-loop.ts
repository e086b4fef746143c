import { computePause, spreadInterval } from "../base/backoff.ts";
import { createDeferred } from "../base/deferred.ts";
import { runMachine } from "../base/machine.ts";
import { NEW, reduceTake } from "./take-machine.ts";
import type { TakeEffect, TakeEvent, TakeResult } from "./take-machine.ts";

/** Pauses after failures: a queue that is available again is asked within the ceiling. */
const BACKOFF = { firstMs: 50, ceilingMs: 1_000 };

/** What a loop takes from its queue. `Permit` says how much may be taken. */
export interface TakeLoopOptions<Permit> {
  /** Returns what may be taken now; null: nothing. Called before each take. */
  readonly readPermit: () => Permit | null;
  /** Takes once from the queue and starts what it got; returns what is left in the queue. */
  readonly take: (permit: Permit) => Promise<TakeResult>;
  /** Notifications make it faster; this poll makes it correct without them. */
  readonly pollMs: number;
  /** `readPermit` or `take` threw; the take is repeated after a pause. */
  readonly onFailure: (error: unknown) => void;
}

/** Takes work from a queue, one take at a time (`take-machine.ts` has the rules). */
export interface TakeLoop<Permit> {
  /** Begins to take and to poll. Later calls do nothing. */
  readonly open: () => void;
  /** There may be new items. */
  readonly announce: () => void;
  /**
   * Lends the present permit to `take` if the queue is known to be empty and no take is under way: what is just being added need not
   * pass through the queue. `take` returns null where it takes nothing.
   */
  readonly lend: (take: (permit: Permit) => Promise<TakeResult> | null) => void;
  /** Capacity has become free. */
  readonly free: () => void;
  /** Takes no more; resolves once a take under way has ended. */
  readonly close: () => Promise<void>;
}

/** Takes nothing until `open`. */
export function createTakeLoop<Permit>(options: TakeLoopOptions<Permit>): TakeLoop<Permit> {
  const { readPermit, take, pollMs, onFailure } = options;
  let poll: NodeJS.Timeout | undefined;
  let pause: NodeJS.Timeout | undefined;
  const closed = createDeferred<undefined>();

  function perform(effect: TakeEffect): void {
    switch (effect.type) {
      case "take":
        void takeOnce().then(dispatch);
        return;
      case "pause":
        pause = setTimeout(() => dispatch({ type: "paused" }), computePause(BACKOFF, effect.failures - 1));
        return;
      case "end":
        clearInterval(poll);
        clearTimeout(pause);
        closed.resolve(undefined);
    }
  }
  const { state, dispatch } = runMachine(NEW, reduceTake, perform);
  const takeOnce = async (): Promise<TakeEvent> => {
    try {
      const permit = readPermit();
      return { type: "taken", left: permit === null ? "unknown" : await take(permit) };
    } catch (error) {
      return fail(error);
    }
  };
  const fail = (error: unknown): TakeEvent => {
    onFailure(error);
    return { type: "failed" };
  };

  return {
    open: () => {
      if (state().name !== "new") return;
      poll = setInterval(() => dispatch({ type: "announced" }), spreadInterval(pollMs));
      dispatch({ type: "opened" });
    },
    announce: () => dispatch({ type: "announced" }),
    lend: (takeNow) => {
      if (state().name !== "empty") return;
      const permit = readPermit();
      const taking = permit === null ? null : takeNow(permit);
      if (taking === null) return;
      dispatch({ type: "lent" });
      void taking.then((left): TakeEvent => ({ type: "taken", left }), fail).then(dispatch);
    },
    free: () => dispatch({ type: "freed" }),
    close: async () => {
      dispatch({ type: "closed" });
      await closed.promise;
    },
  };
}
