import { selectEarlierMs } from "./attempts.ts";
import { IS_UNCOUNTED } from "./hold.ts";

/*
 * Usage is counted by the statement that ends executions, so each is counted once, whatever process is killed when: an
 * execution ends once. Rows are only added, one for all that ended together, so that no two statements wait for each
 * other; store/usage/roll-up.ts adds them up.
 */

/** SQL: the columns that tell lines of usage apart. */
export const USAGE_KEYS = "day, organisation_id, owner_id, version_id, plan_id";

/** SQL: the columns that are added up. */
export const USAGE_SUMS = ["succeeded", "failed", "unknown", "uncounted", "cpu_micros", "gb_micros"] as const;

/** What an execution may take besides its time limit: 2 minutes until its module is imported, 15 s to end. Rounded up. */
const OVERHEAD_SECONDS = 300;

/** SQL: what one attempt of a row `r` of `execution` could have run, in milliseconds. */
const MOST_MS = `(r.timeout_seconds + ${OVERHEAD_SECONDS}) * 1000::bigint`;

/**
 * SQL: how long a row `r` of `execution` has run, in milliseconds, with all attempts: each at least 0, at most what it could have run, since the
 * clock may have been set meanwhile, and an end may have waited for the database.
 */
const RAN_MS = `(least(${MOST_MS}, greatest(0, (extract(epoch from r.ended_at - r.started_at) * 1000)::bigint))
        + ${selectEarlierMs("r", MOST_MS)})`;

/** A line of usage for each row of `rows` that has ended. */
function selectUsageOfEach(rows: string): string {
  return `select (created_at at time zone 'UTC')::date as day, organisation_id, owner_id, version_id, (
        select t.plan_id from subscription_term t where t.subscription_id = r.owner_id and t.since <= r.created_at
        order by t.since desc limit 1
      ) as plan_id,
      (status = 'SUCCEEDED')::int as succeeded, (status = 'FAILED')::int as failed, (status = 'UNKNOWN')::int as unknown,
      is_uncounted::int as uncounted, case when is_uncounted then 0 else coalesce(cpu_micros, 0) end as cpu_micros,
      case when is_uncounted then 0 else memory_milli * ${RAN_MS} end as gb_micros
    from (select *, ${IS_UNCOUNTED} as is_uncounted from ${rows} where ended_at is not null) r`;
}

/**
 * SQL: lines of usage of the rows of `execution` in `rows`; those that have not ended are left out. What decides about day and plan is
 * when the execution was created: a month has the executions that its quota has.
 */
export function selectUsage(rows: string): string {
  return `select ${USAGE_KEYS}, ${USAGE_SUMS.map((name) => `sum(${name})::bigint as ${name}`).join(", ")}
    from (${selectUsageOfEach(rows)}) each group by ${USAGE_KEYS}`;
}

const ADD_USAGE = `insert into usage_entry (${USAGE_KEYS}, ${USAGE_SUMS.join(", ")})`;

/** CTE: counts those of `ended` (rows of execution) that have ended. */
export const COUNT_USAGE = `metered as (
    ${ADD_USAGE} ${selectUsage("ended")}
  )`;

/** The same where `ended` has one row at most: a shorter plan. */
export const COUNT_USAGE_ONE = `metered as (
    ${ADD_USAGE} ${selectUsageOfEach("ended")}
  )`;
