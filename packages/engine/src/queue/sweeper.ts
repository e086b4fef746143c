import { SECOND } from "../base/time.ts";
import type { Logger } from "../base/logger.ts";
import type { ExecutionStore } from "../store/execution-store.ts";

/** Sweeps per lease: items of a lost worker are settled at most a tenth of a lease after their lease has expired. */
const SWEEPS_PER_LEASE = 10;

/** What is swept, and how often: ten times per lease or a little more. */
export interface SweeperOptions {
  readonly store: Pick<ExecutionStore, "sweep">;
  readonly leaseSeconds: number;
  readonly logger: Pick<Logger, "warn">;
  /** Logged with a count when something was swept; default: the message for executions. */
  readonly message?: string;
  /** Called with each count. Missing: nobody adds them up. */
  readonly onSwept?: (count: number) => void;
}

/**
 * Settles the items of lost processes from now on. For executions, every process runs one whatever its roles, since the last worker may be
 * the one that is lost. Returns a function that stops it and waits for a sweep under way.
 */
export function startSweeper({
  store,
  leaseSeconds,
  logger,
  message,
  onSwept,
}: SweeperOptions): () => Promise<void> {
  let sweeping: Promise<void> | null = null;
  const sweep = async (): Promise<void> => {
    try {
      const count = await store.sweep();
      onSwept?.(count);
      if (count > 0) logger.warn({ count }, message ?? "executions of lost workers were settled");
    } catch (error) {
      logger.warn({ err: error }, "expired leases could not be swept");
    }
    sweeping = null;
  };
  const pauseMs = ((leaseSeconds * SECOND) / SWEEPS_PER_LEASE) * (0.8 + 0.2 * Math.random());
  const timer = setInterval(() => (sweeping ??= sweep()), pauseMs);
  return async () => {
    clearInterval(timer);
    await sweeping;
  };
}
