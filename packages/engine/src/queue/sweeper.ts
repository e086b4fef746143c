import { SECOND } from "../base/time.ts";
import type { Logger } from "../base/logger.ts";
import type { ExecutionStore } from "../store/execution-store.ts";

/** Sweeps in one lease: what a vanished worker held is settled at the latest so much of a lease after its end. */
const SWEEPS_PER_LEASE = 10;

export interface SweeperOptions {
  readonly store: Pick<ExecutionStore, "sweep">;
  readonly leaseSeconds: number;
  readonly logger: Pick<Logger, "warn">;
  /** Logged with a count where something was swept; default: that of executions. */
  readonly message?: string;
}

/**
 * Settles what vanished processes held. For executions there is one in every process whatever its roles: the last worker may be the one
 * that is gone.
 */
export interface Sweeper {
  /** Resolves when a sweep under way has ended. */
  readonly close: () => Promise<void>;
}

/** Sweeps from now on. */
export function startSweeper({ store, leaseSeconds, logger, message }: SweeperOptions): Sweeper {
  let sweeping: Promise<void> | null = null;
  const sweep = async (): Promise<void> => {
    try {
      const count = await store.sweep();
      if (count > 0) logger.warn({ count }, message ?? "executions whose worker vanished are UNKNOWN");
    } catch (error) {
      logger.warn({ err: error }, "expired leases could not be swept");
    }
    sweeping = null;
  };
  const pauseMs = ((leaseSeconds * SECOND) / SWEEPS_PER_LEASE) * (0.8 + 0.2 * Math.random());
  const timer = setInterval(() => (sweeping ??= sweep()), pauseMs);
  return {
    close: async () => {
      clearInterval(timer);
      await sweeping;
    },
  };
}
