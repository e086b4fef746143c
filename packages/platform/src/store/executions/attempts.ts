import { RETRY_HOURS } from "@platform/contract/retries";
import type { FailedAttempt } from "@platform/engine/store/retry-rules";
import { selectMilliseconds } from "../base/columns.ts";

/** What `selectAttempts` selects; null: there is none. */
export type AttemptsRow = readonly FailedAttempt[] | null;

const COLUMNS = "a.execution_id, a.number, a.started_at, a.ended_at, a.code, a.detail";

/**
 * SQL: as `attempts` those of the execution `alias` that failed and are followed by another, null: none. Only what was retried is looked up.
 *
 * @param added a CTE with rows that the statement adds, which it does not see in the table
 */
export function selectAttempts(alias: string, added?: string): string {
  const ofIt = (table: string) =>
    `select ${COLUMNS} from ${table} a where a.execution_id = any (array[${alias}.id])`;
  const rows =
    added === undefined ? ofIt("execution_attempt") : `${ofIt("execution_attempt")} union all ${ofIt(added)}`;
  return `case when ${alias}.retried > 0 then (
      select json_agg(json_build_object('number', a.number, 'startedAt', ${selectMilliseconds("a.started_at")},
        'endedAt', ${selectMilliseconds("a.ended_at")}, 'code', a.code, 'detail', a.detail) order by a.number)
      from (${rows}) a
    ) end as attempts`;
}

/** SQL: whether the last attempt of the execution `alias`, which runs, is still within the time that it may be followed by another. */
export function describeInTime(alias: string): string {
  return `now() - case when ${alias}.retried = 0 then ${alias}.started_at else coalesce(
      (select a.started_at from execution_attempt a where a.execution_id = any (array[${alias}.id]) and a.number = 1), ${alias}.started_at)
    end <= interval '${RETRY_HOURS} hours'`;
}

/** SQL: the columns of a row of `execution_attempt`. */
export const ATTEMPT_COLUMNS =
  "execution_id, number, attempt, worker_id, started_at, ended_at, code, detail, cpu_micros";

/** SQL: the codes of attempts that the platform is to blame for, which nobody pays. */
const UNPAID = "'WORKER_LOST'";

/** SQL: for how long the attempts of a row `r` of `execution` that were retried have run, in milliseconds, each at most `mostMs`. */
export function selectEarlierMs(alias: string, mostMs: string): string {
  return `case when ${alias}.retried > 0 then coalesce((
      select sum(least(${mostMs}, greatest(0, (extract(epoch from a.ended_at - a.started_at) * 1000)::bigint)))::bigint
      from execution_attempt a where a.execution_id = any (array[${alias}.id]) and a.code <> ${UNPAID}
    ), 0) else 0 end`;
}
