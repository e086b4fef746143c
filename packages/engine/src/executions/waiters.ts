import { isFinal } from "@platform/contract/execution";
import { spreadInterval } from "../base/backoff.ts";
import { SECOND } from "../base/time.ts";
import type { ExecutionRecord } from "../store/execution-store.ts";

type Find = (id: string, ownerId: string) => Promise<ExecutionRecord | null>;

interface Waiter {
  readonly ownerId: string;
  readonly settle: (record: ExecutionRecord | null) => void;
}

/** Interval at which a waiting request reads the state, in case an event was lost. Milliseconds. */
const LOOK_AGAIN_MS = 1_000;

/** Requests that wait for a final state. Events wake them sooner; they also finish without. */
export interface Waiters {
  /** The final record, or the latest one when the time is over; null when the caller has disconnected or the execution no longer exists. */
  readonly wait: (
    id: string,
    ownerId: string,
    seconds: number,
    signal: AbortSignal,
  ) => Promise<ExecutionRecord | null>;
  /** Ends the waits for this execution if its record is final. A record of null: it is read first. */
  readonly notify: (id: string, record: ExecutionRecord | null) => void;
  /** Ends all waits with the latest known state. */
  readonly close: () => void;
}

/** `find` reads the state of an execution; null: it does not exist. Waiting requests call it about once a second. */
export function createWaiters(find: Find): Waiters {
  const waiting = new Map<string, Set<Waiter>>();

  const settleIfFinal = async (id: string, waiter: Waiter, record: ExecutionRecord | null) => {
    const current = record ?? (await find(id, waiter.ownerId).catch(() => null));
    if (current?.ownerId === waiter.ownerId && isFinal(current.status)) waiter.settle(current);
  };

  return {
    wait: (id, ownerId, seconds, signal) => {
      const cleanups: (() => void)[] = [];
      return new Promise<ExecutionRecord | null>((resolve) => {
        const waiter: Waiter = { ownerId, settle: resolve };
        const set = waiting.get(id) ?? new Set();
        waiting.set(id, set.add(waiter));
        const leave = () => resolve(null);
        const timeout = setTimeout(() => void find(id, ownerId).then(resolve, leave), seconds * SECOND);
        const look = setInterval(() => void settleIfFinal(id, waiter, null), spreadInterval(LOOK_AGAIN_MS));
        signal.addEventListener("abort", leave, { once: true });
        cleanups.push(() => {
          clearTimeout(timeout);
          clearInterval(look);
          signal.removeEventListener("abort", leave);
          set.delete(waiter);
          if (set.size === 0) waiting.delete(id);
        });
        if (signal.aborted) leave();
        // The state may have become final between the caller's read and this registration.
        void settleIfFinal(id, waiter, null);
      }).finally(() => {
        for (const cleanup of cleanups) cleanup();
      });
    },
    notify: (id, record) => {
      for (const waiter of waiting.get(id) ?? []) void settleIfFinal(id, waiter, record);
    },
    close: () => {
      for (const set of waiting.values()) for (const waiter of set) waiter.settle(null);
    },
  };
}
