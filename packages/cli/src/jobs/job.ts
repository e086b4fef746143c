import { WAITING_REASONS } from "@platform/contract/execution";
import type { ExecutionResult } from "@platform/contract/execution";
import { SECOND } from "@platform/engine/base/time";
import type { Output } from "../base/output.ts";
import { cleanText } from "../base/output.ts";
import type { PlatformClient } from "../base/session.ts";
import { pause, retryRead } from "../base/wait.ts";
import { streamJob } from "./stream-job.ts";

/** State of a job. */
export type Job = Awaited<ReturnType<PlatformClient["getJob"]>>;

/** How long the platform may delay the response to one request until the job ends (`Prefer: wait`). */
const HOLD_SECONDS = 20;
/** Shortest time between two requests, for platforms that do not delay the response. */
const SHORTEST_POLL = 0.5 * SECOND;

/** How to wait for a job. */
export interface WaitOptions {
  readonly signal: AbortSignal;
  /** May be infinite. */
  readonly timeoutSeconds: number;
  /** Called with each state that was read, including the last. */
  readonly onState?: (job: Job) => void;
}

/**
 * Waits until a job ends and returns its final state. Returns the last known state if the timeout expires or `signal` aborts
 * before that.
 *
 * @throws RequestRefused and network errors, temporary ones after retries
 */
export async function waitForJob(client: PlatformClient, id: string, options: WaitOptions): Promise<Job> {
  const { signal, timeoutSeconds, onState } = options;
  const deadline = Date.now() + timeoutSeconds * SECOND;
  const streamed = await watchJob(client, id, options);
  if (streamed !== null && (streamed.terminal || Date.now() >= deadline)) return streamed;
  for (;;) {
    const asked = Date.now();
    const hold = Math.max(1, Math.min(HOLD_SECONDS, Math.ceil((deadline - asked) / SECOND)));
    const job = await retryRead(() => client.getJob({ params: { id }, prefer: `wait=${hold}` }), signal);
    onState?.(job);
    if (job.terminal || signal.aborted || Date.now() >= deadline) return job;
    await pause(Math.max(0, SHORTEST_POLL - (Date.now() - asked)), signal);
  }
}

/** The longest that a timer counts; who waits for longer polls in the end. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The last state that the stream of events has shown until the job ended, the timeout expired or `signal` aborted; null: none. */
async function watchJob(
  client: PlatformClient,
  id: string,
  { signal, timeoutSeconds, onState }: WaitOptions,
): Promise<Job | null> {
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  signal.addEventListener("abort", leave);
  const timer = setTimeout(leave, Math.min(timeoutSeconds * SECOND, LONGEST_TIMER_MS));
  let last: Job | null = null;
  try {
    if (signal.aborted) return null;
    for await (const event of streamJob(client, id, leaving.signal)) {
      if (event.type === "state") last = event.job;
      else if (event.type === "progress" && last !== null) last = withProgress(last, event.progress);
      else continue;
      onState?.(last);
    }
    return last;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", leave);
  }
}

/** Why a job did not succeed, as its result says. */
export type FailureCause = Pick<ExecutionResult, "code" | "detail">;

/** Prints state and times of a job, and why it did not succeed. */
export function printStatus(output: Output, job: Job, { code, detail }: FailureCause): void {
  output.print(`Job      ${job.id}`);
  output.print(`Status   ${paintStatus(output, job.status)}`);
  if (code !== undefined) output.print(`Code     ${cleanText(code)}`);
  if (detail !== undefined) output.print(`Detail   ${cleanText(detail)}`);
  if (job.progress !== undefined) printProgress(output, job.progress);
  if (job.waiting !== undefined) output.print(`Waiting  ${describeWaiting(job.waiting)}`);
  if (job.startBy !== undefined) output.print(`Begins   by ${job.startBy}, or fails`);
  for (const attempt of job.attempts ?? []) output.print(`Attempt  ${describeAttempt(attempt)}`);
  output.print(`Created  ${job.createdAt}`);
  if (job.startedAt !== undefined) output.print(`Started  ${job.startedAt}`);
  if (job.lease !== undefined) output.print(`Lease    until ${job.lease.until}`);
  if (job.endedAt !== undefined) output.print(`Ended    ${job.endedAt}`);
  if (job.sandboxLevel !== undefined) output.print(`Sandbox  level ${job.sandboxLevel}`);
  printExpiry(output, job);
}

function printExpiry(output: Output, { expiresAt, logExpiresAt }: Job): void {
  if (expiresAt !== undefined) output.print(`Expires  ${expiresAt}`);
  if (logExpiresAt !== undefined) output.print(`Log until ${logExpiresAt}`);
}

function printProgress(output: Output, progress: NonNullable<Job["progress"]>): void {
  output.print(`Progress ${describeProgress(progress)} (${progress.at})`);
  if (progress.checkpointAt !== undefined) output.print(`Partial  kept at ${progress.checkpointAt}`);
}

/** `1: CONNECTION_ERROR: no answer (2026-11-24 10:00:00 to 2026-11-24 10:00:02)`. */
function describeAttempt({
  attempt,
  startedAt,
  endedAt,
  code,
  detail,
}: NonNullable<Job["attempts"]>[number]): string {
  const cause = [code, detail].filter((text) => text !== undefined).map(cleanText);
  const times = endedAt === undefined ? `since ${startedAt}` : `${startedAt} to ${endedAt}`;
  return [`${attempt}:`, ...(cause.length === 0 ? [] : [cause.join(": ")]), `(${times})`].join(" ");
}

function withProgress(job: Job, progress: Job["progress"]): Job {
  return progress === undefined ? job : Object.assign({}, job, { progress });
}

const BAR_CELLS = 20;

/** `[#####               ] 25 % loading`. */
export function describeProgress({ fraction, message = "" }: NonNullable<Job["progress"]>): string {
  if (fraction === undefined) return "not reported";
  const filled = Math.floor(Math.min(1, Math.max(0, fraction)) * BAR_CELLS);
  const bar = `[${"#".repeat(filled)}${" ".repeat(BAR_CELLS - filled)}] ${Math.floor(fraction * 100)} %`;
  return message === "" ? bar : `${bar} ${cleanText(message)}`;
}

/** `QUEUE: it waits for its turn, or for free capacity; 12 before it, starts in about 30 s`. A newer platform may send reasons that this version does not know. */
export function describeWaiting({ reason, position, estimateSeconds }: NonNullable<Job["waiting"]>): string {
  const meaning = Object.entries(WAITING_REASONS).find(([known]) => known === reason)?.[1];
  const what = meaning === undefined ? cleanText(reason) : `${reason}: ${meaning}`;
  const when = [
    ...(position === undefined ? [] : [`${position} before it`]),
    ...(estimateSeconds === undefined ? [] : [`starts in about ${estimateSeconds} s`]),
  ];
  return when.length === 0 ? what : `${what}; ${when.join(", ")}`;
}

/** Colours a status: green for success, red for failure. */
export function paintStatus(output: Output, status: string): string {
  if (status === "SUCCEEDED") return output.paint("green", status);
  return status === "FAILED" || status === "UNKNOWN" ? output.paint("red", status) : status;
}

/** The final state in a response of the result operation. */
export function getFinalStatus(answer: ExecutionResult): string {
  const { _embedded: embedded } = answer;
  return embedded.status.status;
}

/** Describes a job that did not succeed: `FAILED: TIMEOUT: ...`. */
export function describeFailure(answer: ExecutionResult): string {
  return cleanText(
    [getFinalStatus(answer), answer.code, answer.detail].filter((part) => part !== undefined).join(": "),
  );
}
