import { SECOND } from "../base/time.ts";
import type { Logger } from "../base/logger.ts";
import type { ExecutionStore } from "../store/execution-store.ts";

/** What has not begun by its deadline is claimed no more at once, and ends after so long at most. */
const EXPIRE_EVERY_MS = 2 * SECOND;

/** What is ended, and how a failure is logged. */
interface ExpirerOptions {
  readonly store: Pick<ExecutionStore, "expire">;
  readonly logger: Pick<Logger, "warn">;
}

/**
 * Ends executions that have not begun by the deadline of their start, from now on. Every process does, whatever its roles: what waits may do so
 * because no other is there. Returns a function that stops it and waits for a round under way.
 */
export function startExpirer({ store, logger }: ExpirerOptions): () => Promise<void> {
  let round: Promise<void> | null = null;
  const expire = async (): Promise<void> => {
    try {
      await store.expire();
    } catch (error) {
      logger.warn({ err: error }, "executions past the deadline of their start could not be ended");
    }
    round = null;
  };
  const timer = setInterval(() => (round ??= expire()), EXPIRE_EVERY_MS * (0.8 + 0.2 * Math.random()));
  return async () => {
    clearInterval(timer);
    await round;
  };
}
