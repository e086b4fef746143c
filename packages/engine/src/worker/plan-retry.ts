import { SECOND } from "../base/time.ts";
import type { Run } from "../python/port/runtime.ts";
import { chooseRetryPause } from "../store/retry-rules.ts";
import type { FailedOutcome } from "../store/retry-rules.ts";
import type { Claim } from "../store/execution-store.ts";
import type { Ending } from "./claim-machine.ts";

/** Another attempt is to follow. */
export interface Retry {
  /** Of this one. */
  readonly outcome: FailedOutcome;
  readonly pauseSeconds: number;
}

/** What is known of a claim whose outcome is known. */
interface EndedClaim {
  readonly claim: Claim;
  /** Null: user code never began, as of `ranMs`. */
  readonly run: Pick<Run, "ended"> | null;
  readonly ranMs: number | null;
}

/** Processes of a run that take longer to end stay: another attempt must not run beside them, so there is none. */
const ENDED_WITHIN_MS = 30 * SECOND;

/**
 * Whether another attempt follows; null: this is the end. Waits until nothing of this attempt runs any more. Without a promise where the service
 * has chosen nothing, which is nearly always.
 */
export function planRetry(
  { claim, run, ranMs }: EndedClaim,
  ending: Ending,
  endedWithinMs = ENDED_WITHIN_MS,
): Retry | null | Promise<Retry | null> {
  if (claim.retries === undefined || ending.kind !== "outcome") return null;
  if (!("mayRetry" in ending) || !ending.mayRetry || ending.outcome.status === "SUCCEEDED") return null;
  const { outcome } = ending;
  const now = Date.now();
  const pauseSeconds = chooseRetryPause(claim, outcome, { startedAt: now - (ranMs ?? 0), now });
  if (pauseSeconds === null) return null;
  if (run === null) return { outcome, pauseSeconds };
  return waitFor(run.ended, endedWithinMs).then((isOver) => (isOver ? { outcome, pauseSeconds } : null));
}

async function waitFor(ended: Promise<void>, withinMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), withinMs);
  });
  return Promise.race([ended.then(() => true), late]).finally(() => clearTimeout(timer));
}
