import type { RequestOf } from "../api/client.ts";
import { parseTimestamp } from "../util/times.ts";
import { many, oneOf, search, text, time, whole } from "../util/url-state.ts";

/** The filter of executions as it stands in the URL, and what is open on their page. */
export const executionsSearch = search({
  kind: oneOf("job", "outgoing", "incoming"),
  status: many("PENDING", "RUNNING", "SUCCEEDED", "FAILED", "UNKNOWN"),
  service: text(),
  version: text(),
  application: text(),
  code: text(),
  after: time(),
  before: time(),
  min: whole(999_999_999),
  q: text(),
  cancel: oneOf("all"),
});

/** What the URL says. */
export type ExecutionsSearch = ReturnType<typeof executionsSearch>;

/** The filter as the platform takes it. */
export type ExecutionFilter = Omit<NonNullable<RequestOf<"listExecutions">["query"]>, "limit" | "cursor">;

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/iu;
const VERSION = /^(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})$/u;
/** The most characters of a code or a text that is searched for. */
const MAX_WORD = 100;

/** What the platform would refuse is left out: a broken link shows more, and no error. */
export function toFilter(given: ExecutionsSearch): ExecutionFilter {
  const filter = {
    kind: given.kind,
    status: given.status && [...given.status],
    serviceKey: keepIf(UUID, given.service),
    version: keepIf(VERSION, given.version),
    applicationId: keepIf(UUID, given.application),
    code: given.code?.slice(0, MAX_WORD),
    createdAfter: given.after,
    createdBefore: given.before,
    minRanMs: given.min === 0 ? undefined : given.min,
    q: given.q?.slice(0, MAX_WORD),
  };
  return Object.fromEntries(
    Object.entries(filter).filter(([, value]) => value !== undefined),
  ) as ExecutionFilter;
}

function keepIf(pattern: RegExp, value: string | undefined): string | undefined {
  return value !== undefined && pattern.test(value) ? value : undefined;
}

/** The parameters that filter, all taken out. */
export const NO_FILTER = {
  kind: undefined,
  status: undefined,
  service: undefined,
  version: undefined,
  application: undefined,
  code: undefined,
  after: undefined,
  before: undefined,
  min: undefined,
  q: undefined,
} as const satisfies Partial<Record<keyof ExecutionsSearch, undefined>>;

/** Whether anything is filtered but the kind, which has tabs. */
export function isFiltered(given: ExecutionsSearch): boolean {
  return Object.keys(toFilter(given)).some((name) => name !== "kind");
}

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
  if (filter.createdAfter === undefined)
    return { by: "hour", from: floor(to - DAY, HOUR), to: ceil(to, HOUR), filter };
  const after = parseTimestamp(filter.createdAfter);
  if (to - after <= MOST_HOURS * HOUR)
    return { by: "hour", from: floor(Math.min(after, to), HOUR), to: ceil(to, HOUR), filter };
  if (to - after <= MOST_DAYS * DAY) return { by: "day", from: floor(after, DAY), to: ceil(to, DAY), filter };
  const from = floor(to - MOST_DAYS * DAY, DAY);
  return { by: "day", from, to: ceil(to, DAY), filter: { ...filter, createdAfter: toTimestamp(from) } };
}

const floor = (time: number, step: number) => Math.floor(time / step) * step;
const ceil = (time: number, step: number) => Math.max(Math.ceil(time / step) * step, step);

/** A time as on the wire. */
export function toTimestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 19).replace("T", " ");
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
    const found = byKey.get(toTimestamp(at).slice(0, length)) ?? [];
    buckets.push({
      from: toTimestamp(at),
      to: toTimestamp(at + step),
      total: found.reduce((sum, { count }) => sum + count, 0),
      counts: Object.fromEntries(found.map(({ status, count }) => [status, count])),
    });
  }
  return buckets;
}
