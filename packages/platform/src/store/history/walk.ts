import { readMonotonic } from "@platform/engine/base/monotonic";
import { DAY, MINUTE, SECOND } from "@platform/engine/base/time";
import { getLowestUuid, isUuid, readUuidTime } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";
import { OWNERS, listStatuses, toOwnerValues } from "./scope.ts";
import type { Asker, HistoryFilter } from "./scope.ts";

/*
 * Executions of many owners, newest first, with no index but that of owner, state and id. A step looks at a span of ids (some days, since
 * tables are partitioned by day), and in it at the newest `depth` of each list: each pair of owner and state has one in either table. Where a
 * list has more, what is older than its last one is not known yet, so the step ends at the newest such place, and the next one goes on from
 * there. So a step reads at most `depth` rows of each list, and is right whichever list has most.
 *
 * What is bounded: how many lists times days a step asks (PROBES), how many rows it reads, and the rows and the time of all steps of a
 * request. Whoever wants more goes on with the place at which it ended.
 */

/** Lists times days of one step: an empty one costs a look into an index, about 1 µs. */
const PROBES = 100_000;
/** Time after which a request begins no further step. */
const PATIENCE_MS = 1 * SECOND;
/** How much the clocks of a process (ids) and the database (created_at) may differ without an execution being missed. */
const CLOCK_SLACK = 5 * MINUTE;
const LOWEST_ID = "00000000-0000-0000-0000-000000000000";
const HIGHEST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";
/** More than any platform keeps executions. */
const ALL_DAYS = 4_000;

/** What bounds a walk. */
interface WalkLimits {
  /** Rows of all steps. */
  readonly mostRows: number;
  /** Rows of one step, if it has but few lists. */
  readonly stepRows: number;
  /** The fewest rows of each list. */
  readonly minDepth: number;
}

/** What a step is asked with, and what it has found. */
interface Step {
  /** Values of SEEN, from $1 to $8. */
  readonly values: readonly unknown[];
}

/** What each row of a step's answer has besides. */
export interface StepRow {
  /** Rows that the step has looked at. */
  readonly looked: number;
  /** Lowest id that was looked at, if there is more in the span. */
  readonly edge: string | null;
}

/** Where a walk has ended. `goOn`: the id below which there may be more, null: there is none. */
export interface WalkEnd {
  readonly goOn: string | null;
}

const describePart = (table: string) => `(
      select e.*, row_number() over () as place from (
        select e.id, e.owner_id, e.version_id, e.status, e.created_at, e.started_at, e.ended_at, e.failure_code from ${table} e
        where (e.owner_id, e.status, e.id) >= (owner.id, wanted.status, $6::uuid)
          and (e.owner_id, e.status, e.id) < (owner.id, wanted.status, $7::uuid)
          and e.id >= $6::uuid and e.id < $7::uuid
        order by e.owner_id desc, e.status desc, e.id desc limit $8
      ) e
    )`;

/**
 * CTEs: `seen`, the rows that a step looks at, `edge`, where it ends (null: with its span), and `inside`, those that are not older than
 * that. While a day is being closed, an execution is in both tables: each can be there twice. Parameters: those of OWNERS, $5 the states, $6 and $7 the
 * span of ids, $8 the depth. The conditions compare three columns as a row for the reason in executions/read.ts.
 */
export const SEEN = `${OWNERS}, seen as materialized (
    select e.* from owner cross join unnest($5::text[]) as wanted (status) cross join lateral (
      ${describePart("execution")} union all ${describePart("kept_execution")}
    ) e
  ), edge as materialized (
    select (select id from seen where place = $8 order by id desc limit 1) as id
  ), inside as materialized (
    select distinct on (seen.id) seen.* from seen, edge where edge.id is null or seen.id >= edge.id order by seen.id desc
  )`;

/** SQL: the columns of a StepRow. */
export const STEP_COLUMNS = `(select count(*) from inside)::int as looked, (select id from edge) as edge`;

/** Bounds the lists that a walk can have: more are not counted. */
const MOST_LISTS = 1_000_000;

const COUNT_OWNERS = `with ${OWNERS} select (select count(*) from (select 1 from owner limit ${MOST_LISTS}) o)::int as owners,
    (select id from execution order by id limit 1) as oldest, (select id from kept_execution order by id limit 1) as "oldestKept"`;

/** A walk over the executions that match, as far as indexes decide it; the rest is decided by `read`. */
export interface Walk {
  readonly database: Pick<Database, "query">;
  readonly asker: Asker;
  readonly filter: HistoryFilter;
  /** Only ids below this one; undefined: all. */
  readonly before?: string | undefined;
  readonly limits: WalkLimits;
  /** Reads a step. True: that is enough. */
  readonly read: (step: Step) => Promise<StepRow & { readonly isEnough: boolean }>;
}

/** Goes back in time until there is enough, or nothing more, or a limit is reached. */
export async function walk({ database, asker, filter, before, limits, read }: Walk): Promise<WalkEnd> {
  const ownerValues = toOwnerValues(asker, filter);
  const statuses = listStatuses(filter);
  const extent = await measure(database, ownerValues, statuses.length);
  const span = findSpan(filter, before);
  if (extent.lists === 0 || extent.oldest === null) return { goOn: null };
  const lowest = span.lowest > extent.oldest ? span.lowest : extent.oldest;
  const depth = Math.max(limits.minDepth, Math.floor(limits.stepRows / extent.lists));
  const days = Math.max(1, Math.floor(PROBES / extent.lists));
  const begun = readMonotonic();
  let [highest, rows, isFirst] = [span.highest, 0, true];
  while (highest > lowest) {
    // What is wanted most is of today: one partition instead of all.
    const low = findLow(highest, lowest, isFirst ? 1 : days);
    isFirst = false;
    const step = await read({ values: [...ownerValues, statuses, low, highest, depth] });
    const end = step.edge ?? low;
    if (step.isEnough) return { goOn: end };
    rows += step.looked;
    highest = end;
    const isOver = rows >= limits.mostRows || readMonotonic() - begun > PATIENCE_MS;
    if (isOver && highest > lowest) return { goOn: highest };
  }
  return { goOn: null };
}

interface Extent {
  /** In either table; 0: there is nothing to look at. */
  readonly lists: number;
  /** The oldest id of all executions that are kept; null: there are none. */
  readonly oldest: string | null;
}

async function measure(
  database: Pick<Database, "query">,
  values: readonly unknown[],
  statuses: number,
): Promise<Extent> {
  const [row] = await database.query<{
    readonly owners: number;
    readonly oldest: string | null;
    readonly oldestKept: string | null;
  }>({ name: "history-owners", text: COUNT_OWNERS, values, idempotent: true });
  const { owners = 0, oldest = null, oldestKept = null } = row ?? {};
  const [first] = [oldest, oldestKept].filter((id) => id !== null).toSorted();
  return { lists: owners * statuses, oldest: first ?? null };
}

function findSpan(filter: HistoryFilter, before: string | undefined) {
  const { createdAfter, createdBefore, q } = filter;
  const lows = [LOWEST_ID];
  const highs = [HIGHEST_ID];
  if (createdAfter !== undefined) lows.push(getLowestUuid(createdAfter - CLOCK_SLACK));
  if (createdBefore !== undefined) highs.push(getLowestUuid(createdBefore + CLOCK_SLACK));
  if (before !== undefined) highs.push(before.toLowerCase());
  if (q !== undefined && isUuid(q)) {
    lows.push(q.toLowerCase());
    highs.push(nextId(q.toLowerCase()));
  }
  return { lowest: lows.toSorted().at(-1) ?? LOWEST_ID, highest: highs.toSorted()[0] ?? HIGHEST_ID };
}

/** The id that follows in order. */
function nextId(id: string): string {
  const next = BigInt(`0x${id.replaceAll("-", "")}`) + 1n;
  const hex = next.toString(16).padStart(32, "0");
  if (hex.length > 32) return HIGHEST_ID;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The lower end of the next step. */
function findLow(highest: string, lowest: string, days: number): string {
  if (days >= ALL_DAYS) return lowest;
  const time = Math.min(readTime(highest), Date.now() + DAY);
  const low = getLowestUuid(time - days * DAY);
  return low > lowest ? low : lowest;
}

/** Of an id that need not be a UUIDv7: the bounds of spans are none. */
function readTime(id: string): number {
  return readUuidTime(id) ?? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}
