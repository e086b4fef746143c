import {
  MAX_ATTEMPTS,
  RETRY_HOURS,
  countAttempts,
  getBackoffSeconds,
  isRetried,
} from "@platform/contract/retries";
import type { StoredRetries } from "@platform/contract/retries";
import { HOUR, SECOND } from "../base/time.ts";
import type { Outcome } from "../python/port/runtime.ts";

/** An attempt that did not succeed and is followed by another; times in milliseconds since the epoch. */
export interface FailedAttempt {
  /** The first is 1. */
  readonly number: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly code: string;
  /** Shortened; empty where it was removed. */
  readonly detail: string;
}

/** How an attempt ended that did not succeed. */
export type FailedOutcome = Exclude<Outcome, { readonly status: "SUCCEEDED" }>;

/** Failure of an execution that was cancelled between two attempts. */
export const CANCELLED_BETWEEN = {
  code: "CANCELLED",
  detail: "The execution was cancelled before its next attempt began.",
} as const;

/** Details of attempts that are over are kept so far, in characters. */
export const MAX_ATTEMPT_DETAIL = 500;

/** The last attempt begins its pause at most so long after the first has begun. */
const RETRIED_FOR_MS = RETRY_HOURS * HOUR;

/** Of a claim: what decides about another attempt. */
interface Attempted {
  readonly retries?: StoredRetries | undefined;
  readonly attempts?: readonly FailedAttempt[] | undefined;
}

/** When the claimed attempt has begun, and what time it is; milliseconds since the epoch. */
interface AttemptTimes {
  readonly startedAt: number;
  readonly now: number;
}

/**
 * The pause in seconds after which an execution is to be started again whose attempt ended so; null: this is its end. Whoever knows that its
 * cancellation was requested does not ask.
 *
 * @param random from 0 to 1: how much of the pause is left out, up to a quarter
 */
export function chooseRetryPause(
  { retries, attempts = [] }: Attempted,
  outcome: Outcome,
  { startedAt, now }: AttemptTimes,
  random: number = Math.random(),
): number | null {
  if (retries === undefined || outcome.status === "SUCCEEDED") return null;
  const attempt = attempts.length + 1;
  if (outcome.status === "UNKNOWN") {
    if (outcome.isFinal === true) return null;
    // However long ago it began: what it waits for elsewhere may take days.
    if (retries.resumes === true) return attempt < MAX_ATTEMPTS ? 0 : null;
  }
  return chooseChosenPause({ retries, attempts }, outcome, { startedAt, now }, random);
}

/** The pause that its service has chosen. */
function chooseChosenPause(
  { retries, attempts }: { readonly retries: StoredRetries; readonly attempts: readonly FailedAttempt[] },
  outcome: FailedOutcome,
  { startedAt, now }: AttemptTimes,
  random: number,
): number | null {
  const attempt = attempts.length + 1;
  if (attempt >= countAttempts(retries) || !isRetried(retries, outcome.code)) return null;
  const pause = outcome.status === "UNKNOWN" ? 0 : getBackoffSeconds(retries, attempt) * (1 - 0.25 * random);
  const first = attempts[0]?.startedAt ?? startedAt;
  return now + pause * SECOND - first > RETRIED_FOR_MS ? null : pause;
}

/** Whether an execution is to be started again whose worker was lost. */
export function isRetriedWhenLost(attempted: Attempted, times: AttemptTimes): boolean {
  return chooseRetryPause(attempted, LOST, times) !== null;
}

const LOST: Outcome = { status: "UNKNOWN", code: "WORKER_LOST", detail: "" };

/** What the log says when another attempt begins; null: it is the first. */
export function describeAttempt({ retries, attempts = [] }: Attempted): string | null {
  const last = attempts.at(-1);
  if (last === undefined) return null;
  const most = retries === undefined || retries.resumes === true ? MAX_ATTEMPTS : countAttempts(retries);
  return `Attempt ${last.number + 1} of ${most} begins; attempt ${last.number} ended with ${last.code}.`;
}

/** Shortens the detail of an attempt to what is kept. */
export function cutDetail(detail: string): string {
  return detail.length <= MAX_ATTEMPT_DETAIL ? detail : `${detail.slice(0, MAX_ATTEMPT_DETAIL - 1)}…`;
}
