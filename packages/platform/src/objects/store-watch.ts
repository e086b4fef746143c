import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "@platform/engine/base/logger";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND } from "@platform/engine/base/time";
import { StoreUnavailable } from "./object-store.ts";
import type { ObjectStore } from "./object-store.ts";

/*
 * Whether a store on another machine can be used, found out in the background: nobody who asks waits for it.
 *
 *   up        the last look has succeeded, or the first failure may be a moment's
 *   failing   two looks in a row have failed: it is named; requests are tried again as ever, and may succeed
 *   down      that is so for longer than requests are tried again: they fail at once, so that they hold neither callers nor room of a worker
 */
type State =
  | { readonly name: "up"; readonly failures: number }
  | { readonly name: "failing"; readonly fault: StoreFault; readonly since: number };

/** What is wrong with a store. */
interface StoreFault {
  /** No answer, or a fault of the service; or it refuses this platform: bucket, region, key or rights. */
  readonly code: "OBJECTS_UNAVAILABLE" | "OBJECTS_REFUSED";
  /** What that means, in full sentences. */
  readonly detail: string;
}

/** The state of a store, as of the last look. */
export interface StoreWatch {
  /** Null: it can be used. */
  readonly explain: () => StoreFault | null;
  /** Whether requests fail at once. */
  readonly isDown: () => boolean;
  readonly close: () => Promise<void>;
}

/** When it is looked. */
export interface WatchTimes {
  /** Between looks that succeed. */
  readonly soundMs: number;
  /** After one that failed. */
  readonly failingMs: number;
  /** From the failure that was named to `down`: as long as requests are tried again. */
  readonly downAfterMs: number;
}

/** A look costs a request. */
export const WATCH_TIMES: WatchTimes = {
  soundMs: 15 * SECOND,
  failingMs: 5 * SECOND,
  downAfterMs: 30 * SECOND,
};

/** What is watched. */
export interface StoreWatchOptions {
  /** Asks the store once. @throws StoreUnavailable; any other error: it refuses */
  readonly check: (signal: AbortSignal) => Promise<void>;
  readonly logger: Pick<Logger, "info" | "warn">;
  readonly times?: WatchTimes;
}

/** Begins to look when the first pause is over: who opens the store has asked it already. */
export function watchStore({ check, logger, times = WATCH_TIMES }: StoreWatchOptions): StoreWatch {
  const closing = new AbortController();
  const { signal } = closing;
  let state: State = { name: "up", failures: 0 };
  const look = async (): Promise<void> => {
    const error: unknown = await check(signal).then(
      () => null,
      (reason: unknown) => reason,
    );
    if (signal.aborted) return;
    const next = reduce(state, error, readMonotonic());
    if (next.name !== state.name && next.name === "failing")
      logger.warn({ err: error, code: next.fault.code }, "the store of objects cannot be used");
    else if (next.name !== state.name) logger.info({}, "the store of objects can be used again");
    state = next;
  };
  const isSound = () => state.name === "up" && state.failures === 0;
  const keepLooking = async (): Promise<void> => {
    while (!signal.aborted) {
      await delay(isSound() ? times.soundMs : times.failingMs, undefined, { signal, ref: false }).catch(
        () => undefined,
      );
      if (!signal.aborted) await look();
    }
  };
  const looking = keepLooking();
  return {
    explain: () => (state.name === "failing" ? state.fault : null),
    isDown: () => state.name === "failing" && readMonotonic() - state.since >= times.downAfterMs,
    close: async () => {
      closing.abort();
      await looking;
    },
  };
}

function reduce(state: State, error: unknown, at: number): State {
  if (error === null) return { name: "up", failures: 0 };
  if (state.name === "failing") return { ...state, fault: describe(error) };
  if (state.failures === 0) return { name: "up", failures: 1 };
  return { name: "failing", fault: describe(error), since: at };
}

const CONSEQUENCE =
  "Uploads are refused, and builds and executions that need content of it wait; all others run.";

function describe(error: unknown): StoreFault {
  if (error instanceof StoreUnavailable)
    return {
      code: "OBJECTS_UNAVAILABLE",
      detail: `The store of objects does not answer, or fails. ${CONSEQUENCE}`,
    };
  return {
    code: "OBJECTS_REFUSED",
    detail: `The store of objects refuses this platform; its log says why. ${CONSEQUENCE}`,
  };
}

/**
 * The store, without requests that would only be waited for while it is down. Removals and lists, which nobody waits for, are tried; and content is
 * received, into a file of this machine: the result of a run waits there until it can be kept.
 */
export function refuseWhileDown<T extends ObjectStore>(store: T, { isDown }: Pick<StoreWatch, "isDown">): T {
  const check = async (): Promise<void> => {
    if (isDown())
      throw new StoreUnavailable("The store of objects has not answered for a while. Try again later.");
  };
  return {
    ...store,
    read: async (hash, range) => {
      await check();
      return store.read(hash, range);
    },
    fetchTo: async (hash, path) => {
      await check();
      return store.fetchTo(hash, path);
    },
    has: async (hash) => {
      await check();
      return store.has(hash);
    },
  };
}
