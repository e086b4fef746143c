import { isFinal } from "@platform/contract/execution";
import { readMonotonic } from "../base/monotonic.ts";
import { SECOND } from "../base/time.ts";
import type { Logger } from "../base/logger.ts";
import { createTimers } from "../base/timers.ts";
import type { ExecutionStore } from "../store/execution-store.ts";
import type { DueRound } from "../store/held.ts";
import type { StoreEvent } from "../store/store-event.ts";

/*
 * Rounds that bring executions which are held into the queue: at each event that says that a round may be due, and when the next one is due. An
 * event that is lost delays a round by LONGEST_PAUSE_MS at most. A round that finds another process at it is tried again.
 */

const LONGEST_PAUSE_MS = 10 * SECOND;
/** While some wait for a place: the notification of an end may be lost. */
const LONGEST_WAITING_PAUSE_MS = 2 * SECOND;
/** Between two rounds: what comes together is released together. */
const SHORTEST_PAUSE_MS = 20;
/** What is due was left to another process, or the store could not be asked. */
const RETRY_MS = 1 * SECOND;

/** What is released, and how it is logged. */
export interface ReleaserOptions {
  readonly store: Pick<ExecutionStore, "releaseDue" | "subscribe">;
  readonly logger: Pick<Logger, "warn">;
  /** Milliseconds; default: the monotonic clock. */
  readonly now?: () => number;
}

/** Begins with a round. Returns a function that stops it and waits for a round under way. */
export function startReleaser({ store, logger, now = readMonotonic }: ReleaserOptions): () => Promise<void> {
  const timers = createTimers<"round">();
  let round: Promise<void> | null = null;
  let isAskedFor = false;
  // Events that come while it is do not put the round off: they may come without end.
  let isWoken = false;
  let isClosed = false;
  // Until the first round has said it.
  let waitsForPlace = true;

  const begin = (): void => {
    round ??= run().finally(() => {
      round = null;
    });
  };
  const run = async (): Promise<void> => {
    timers.clear("round");
    isAskedFor = false;
    const { pauseMs, shortestMs, waitsForPlace: waits } = await step({ store, logger, now });
    waitsForPlace = waits;
    isWoken = isAskedFor;
    if (!isClosed) timers.set("round", isAskedFor ? Math.min(pauseMs, shortestMs) : pauseMs, begin);
  };
  const unsubscribe = store.subscribe((event) => {
    if (isClosed || !mayRelease(event, waitsForPlace)) return;
    isAskedFor = true;
    if (round !== null || isWoken) return;
    isWoken = true;
    timers.set("round", SHORTEST_PAUSE_MS, begin);
  });
  begin();
  return async () => {
    isClosed = true;
    unsubscribe();
    timers.clear("round");
    await round;
  };
}

/** Whether something may be due after the event. What has ended has given back its place; a record that is not there may be of what has. */
function mayRelease(event: StoreEvent, waitsForPlace: boolean): boolean {
  if (event.type === "held" || event.type === "reset") return true;
  if (event.type !== "changed" || !waitsForPlace) return false;
  return event.record === undefined || isFinal(event.record.status);
}

/** What one round says of the next. */
interface Next {
  readonly pauseMs: number;
  /** The pause where events ask for a round: rounds take half of the time at most, however many there are that wait. */
  readonly shortestMs: number;
  readonly waitsForPlace: boolean;
}

async function step({ store, logger, now }: Required<ReleaserOptions>): Promise<Next> {
  const begunAt = now();
  try {
    const round = await store.releaseDue();
    const shortestMs = Math.max(SHORTEST_PAUSE_MS, now() - begunAt);
    return { pauseMs: findPause(round, shortestMs), shortestMs, waitsForPlace: round.waitsForPlace };
  } catch (error) {
    logger.warn({ err: error }, "executions that are due could not be released; trying again");
    return { pauseMs: RETRY_MS, shortestMs: RETRY_MS, waitsForPlace: true };
  }
}

function findPause({ released, nextMs, waitsForPlace }: DueRound, shortest: number): number {
  const longest = waitsForPlace ? LONGEST_WAITING_PAUSE_MS : LONGEST_PAUSE_MS;
  if (nextMs === null) return longest;
  if (nextMs <= 0) return released > 0 ? shortest : RETRY_MS;
  return Math.min(longest, Math.max(shortest, nextMs));
}
