import { USAGE_LOCK } from "../../postgres/locks.ts";
import type { Database } from "../../postgres/database.ts";
import { USAGE_KEYS, USAGE_SUMS, selectUsage } from "../executions/meter.ts";

/** Numbers of a line of usage, by the names of its columns. */
type UsageNumbers = Readonly<Record<(typeof USAGE_SUMS)[number], string>>;

/** A line of usage that the executions do not add up to. */
interface UsageDifference {
  /** YYYY-MM-DD. */
  readonly day: string;
  readonly organisationId: string;
  readonly ownerId: string;
  readonly versionId: string;
  readonly planId: string | null;
  /** What is kept as usage. */
  readonly kept: UsageNumbers;
  /** What the executions add up to. */
  readonly counted: UsageNumbers;
}

/** What a comparison of usage with executions has found. */
export interface UsageCheck {
  /** Days that could be compared: all their executions are still stored. */
  readonly days: number;
  /** Lines of usage on these days. */
  readonly lines: number;
  /** The first ones, by day. */
  readonly differences: readonly UsageDifference[];
}

const MOST_DIFFERENCES = 100;

/** An execution is stored by the day of its id, and counted by the day on which the database created it: clocks may differ. */
const WHOLE_DAYS = `select d.day from stored d
    where exists (select 1 from stored o where o.day = d.day - 1) and exists (select 1 from stored o where o.day = d.day + 1)`;

const sides = USAGE_SUMS.map(
  (name) => `coalesce(sum(${name}) filter (where is_kept), 0)::text as kept_${name},
      coalesce(sum(${name}) filter (where not is_kept), 0)::text as counted_${name}`,
);
const differs = USAGE_SUMS.map((name) => `kept_${name} <> counted_${name}`).join(" or ");
const pack = (side: string) =>
  `jsonb_build_object(${USAGE_SUMS.map((name) => `'${name}', ${side}_${name}`).join(", ")}) as ${side}`;

/**
 * CTEs that end with `line`: usage as it is kept and as the executions add up to, of the days that can be compared. In one statement, so
 * that it sees one moment: what ends meanwhile is on both sides or on neither.
 */
const LINES = `stored as materialized (
    select to_date(right(c.relname, 8), 'YYYYMMDD') as day from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'execution'::regclass and c.relname ~ '^execution_p[0-9]{8}$'
  ), whole as materialized (${WHOLE_DAYS}), both_sides as (
    select ${USAGE_KEYS}, ${USAGE_SUMS.join(", ")}, true as is_kept from usage_day
    union all select ${USAGE_KEYS}, ${USAGE_SUMS.join(", ")}, true from usage_entry
    union all select ${USAGE_KEYS}, ${USAGE_SUMS.join(", ")}, false from (${selectUsage("execution")}) executions
  ), line as materialized (
    select ${USAGE_KEYS}, ${sides.join(", ")} from both_sides where day in (select day from whole) group by ${USAGE_KEYS}
  )`;

const CHECK = `with ${LINES}
  select (select count(*)::int from whole) as days, (select count(*)::int from line) as lines, different.*
  from (select) once left join (
    select day::text, organisation_id as "organisationId", owner_id as "ownerId", version_id as "versionId",
      plan_id as "planId", ${pack("kept")}, ${pack("counted")}
    from line where ${differs} order by line.day, organisation_id, owner_id limit ${MOST_DIFFERENCES}
  ) different on true`;

type CheckRow = Pick<UsageCheck, "days" | "lines"> & (UsageDifference | { readonly day: null });

/** Counts usage again, from the executions that are still stored, and compares. It reads all of them, and changes nothing. */
export async function checkUsage(database: Pick<Database, "query">): Promise<UsageCheck> {
  const rows = await database.query<CheckRow>({ text: CHECK, idempotent: true });
  const [{ days, lines } = { days: 0, lines: 0 }] = rows;
  const differences = rows
    .filter((row) => row.day !== null)
    .map(({ days: _days, lines: _lines, ...difference }) => difference);
  return { days, lines, differences };
}

const isMore = USAGE_SUMS.map((name) => `kept_${name}::numeric > counted_${name}::numeric`).join(" or ");
const missing = USAGE_SUMS.map((name) => `counted_${name}::bigint - kept_${name}::bigint`).join(", ");

/**
 * Adds what is missing as new entries. Where a line of the same day, owner and version has more than its executions add up to, nothing is
 * added: usage may be kept under another plan there.
 */
const ADD = `with ${LINES}, doubtful as materialized (
    select distinct day, owner_id, version_id from line where ${isMore}
  ), added as (
    insert into usage_entry (${USAGE_KEYS}, ${USAGE_SUMS.join(", ")})
    select ${USAGE_KEYS}, ${missing} from line
    where (${differs}) and (day, owner_id, version_id) not in (select day, owner_id, version_id from doubtful)
    returning 1
  ) select count(*)::int as count from added`;

/**
 * Adds the usage of executions that a process ended which did not count it: one of a former release, during an upgrade. Returns how many
 * lines there were. Repeated, or done by several at once, it adds everything once: the lock is held until the commit, and what an earlier
 * holder has added is seen by the statement after it.
 */
export function addMissingUsage(database: Pick<Database, "transaction">): Promise<number> {
  return database.transaction(async (run) => {
    await run({ text: `select pg_advisory_xact_lock(${USAGE_LOCK})` });
    const [row] = await run<{ readonly count: number }>({ text: ADD });
    return row?.count ?? 0;
  });
}
