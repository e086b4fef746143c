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

/**
 * SQL: how long a row of `execution` has run, in milliseconds: at least 0, at most what it could have run, since the clock may have been
 * set meanwhile, and an end may have waited for the database.
 */
const RAN_MS = `least((timeout_seconds + ${OVERHEAD_SECONDS}) * 1000::bigint,
        greatest(0, (extract(epoch from ended_at - started_at) * 1000)::bigint))`;

/**
 * SQL: lines of usage of the rows of `execution` in `rows`; those that have not ended are left out. What decides about day and plan is
 * when the execution was created: a month has the executions that its quota has.
 */
export function selectUsage(rows: string): string {
  return `select ${USAGE_KEYS}, count(*) filter (where status = 'SUCCEEDED') as succeeded,
      count(*) filter (where status = 'FAILED') as failed, count(*) filter (where status = 'UNKNOWN') as unknown,
      count(*) filter (where is_uncounted) as uncounted,
      coalesce(sum(cpu_micros) filter (where not is_uncounted), 0)::bigint as cpu_micros,
      coalesce(sum(memory_milli * ${RAN_MS})
        filter (where not is_uncounted), 0)::bigint as gb_micros
    from (
      select (created_at at time zone 'UTC')::date as day, organisation_id, owner_id, version_id, status, cpu_micros,
        memory_milli, timeout_seconds, started_at, ended_at, ${IS_UNCOUNTED} as is_uncounted, (
          select t.plan_id from subscription_term t where t.subscription_id = r.owner_id and t.since <= r.created_at
          order by t.since desc limit 1
        ) as plan_id
      from ${rows} r where ended_at is not null
    ) counted group by ${USAGE_KEYS}`;
}

/** CTE: counts those of `ended` (rows of execution) that have ended. */
export const COUNT_USAGE = `metered as (
    insert into usage_entry (${USAGE_KEYS}, ${USAGE_SUMS.join(", ")}) ${selectUsage("ended")}
  )`;
