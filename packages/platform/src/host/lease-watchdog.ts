import { Worker } from "node:worker_threads";
import { SECOND } from "@platform/engine/base/time";

/** The value for: nothing runs. */
const NO_DEADLINE = 0n;
const BEAT_MS = 50;
/** Past a deadline, an event loop without a heartbeat for this part of a lease counts as blocked. */
const PATIENCE = 0.1;

/** Kills this process when its event loop is blocked past a lease: others have then ended its executions as lost. */
export interface LeaseWatchdog {
  /** When the first lease must be given up, in milliseconds of the monotonic clock; null: nothing runs. */
  readonly setDeadline: (giveUpAt: number | null) => void;
  readonly close: () => Promise<void>;
}

/**
 * A separate thread checks the deadline and the event loop's heartbeat in shared memory. When the deadline has passed and
 * the heartbeat has stopped, it kills the process and with it every sandbox (bubblewrap dies with its parent). An event
 * loop that is not blocked ends late executions itself; after a pause of the process (SIGSTOP, a frozen container) it is
 * given the same time to do so.
 */
export function createLeaseWatchdog(leaseSeconds: number): LeaseWatchdog {
  const shared = new BigInt64Array(new SharedArrayBuffer(16));
  const thread = new Worker(new URL("./lease-watchdog-thread.ts", import.meta.url), {
    workerData: { shared, patienceMs: leaseSeconds * SECOND * PATIENCE },
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 },
  });
  thread.unref();
  const heart = setInterval(() => Atomics.add(shared, 1, 1n), BEAT_MS).unref();
  return {
    setDeadline: (giveUpAt) =>
      void Atomics.store(shared, 0, giveUpAt === null ? NO_DEADLINE : BigInt(Math.round(giveUpAt))),
    close: async () => {
      clearInterval(heart);
      await thread.terminate();
    },
  };
}
