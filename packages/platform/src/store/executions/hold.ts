import { Problem } from "@platform/contract/problems";
import { SECOND } from "@platform/engine/base/time";
import { describeQuota } from "@platform/engine/store/quota";
import type { ExecutionQuota } from "@platform/engine/store/quota";
import { selectMilliseconds } from "../base/columns.ts";

/*
 * The SQL of caps. An execution of a subscription with a cap is counted by the statement that creates it, and no longer
 * counted by the statement that ends it as failed by the platform, so each is counted once whatever process is killed
 * when. Subscriptions without a cap have no row in `quota`, and change none.
 *
 * Rows of `quota` are locked in the order of their ids: two statements that change several never wait for each other.
 */

/** SQL: the first day of this month, UTC. */
export const THIS_MONTH = "date_trunc('month', now() at time zone 'UTC')::date";

/**
 * CTE: the quotas of the owners in `input`, which has the columns owner_kind and owner_id; `available` is what may be started now.
 * The rows are locked until the statement has committed, so that no other adds to them, and are read as they are then.
 */
export const LOCK_QUOTAS = `quotas as materialized (
    select q.subscription_id, q.cap, case when q.month = ${THIS_MONTH} then q.used else 0 end as used from quota q
    where q.subscription_id = any (array(select distinct i.owner_id from input i where i.owner_kind = 'subscription'))
    order by q.subscription_id for no key update
  )`;

/** CTEs: count the rows of `created`, which has the columns owner_id and quota_month. */
export const HOLD = `added as materialized (
    select owner_id, count(*) as units from created where quota_month is not null group by owner_id
  ), held as (
    update quota q set used = quotas.used + added.units, month = ${THIS_MONTH} from quotas, added
    where q.subscription_id = added.owner_id and quotas.subscription_id = added.owner_id
  )`;

/** SQL: the columns of a QuotaRow, from `quotas` and `added`. */
export const QUOTA_COLUMNS = `quotas.cap::float8 as cap,
  greatest(0, quotas.cap - quotas.used - coalesce(added.units, 0))::float8 as left,
  ${selectMilliseconds(`((${THIS_MONTH} + interval '1 month') at time zone 'UTC')`)} as "renewsAt",
  ${selectMilliseconds("now()")} as now`;

/** The quota of an execution's owner after the statement. */
export interface QuotaRow {
  /** Null: there is no cap. */
  readonly cap: number | null;
  readonly left: number | null;
  /** Milliseconds since the epoch, as `now`. */
  readonly renewsAt: number;
  readonly now: number;
}

/** What a caller is told of the quota; undefined: there is no cap. */
export function toQuota({ cap, left, renewsAt }: QuotaRow): ExecutionQuota | undefined {
  return cap === null ? undefined : { cap, left: left ?? 0, renewsAt };
}

/** For a start beyond the cap; undefined: there is no cap that it could be beyond. */
export function refuseBeyondCap(row: QuotaRow): Problem | undefined {
  const quota = toQuota(row);
  if (quota === undefined) return undefined;
  const day = new Date(quota.renewsAt).toISOString().slice(0, 10);
  return new Problem(
    "QUOTA_EXCEEDED",
    `The plan has ${quota.cap} executions a month, and ${quota.left} are left; it is renewed on ${day}. Choose another plan to start more.`,
    {
      headers: {
        ...describeQuota(quota),
        "retry-after": String(Math.max(1, Math.ceil((row.renewsAt - row.now) / SECOND))),
      },
    },
  );
}

/** What the platform is to blame for, as far as it is known. */
const FAILED_BY_PLATFORM = ["NOT_STARTED", "WORKER_LOST"];

/** Whether no user code has run: ended before it was claimed, or given back. */
const NEVER_RAN = "started_at is null";

/** SQL: whether a row of `execution` that has ended counts for nothing. */
export const IS_UNCOUNTED = `(coalesce(failure_code, '') in (${FAILED_BY_PLATFORM.map((code) => `'${code}'`).join(", ")}) or ${NEVER_RAN})`;

/**
 * CTEs: those of `ended` (rows of execution) that the platform has failed, or that never ran, are no longer counted. A month that is
 * over is not changed.
 */
export const RELEASE = `failed as materialized (
    select owner_id, quota_month, count(*) as units from ended
    where quota_month is not null and status in ('FAILED', 'UNKNOWN') and ${IS_UNCOUNTED}
    group by owner_id, quota_month
  ), held as materialized (
    select q.subscription_id from quota q
    where q.subscription_id = any (array(select distinct owner_id from failed)) order by q.subscription_id for no key update
  ), released as (
    update quota q set used = greatest(0, q.used - failed.units) from failed, held
    where held.subscription_id = failed.owner_id and q.subscription_id = failed.owner_id and q.month = failed.quota_month
  )`;
