import { DEFAULT_RETRIES } from "@platform/contract/retries";
import { CANCELLED_BETWEEN } from "@platform/engine/store/retry-rules";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND } from "@platform/engine/base/time";
import { CANCELLED_BEFORE, MAX_SETBACKS, NOT_STARTED } from "@platform/engine/store/execution-store";
import type { Database } from "../../postgres/database.ts";
import { ATTEMPT_COLUMNS, describeInTime, selectAttempts } from "./attempts.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { SWEEP_LOCK } from "../../postgres/locks.ts";
import { createSteadyClock } from "../base/steady-clock.ts";
import { EXECUTIONS_CHANNEL } from "../base/channels.ts";
import { MAX_NOTIFIED_IDS, selectPayloadIds } from "./events.ts";
import type { Events } from "./events.ts";
import { SETTLE } from "./hold.ts";
import { lookUp } from "./lookup.ts";
import { COUNT_USAGE } from "./meter.ts";
import { noteStates } from "./note-states.ts";
import { describePreparing } from "./preparing.ts";
import { selectProgress } from "./progress.ts";
import { selectRecord, toRecord } from "./record.ts";
import { isResumed, isResumedWhenLost } from "./resumed.ts";
import type { RecordRow } from "./record.ts";

/** SQL: of an execution `e` whose lease is over. It waits again: user code has not begun, and may be tried to be started once more. */
const IS_PREPARING = describePreparing("e");
const GOES_BACK = `${IS_PREPARING} and (not e.cancel_requested or ${isResumed("e")}) and e.setbacks + 1 < ${MAX_SETBACKS}`;
/** SQL: its service wants another attempt: `isRetriedWhenLost`. A coalesce, since most have chosen nothing. */
const IS_RETRIED = `(not ${IS_PREPARING} and (${isResumedWhenLost("e")} or not e.cancel_requested and coalesce(e.retries ->> 'onLost' = 'retry'
      and e.retried < coalesce((e.retries -> 'onError' ->> 'max')::int, ${DEFAULT_RETRIES}) and ${describeInTime("e")}, false)))`;
const WAITS_AGAIN = `(late.is_retried or (${GOES_BACK}))`;
/** A value where user code may have begun, and there is no other attempt. */
const ifBegun = (value: string) => `case when not ${IS_PREPARING} and not late.is_retried then ${value} end`;
const LOST = `'The worker ' || late.worker_id || ' was lost: it did not renew its lease, which ended at '
          || to_char(late.lease_until at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')
          || ' UTC. User code may have been running; the outcome is unknown.'`;

/**
 * Ends executions whose lease is over, or has them wait again, at most as many as fit into one notification.
 */
const SWEEP = `with guard as materialized (
    -- Every process sweeps; the lock lets one do so at a time and the others find nothing, without waiting. It only
    -- saves work: the row locks below are what makes two sweeps safe. Materialized, so that it is tried once and not
    -- once for each row.
    select pg_try_advisory_xact_lock(${SWEEP_LOCK}) as is_ours
  ), late as materialized (
    -- $2 bounds the time of a clock that was set ahead (base/steady-clock.ts); "least" ignores it while it is null. A row
    -- that is being written (renewed, ended with a large result) is left to the next sweep; one that was renewed since
    -- the statement began no longer meets the condition when its newest version is locked.
    select e.id, e.worker_id, e.started_at, e.lease_until, ${IS_RETRIED} as is_retried from execution e
    where (select is_ours from guard) and e.lease_until < least(now(), to_timestamp($2::float8 / 1000))
    order by e.lease_until limit ${MAX_NOTIFIED_IDS} for update of e skip locked
  ), ended as (
    -- Ends a lost execution as UNKNOWN instead of repeating it, unless its service has chosen that: its code may have had effects. One that was
    -- still being prepared is as one that was given back (give-back.ts). Its lease was its pause.
    update execution e set lease_until = null, setbacks = case when late.is_retried then 0 else e.setbacks + ${IS_PREPARING}::int end,
      retried = e.retried + late.is_retried::int,
      status = case when ${WAITS_AGAIN} then 'PENDING' when ${IS_PREPARING} then 'FAILED' else 'UNKNOWN' end,
      ended_at = case when ${WAITS_AGAIN} then null else now() end,
      failure_code = case when ${WAITS_AGAIN} then null when not ${IS_PREPARING} then 'WORKER_LOST'
        when e.cancel_requested then 'CANCELLED' else '${NOT_STARTED.code}' end,
      failure_detail = case when ${WAITS_AGAIN} then null when not ${IS_PREPARING} then ${LOST}
        when e.cancel_requested then case when e.retried > 0 then $5 else $3 end else $4 end,
      worker_id = ${ifBegun("e.worker_id")}, claim_id = ${ifBegun("e.claim_id")}, started_at = ${ifBegun("e.started_at")},
      sandbox_level = ${ifBegun("e.sandbox_level")}
    from late where ${lookUp("e", "late.id", "e.status = 'RUNNING'")} returning e.*
  ), tried as (
    insert into execution_attempt (${ATTEMPT_COLUMNS})
    select ended.id, ended.retried, ended.attempt, late.worker_id, late.started_at, now(), 'WORKER_LOST', ${LOST}, null::bigint
    from late join ended on ended.id = late.id where late.is_retried returning *
  ), ${SETTLE}, ${COUNT_USAGE}, ${noteStates("ended")}, notified as materialized (
    -- "having" keeps the aggregate from giving a row when nothing was ended.
    select pg_notify('${EXECUTIONS_CHANNEL}', $1 || ':changed:' || ${selectPayloadIds("id")}),
      case when bool_or(status = 'PENDING') then pg_notify('${EXECUTIONS_CHANNEL}', $1 || ':pending') end
    from ended having count(*) > 0
  )
  select ${selectMilliseconds("now()")} as "databaseNow", ${selectRecord("ended", { attempts: selectAttempts("ended", "tried") })},
    ${selectProgress("ended")}
  -- One row even when nothing was ended, for the time; the count makes PostgreSQL evaluate the notification.
  from (select count(*) from notified) once left join ended on true`;

/** At least one row, for the database's time; its id is null when nothing was swept. */
type SweptRow = { readonly databaseNow: number } & (RecordRow | { readonly id: null });

/**
 * Returns a function that ends all executions whose lease is over, or has them wait again, and returns how many there were. `leaseSeconds`: length of the
 * workers' leases; for so long a jump of the database's clock is not trusted. `now`: milliseconds; default: the monotonic clock.
 */
export function createSweep(
  database: Database,
  events: Events,
  { leaseSeconds, now = readMonotonic }: { readonly leaseSeconds: number; readonly now?: () => number },
): () => Promise<number> {
  const clock = createSteadyClock(leaseSeconds * SECOND);
  return async () => {
    let swept = 0;
    for (;;) {
      const at = now();
      const rows = await database.query<SweptRow>({
        text: SWEEP,
        values: [
          events.origin,
          clock.latest(at),
          CANCELLED_BEFORE.detail,
          NOT_STARTED.detail,
          CANCELLED_BETWEEN.detail,
        ],
        idempotent: true,
      });
      const ended = rows.filter((row) => row.id !== null);
      for (const row of ended) events.emitChanged(toRecord(row));
      if (ended.some(({ status }) => status === "PENDING")) events.emitPending();
      for (const { databaseNow } of rows.slice(0, 1)) clock.note(databaseNow, at);
      swept += ended.length;
      if (ended.length < MAX_NOTIFIED_IDS) return swept;
    }
  };
}
