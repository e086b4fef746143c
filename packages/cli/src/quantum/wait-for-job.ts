import { JOB_STATES } from "@platform/contract/quantum-api/jobs";
import type { QuantumJob } from "@platform/contract/quantum-api/jobs";
import { SECOND } from "@platform/engine/base/time";
import type { CommandContext } from "../base/context.ts";
import { createInterruption } from "../base/errors.ts";
import type { QuantumClient } from "../base/session.ts";
import { pause, retryRead } from "../base/wait.ts";

/** How long the platform may delay one answer. */
const HOLD_SECONDS = 20;
const FINAL: ReadonlySet<string> = new Set(JOB_STATES.slice(2));

/** Whether a job has ended. */
export function hasEnded({ status }: Pick<QuantumJob, "status">): boolean {
  return FINAL.has(status);
}

/** How to wait for a job. */
interface Waiting {
  /** What it is called while it is waited for. */
  readonly what: string;
  /** What is said of it when the waiting is interrupted. */
  readonly onInterrupt: string;
  /** May be infinite. */
  readonly timeoutSeconds: number;
}

/**
 * Waits until a job ends, and shows that; returns its last known state where the timeout expires before.
 *
 * @throws UserError INTERRUPTED; RequestRefused and network errors, temporary ones after retries
 */
export async function waitForQuantumJob(
  { output, signal }: Pick<CommandContext, "output" | "signal">,
  quantum: QuantumClient,
  started: QuantumJob,
  { what, onInterrupt, timeoutSeconds }: Waiting,
): Promise<QuantumJob> {
  const deadline = Date.now() + timeoutSeconds * SECOND;
  const progress = output.startProgress(what);
  let job = started;
  try {
    while (!hasEnded(job) && Date.now() < deadline) {
      const asked = Date.now();
      const hold = Math.max(1, Math.min(HOLD_SECONDS, Math.ceil((deadline - asked) / SECOND)));
      const ask = () => quantum.getQuantumJob({ params: { id: started.id }, prefer: `wait=${hold}` });
      const { status } = job;
      job = await retryRead(ask, signal);
      if (job.status !== status) progress.step(`${what}: ${job.status}`);
      // The preference may not be applied.
      if (!hasEnded(job)) await pause(asked + SECOND - Date.now(), signal);
      if (signal.aborted) throw createInterruption(onInterrupt);
    }
    return job;
  } catch (error) {
    throw signal.aborted ? createInterruption(onInterrupt) : error;
  } finally {
    progress.stop();
  }
}

/** What can be done about a job that is waited for no longer. */
export function describeNextSteps({ id }: Pick<QuantumJob, "id">): string {
  return `The job continues. Use 'platform quantum result ${id}' for its end, and 'platform quantum cancel ${id}' to cancel it.`;
}
