import { formatTimestamp } from "@platform/contract/execution";
import { SECOND } from "../base/time.ts";
import type { ExecutionRecord, NewExecution } from "./execution-store.ts";

/*
 * An execution may have a deadline of its start: one that is PENDING then ends, whether it waits in the queue or is held, and is claimed no more.
 * Whatever was claimed before has begun in time: the deadline says nothing of its end, nor of further attempts. One that is given back, since
 * its code has not begun, is bound by it as before.
 */

/** Code of the failure of an execution that has not begun by the deadline of its start. */
export const START_DEADLINE_EXCEEDED = "START_DEADLINE_EXCEEDED";

/** What its detail says before the time, and after it. */
export const EXCEEDED_DETAIL = {
  before: "The execution had not begun by ",
  after: " UTC, the deadline of its start. User code did not begin, and never will.",
} as const;

/** When an execution must have begun, in milliseconds since the epoch; null: whenever it can. */
export function findStartBy(
  { startAt = -Infinity, startWithinSeconds }: Pick<NewExecution, "startAt" | "startWithinSeconds">,
  createdAt: number,
): number | null {
  if (startWithinSeconds === undefined) return null;
  return Math.max(createdAt, startAt) + startWithinSeconds * SECOND;
}

/** The deadline that ends the execution if it does not begin before, in milliseconds since the epoch; null: none does. */
export function getStartBy({
  status,
  attempts = [],
  startBy,
}: Pick<ExecutionRecord, "status" | "attempts" | "startBy">): number | null {
  return status === "PENDING" && attempts.length === 0 ? (startBy ?? null) : null;
}

/** Why an execution has failed that had not begun by then. */
export function describeExceeded(startBy: number): NonNullable<ExecutionRecord["failure"]> {
  const { before, after } = EXCEEDED_DETAIL;
  return { code: START_DEADLINE_EXCEEDED, detail: `${before}${formatTimestamp(startBy)}${after}` };
}
