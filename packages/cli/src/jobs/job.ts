import { PENDING_REASONS } from "@platform/contract/execution";
import type { ExecutionResult } from "@platform/contract/execution";
import { SECOND } from "@platform/engine/base/time";
import type { Output } from "../base/output.ts";
import { cleanText } from "../base/output.ts";
import type { PlatformClient } from "../base/session.ts";
import { pause, retryRead } from "../base/wait.ts";

export type Job = Awaited<ReturnType<PlatformClient["getJob"]>>;

/** How long one request waits for the end of a job. */
const HOLD_SECONDS = 20;
/** A platform that does not hold the answer is not asked more often than this. */
const SHORTEST_POLL = 0.5 * SECOND;

export interface WaitOptions {
  readonly signal: AbortSignal;
  readonly timeoutSeconds: number;
  /** Called with each record that was read, the last one included. */
  readonly onState?: (job: Job) => void;
}

/** Waits for the end of a job: the final record, or the last one seen when the time is over or `signal` aborted. */
export async function waitForJob(
  client: PlatformClient,
  id: string,
  { signal, timeoutSeconds, onState }: WaitOptions,
): Promise<Job> {
  const deadline = Date.now() + timeoutSeconds * SECOND;
  for (;;) {
    const asked = Date.now();
    const hold = Math.max(1, Math.min(HOLD_SECONDS, Math.ceil((deadline - asked) / SECOND)));
    const job = await retryRead(() => client.getJob({ params: { id }, prefer: `wait=${hold}` }), signal);
    onState?.(job);
    if (job.terminal || signal.aborted || Date.now() >= deadline) return job;
    await pause(Math.max(0, SHORTEST_POLL - (Date.now() - asked)), signal);
  }
}

/** Shows a job's state and times. */
export function printStatus(output: Output, job: Job): void {
  output.print(`Job      ${job.id}`);
  output.print(`Status   ${paintStatus(output, job.status)}`);
  if (job.pendingReason !== undefined) output.print(`Waits    ${describePendingReason(job.pendingReason)}`);
  output.print(`Created  ${job.createdAt}`);
  if (job.startedAt !== undefined) output.print(`Started  ${job.startedAt}`);
  if (job.endedAt !== undefined) output.print(`Ended    ${job.endedAt}`);
  if (job.expiresAt !== undefined) output.print(`Kept to  ${job.expiresAt}`);
}

/** A newer platform may give reasons that this program does not know. */
function describePendingReason(reason: string): string {
  const meaning = Object.entries(PENDING_REASONS).find(([known]) => known === reason)?.[1];
  return meaning === undefined ? reason : `${reason}: ${meaning}`;
}

export function paintStatus(output: Output, status: string): string {
  if (status === "SUCCEEDED") return output.paint("green", status);
  return status === "FAILED" || status === "UNKNOWN" ? output.paint("red", status) : status;
}

/** The final state that the answer of the result operation carries. */
export function getFinalStatus(answer: ExecutionResult): string {
  const { _embedded: embedded } = answer;
  return embedded.status.status;
}

/** `FAILED: TIMEOUT: ...`, from the answer of the result operation. */
export function describeFailure(answer: ExecutionResult): string {
  return cleanText(
    [getFinalStatus(answer), answer.code, answer.detail].filter((part) => part !== undefined).join(": "),
  );
}
