import { Worker } from "node:worker_threads";
import { SECOND } from "@platform/engine/base/time";

/** 0 means: nothing runs. */
const NO_DEADLINE = 0n;
const BEAT_MS = 50;
/** The event loop gives late executions up by itself; when it is past a deadline and silent for this part of a lease, it is taken for stuck. */
const PATIENCE = 0.1;

/** Ends this process when its event loop is stuck past a lease, so that nothing runs on that somebody else has settled. */
export interface LeaseWatchdog {
  /** Milliseconds on the monotonic clock; null when nothing runs. */
  readonly setDeadline: (giveUpAt: number | null) => void;
  readonly close: () => Promise<void>;
}

/**
 * A thread of its own looks at the deadline and at the event loop's heartbeat in shared memory; past the one and without the other the
 * process is killed, and with it every sandbox (bubblewrap dies with its parent). The event loop itself ends late executions before that,
 * as long as it turns: also after a pause (SIGSTOP, a frozen container), for which it is given the same time.
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
