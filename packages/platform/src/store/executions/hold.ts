import { Problem } from "@platform/contract/problems";
import { SECOND } from "@platform/engine/base/time";
import { describeQuota } from "@platform/engine/store/quota";
import type { ExecutionQuota } from "@platform/engine/store/quota";
import { selectMilliseconds } from "../base/columns.ts";
import { THIS_MONTH } from "../base/quotas.ts";
import { ENDED_OWNERS } from "./ended-owners.ts";

/*
 * The SQL of caps and of executions at one time. An execution of a subscription that has such a limit is counted by the
 * statement that creates it, and settled by the statement that ends it, so each is counted once whatever process is killed
 * when. Other subscriptions have no row in `quota` while they are active, and change none. With a cap of executions only, an end changes nothing
 * unless the platform is to blame for it.
 *
 * Of CPU time, a start holds what executions of the subscription have taken lately; the end puts what was measured in its
 * place. A start is let through while anything is left: what is already running may take more than it holds,
 * which the number of executions at one time bounds: a plan with such a cap always has it.
 *
 * Rows of `quota` are locked in the order of their ids: two statements that change several never wait for each other.
 */

/** In a second. */
export const MICROSECONDS = 1e6;

/**
 * SQL: the month that a row `q` of `quota` counts. It never goes back: a statement that began in the last moment of a month may have
 * waited for one that began after it, whose count stays; it counts for the month that has begun as well.
 */
const COUNTED_MONTH = `greatest(q.month, ${THIS_MONTH})`;

/** SQL: a column of a row `q` of `quota` that counts a month: nothing once that is over. */
const countedNow = (column: string) => `case when q.month >= ${THIS_MONTH} then q.${column} else 0 end`;

/** SQL: rows `q` of `quota`, as they count now; a condition follows. */
export const SELECT_QUOTAS = `select q.subscription_id, ${COUNTED_MONTH} as month, q.cap, ${countedNow("used")} as used,
      q.cpu_cap, ${countedNow("cpu_used")} as cpu_used, q.cpu_expected, q.concurrent, q.unended
    from quota q`;

/**
 * SQL: when an execution was created that counts for `month` (null: for none): not in the month before, though its statement began there, so that
 * its usage is of the month that it counts for. Cut, since PostgreSQL rounds, also up to the next month.
 */
export const createdIn = (month: string): string =>
  `date_trunc('milliseconds', least(clock_timestamp(), greatest(now(), ${month}::timestamp at time zone 'UTC')))`;

/** SQL: how many more executions a row of SELECT_QUOTAS allows; null: any number. "least" ignores null. */
export const PLACES = `least(cap - used, concurrent - unended,
        case when cpu_used < cpu_cap then (cpu_cap - cpu_used - 1) / cpu_expected + 1 when cpu_cap is not null then 0 end)`;

/** SQL: how much CPU time each of these holds; null: it is not settled. */
export const CPU_HELD =
  "case when cpu_cap is not null then cpu_expected when concurrent is not null then 0 end";

/**
 * CTEs, after LOCK_OWNERS: the quotas of the owners in `input`, which has the columns owner_kind and owner_id, as a list, and in `room` as arrays: how many
 * more executions each may have (null: any number), and how much CPU time each of these holds (null: it is not settled). Arrays,
 * since lists would be joined in nested loops, the only joins of these connections (execution-store.ts). The rows are locked until the
 * statement has committed, so that no other adds to them, and are read as they are then.
 */
export const LOCK_QUOTAS = `quotas as materialized (
    ${SELECT_QUOTAS} where q.subscription_id = any (array(select distinct i.owner_id from input i where i.owner_kind = 'subscription'))
      and q.subscription_id <> all (${ENDED_OWNERS})
    order by q.subscription_id for no key update
  ), room as materialized (
    select array_agg(subscription_id) as owners, array_agg(month) as months, array_agg(${PLACES}) as places, array_agg(${CPU_HELD}) as holds
    from quotas
  )`;

const COUNT_ADDED = `update quota q set month = ${COUNTED_MONTH}, unended = q.unended + added.unended,
      used = ${countedNow("used")} + added.units, cpu_used = ${countedNow("cpu_used")} + added.cpu
    from added where q.subscription_id = added.owner_id`;

/** CTEs: count the rows of `created`, which has the columns owner_id, quota_month and cpu_held. */
export const HOLD = `added as materialized (
    select owner_id, count(*) as units, count(cpu_held) as unended, coalesce(sum(cpu_held), 0)::bigint as cpu
    from created where quota_month is not null group by owner_id
  ), held as (
    ${COUNT_ADDED}
  )`;

/** The same where `created` has one row at most: a shorter plan. */
export const HOLD_ONE = `added as (
    select owner_id, 1 as units, num_nonnulls(cpu_held) as unended, coalesce(cpu_held, 0) as cpu
    from created where quota_month is not null
  ), held as (
    ${COUNT_ADDED}
  )`;

/** SQL: the columns of a QuotaRow, from SELECT_QUOTAS. */
export const QUOTA_COLUMNS = `subscription_id as "ownerId", cap::float8 as cap, used::float8 as used, cpu_cap::float8 as "cpuCap",
  cpu_used::float8 as "cpuUsed", cpu_expected::float8 as "cpuExpected", concurrent, unended,
  ${selectMilliseconds("((month + interval '1 month') at time zone 'UTC')")} as "renewsAt",
  ${selectMilliseconds("now()")} as now`;

/** SQL: nulls in place of QUOTA_COLUMNS, but for the first. */
export const NO_QUOTA = Array.from({ length: 9 }, () => "null").join(", ");

/** The limits of a subscription and what counts for them; of a start: before its statement. */
export interface QuotaRow {
  readonly ownerId: string;
  /** Executions of a month; null: any number. */
  readonly cap: number | null;
  readonly used: number;
  /** Microseconds of CPU time of a month; null: any. */
  readonly cpuCap: number | null;
  readonly cpuUsed: number;
  /** What the next execution holds. */
  readonly cpuExpected: number;
  /** Executions at one time; null: any number. */
  readonly concurrent: number | null;
  readonly unended: number;
  /** Milliseconds since the epoch, as `now`. */
  readonly renewsAt: number;
  readonly now: number;
}

/** What a caller is told of the quota after `started` executions more; undefined: there is no cap. */
export function describeLeft(row: QuotaRow, started: number): ExecutionQuota | undefined {
  const { cap, cpuCap, renewsAt } = row;
  if (cap !== null) return { unit: "execution", cap, left: Math.max(0, cap - row.used - started), renewsAt };
  if (cpuCap === null) return undefined;
  const left = Math.max(0, cpuCap - row.cpuUsed - started * row.cpuExpected);
  return { unit: "cpu-second", cap: cpuCap / MICROSECONDS, left: left / MICROSECONDS, renewsAt };
}

/** For a start beyond a limit, after `started` executions more; undefined: there is none that it could be beyond. */
export function refuseBeyondLimit(row: QuotaRow, started: number): Problem | undefined {
  const quota = describeLeft(row, started);
  if (quota?.left === 0) return refuseBeyondCap(row, quota);
  const { concurrent, unended } = row;
  if (concurrent === null || unended + started < concurrent) return undefined;
  const what = concurrent === 1 ? "1 execution" : `${concurrent} executions`;
  return new Problem(
    "RATE_LIMITED",
    `The plan has ${what} at one time, waiting ones included, and so many have not ended. Start the next when one has ended.`,
    { headers: { ...(quota === undefined ? {} : describeQuota(quota)), "retry-after": "1" } },
  );
}

function refuseBeyondCap(row: QuotaRow, quota: ExecutionQuota): Problem {
  const day = new Date(quota.renewsAt).toISOString().slice(0, 10);
  const what = quota.unit === "execution" ? "executions" : "CPU-seconds";
  return new Problem(
    "QUOTA_EXCEEDED",
    `The plan has ${quota.cap} ${what} a month, and none is left; it is renewed on ${day}. Choose another plan to start more.`,
    {
      headers: {
        ...describeQuota(quota),
        "retry-after": String(Math.max(1, Math.ceil((row.renewsAt - row.now) / SECOND))),
      },
    },
  );
}

/** What the platform is to blame for, as far as it is known. */
export const FAILED_BY_PLATFORM: readonly string[] = ["NOT_STARTED", "WORKER_LOST"];

/** Whether no user code has run: ended before it was claimed, or given back; no attempt before has run either. */
const NEVER_RAN = "(started_at is null and retried = 0)";

/** SQL: whether a row of `execution` that has ended counts for nothing. */
export const IS_UNCOUNTED = `(coalesce(failure_code, '') in (${FAILED_BY_PLATFORM.map((code) => `'${code}'`).join(", ")}) or ${NEVER_RAN})`;

/** The expected CPU time of an execution is about the mean of so many that ended last. */
const REMEMBERED = 16;

/** What each of `ended` changes of its owner's counts; none where nothing is to be changed. */
const SETTLED_EACH = `select owner_id, num_nonnulls(cpu_held) as unended, (is_this_month and is_uncounted)::int as units,
      case when is_this_month and cpu_held is not null
        then case when is_uncounted then 0 else coalesce(cpu_micros, cpu_held) end - cpu_held else 0 end as cpu,
      (is_measured and cpu_micros is not null)::int as measured,
      case when is_measured then coalesce(cpu_micros, 0) else 0 end as cpu_measured
    from (
      select *, quota_month = ${THIS_MONTH} as is_this_month, ${IS_UNCOUNTED} as is_uncounted,
        cpu_held is not null and not ${IS_UNCOUNTED} as is_measured
      from ended where quota_month is not null and ended_at is not null
    ) counted where cpu_held is not null or is_uncounted`;

/** Of `settled` s. */
const RELEASE = `update quota q set unended = greatest(0, q.unended - s.unended),
      used = case when q.month = ${THIS_MONTH} then greatest(0, q.used - s.units) else q.used end,
      cpu_used = case when q.month = ${THIS_MONTH} then greatest(0, q.cpu_used + s.cpu) else q.cpu_used end,
      cpu_expected = greatest(1, q.cpu_expected + (s.cpu_measured - s.measured * q.cpu_expected) / (s.measured + ${REMEMBERED - 1}))
    from settled s where q.subscription_id = s.owner_id`;

/**
 * CTEs: those of `ended` (rows of execution) that have ended are no longer counted as such that have not; those that the
 * platform has failed, or that never ran, are not counted at all; for the others, the CPU time that was measured takes the
 * place of what was held, which stays if none was measured. A month that is over is not changed.
 */
export const SETTLE = `settled as materialized (
    select owner_id, sum(unended) as unended, sum(units) as units, sum(cpu)::bigint as cpu, sum(measured) as measured,
      sum(cpu_measured)::bigint as cpu_measured
    from (${SETTLED_EACH}) each group by owner_id
  ), locked as materialized (
    select q.subscription_id from quota q
    where q.subscription_id = any (array(select owner_id from settled)) order by q.subscription_id for no key update
  ), released as (
    -- The count makes PostgreSQL lock all first.
    ${RELEASE} and (select count(*) from locked) > 0
  )`;

/** The same where `ended` has one row at most: a shorter plan. */
export const SETTLE_ONE = `settled as (${SETTLED_EACH}), released as (${RELEASE})`;
