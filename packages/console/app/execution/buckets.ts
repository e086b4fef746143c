import { formatTimestamp, parseTimestamp } from "../util/times.ts";
import type { ExecutionFilter } from "./filter.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Longer periods are counted by day. */
const MOST_HOURS = 72;
/** The platform counts no longer period by day. */
const MOST_DAYS = 365;

/** What the histogram counts. */
export interface Period {
  readonly by: "hour" | "day";
  /** Milliseconds since the Unix epoch, of the first bucket. */
  readonly from: number;
  /** Of the end of the last one. */
  readonly to: number;
  readonly filter: ExecutionFilter;
}

/** By hour of the last day, unless the filter names a period. */
export function choosePeriod(filter: ExecutionFilter, now: number): Period {
  const to = Math.min(filter.createdBefore === undefined ? now : parseTimestamp(filter.createdBefore), now);
  if (filter.createdAfter === undefined) return { by: "hour", ...toWhole(to - DAY, to, HOUR), filter };
  const after = parseTimestamp(filter.createdAfter);
  if (to - after <= MOST_HOURS * HOUR)
    return { by: "hour", ...toWhole(Math.min(after, to), to, HOUR), filter };
  if (to - after <= MOST_DAYS * DAY) return { by: "day", ...toWhole(after, to, DAY), filter };
  const { from, to: end } = toWhole(to - MOST_DAYS * DAY, to, DAY);
  return { by: "day", from, to: end, filter: { ...filter, createdAfter: formatTimestamp(from) } };
}

/** The whole hours or days that the period is in: at least one. */
function toWhole(from: number, to: number, step: number): Pick<Period, "from" | "to"> {
  const begin = Math.floor(from / step) * step;
  return { from: begin, to: Math.max(Math.ceil(to / step) * step, begin + step) };
}

/** Executions that were created within one hour or day. */
export interface Bucket {
  /** As on the wire. */
  readonly from: string;
  readonly to: string;
  readonly total: number;
  readonly counts: Readonly<Partial<Record<string, number>>>;
}

interface Counted {
  readonly key: string;
  readonly status: string;
  readonly count: number;
}

/** All hours or days of a period, also those without an execution. */
export function toBuckets({ by, from, to }: Period, counted: readonly Counted[]): readonly Bucket[] {
  const step = by === "hour" ? HOUR : DAY;
  const length = by === "hour" ? 13 : 10;
  const byKey = new Map<string, Counted[]>();
  for (const one of counted) {
    const key = one.key.slice(0, length);
    byKey.set(key, [...(byKey.get(key) ?? []), one]);
  }
  const buckets: Bucket[] = [];
  for (let at = from; at < to; at += step) {
    const found = byKey.get(formatTimestamp(at).slice(0, length)) ?? [];
    buckets.push({
      from: formatTimestamp(at),
      to: formatTimestamp(at + step),
      total: found.reduce((sum, { count }) => sum + count, 0),
      counts: Object.fromEntries(found.map(({ status, count }) => [status, count])),
    });
  }
  return buckets;
}
