import { SECOND } from "../base/time.ts";
import type { Logger } from "../base/logger.ts";
import { createTimers } from "../base/timers.ts";
import type { ExecutionStore } from "../store/execution-store.ts";

/*
 * Rounds that bring executions which are held into the queue: at each event that says that a round may be due, and when the next one is due. An
 * event that is lost delays a round by LONGEST_PAUSE_MS at most. A round that finds another process at it is tried again.
 */

const LONGEST_PAUSE_MS = 10 * SECOND;
/** Between two rounds: what comes together is released together. */
const SHORTEST_PAUSE_MS = 20;
/** What is due was left to another process, or the store could not be asked. */
const RETRY_MS = 1 * SECOND;

/** What is released, and how it is logged. */
export interface ReleaserOptions {
  readonly store: Pick<ExecutionStore, "releaseDue" | "subscribe">;
  readonly logger: Pick<Logger, "warn">;
}

/** Begins with a round. Returns a function that stops it and waits for a round under way. */
export function startReleaser({ store, logger }: ReleaserOptions): () => Promise<void> {
  const timers = createTimers<"round">();
  let round: Promise<void> | null = null;
  let isAskedFor = false;
  let isClosed = false;

  const begin = (): void => {
    round ??= run().finally(() => {
      round = null;
    });
  };
  const run = async (): Promise<void> => {
    timers.clear("round");
    isAskedFor = false;
    const pauseMs = await step({ store, logger });
    if (!isClosed) timers.set("round", isAskedFor ? SHORTEST_PAUSE_MS : pauseMs, begin);
  };
  const unsubscribe = store.subscribe(({ type }) => {
    if (isClosed || (type !== "held" && type !== "reset")) return;
    if (round !== null) isAskedFor = true;
    else timers.set("round", SHORTEST_PAUSE_MS, begin);
  });
  begin();
  return async () => {
    isClosed = true;
    unsubscribe();
    timers.clear("round");
    await round;
  };
}

/** One round; after how many milliseconds the next one is due. */
async function step({ store, logger }: ReleaserOptions): Promise<number> {
  try {
    const { released, nextMs } = await store.releaseDue();
    if (nextMs === null) return LONGEST_PAUSE_MS;
    if (nextMs <= 0) return released > 0 ? SHORTEST_PAUSE_MS : RETRY_MS;
    return Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, nextMs));
  } catch (error) {
    logger.warn({ err: error }, "executions that are due could not be released; trying again");
    return RETRY_MS;
  }
}
