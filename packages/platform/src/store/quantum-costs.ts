import { formatDecimal, parseDecimal } from "../base/decimal.ts";
import type { Decimal } from "../base/decimal.ts";
import { FAILED_BY_PLATFORM } from "./executions/hold.ts";

/*
 * What a quantum job costs: in full if it completes; otherwise the seconds that it has run, since nobody knows how many of its shots were done; nothing if
 * its code never began, or the platform is to blame. Seconds are those between its start and its end, at most its time limit, so that it never costs more
 * than its bound. The same in two languages: a job is shown without a query, and a budget is counted where the executions are.
 */

/** Of executions whose code has never begun. */
export const NEVER_BEGAN: readonly string[] = [
  "STARTUP_ERROR",
  "NOT_STARTED",
  "START_DEADLINE_EXCEEDED",
  "DATA_REFERENCE_UNAVAILABLE",
];

const FREE_CODES: readonly string[] = [...new Set([...NEVER_BEGAN, ...FAILED_BY_PLATFORM])];

/** What a job was started for: prices as decimal texts. */
export interface JobTerms {
  readonly currency: string;
  readonly perJob: string;
  readonly perShot: string;
  readonly perSecond: string;
  /** Of all its circuits and sets of parameters. */
  readonly shots: number;
  readonly timeoutSeconds: number;
}

/** What of an execution decides about its cost; times in milliseconds since the epoch. */
interface Ended {
  readonly status: string;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly failure: { readonly code: string } | null;
}

/** Parts of a cost. */
interface Parts {
  /** If it completes. */
  readonly fixed: Decimal;
  readonly perSecond: Decimal;
}

/** @throws Error where the text is no decimal number, which what is stored always is */
function requireDecimal(text: string): Decimal {
  const value = parseDecimal(text);
  if (value === null) throw new Error(`${text} is no decimal number`);
  return value;
}

function findParts({ perJob, perShot, perSecond, shots }: JobTerms): Parts {
  return {
    fixed: requireDecimal(perJob) + requireDecimal(perShot) * BigInt(shots),
    perSecond: requireDecimal(perSecond),
  };
}

const ofMilliseconds = (perSecond: Decimal, ms: number): Decimal => (perSecond * BigInt(ms)) / 1000n;

/** What a job that completes after so many milliseconds costs. */
export function priceRun(terms: JobTerms, ms: number): Decimal {
  const { fixed, perSecond } = findParts(terms);
  return fixed + ofMilliseconds(perSecond, Math.min(Math.max(0, ms), terms.timeoutSeconds * 1000));
}

/** What it can cost at most: with all of its time limit. */
export function findBound(terms: JobTerms): Decimal {
  return priceRun(terms, terms.timeoutSeconds * 1000);
}

/** What a job has cost; null: it has not ended. */
export function findCost(terms: JobTerms, { status, startedAt, endedAt, failure }: Ended): string | null {
  if (endedAt === null) return null;
  const isFree = startedAt === null || (failure !== null && FREE_CODES.includes(failure.code));
  if (isFree) return "0";
  const whole = priceRun(terms, endedAt - startedAt);
  return formatDecimal(status === "SUCCEEDED" ? whole : whole - findParts(terms).fixed);
}

/** What a budget holds for a job, as decimal texts. */
export function describeCharge(terms: JobTerms): {
  readonly bound: string;
  readonly fixed: string;
  readonly perSecond: string;
} {
  const { fixed, perSecond } = findParts(terms);
  return {
    bound: formatDecimal(findBound(terms)),
    fixed: formatDecimal(fixed),
    perSecond: formatDecimal(perSecond),
  };
}

/** SQL: what the execution `e` has cost of which the charge `c` is; 0 where there is none. */
export const COST_OF_ENDED = `case when e.id is null or e.failure_code in (${FREE_CODES.map((code) => `'${code}'`).join(", ")}) or e.started_at is null then 0
    else case when e.status = 'SUCCEEDED' then c.fixed else 0 end
      + c.per_second * least(c.timeout_seconds, greatest(0, extract(epoch from e.ended_at - e.started_at))) end`;
