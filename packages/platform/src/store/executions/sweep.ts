import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND } from "@platform/engine/base/time";
import type { Database } from "../../postgres/database.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { SWEEP_LOCK } from "../../postgres/locks.ts";
import { createSteadyClock } from "../base/steady-clock.ts";
import { EXECUTIONS_CHANNEL } from "../base/channels.ts";
import { MAX_NOTIFIED_IDS, selectPayloadIds } from "./events.ts";
import type { Events } from "./events.ts";
import { SETTLE } from "./hold.ts";
import { lookUp } from "./lookup.ts";
import { COUNT_USAGE } from "./meter.ts";
import { selectRecord, toRecord } from "./record.ts";
import type { RecordRow } from "./record.ts";

/**
 * Ends executions whose lease is over, at most as many as fit into one notification.
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
    select e.id from execution e
    where (select is_ours from guard) and e.lease_until < least(now(), to_timestamp($2::float8 / 1000))
    order by e.lease_until limit ${MAX_NOTIFIED_IDS} for update of e skip locked
  ), ended as (
    -- Ends a lost execution as UNKNOWN instead of repeating it: its code may have had effects.
    update execution e set status = 'UNKNOWN', ended_at = now(), lease_until = null, failure_code = 'WORKER_LOST',
      failure_detail = 'The worker ' || e.worker_id || ' was lost: it did not renew its lease, which ended at '
        || to_char(e.lease_until at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')
        || ' UTC. User code may have been running; the outcome is unknown.'
    from late where ${lookUp("e", "late.id", "e.status = 'RUNNING'")} returning e.*
  ), ${SETTLE}, ${COUNT_USAGE}, notified as materialized (
    -- "having" keeps the aggregate from giving a row when nothing was ended.
    select pg_notify('${EXECUTIONS_CHANNEL}', $1 || ':changed:' || ${selectPayloadIds("id")}) from ended having count(*) > 0
  )
  select ${selectMilliseconds("now()")} as "databaseNow", ${selectRecord("ended")}
  -- One row even when nothing was ended, for the time; the count makes PostgreSQL evaluate the notification.
  from (select count(*) from notified) once left join ended on true`;

/** At least one row, for the database's time; its id is null when nothing was swept. */
type SweptRow = { readonly databaseNow: number } & (RecordRow | { readonly id: null });

/**
 * Returns a function that ends all executions whose lease is over, and returns how many it ended. `leaseSeconds`: length of the
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
        values: [events.origin, clock.latest(at)],
        idempotent: true,
      });
      const ended = rows.filter((row) => row.id !== null);
      for (const row of ended) events.emitChanged(toRecord(row));
      for (const { databaseNow } of rows.slice(0, 1)) clock.note(databaseNow, at);
      swept += ended.length;
      if (ended.length < MAX_NOTIFIED_IDS) return swept;
    }
  };
}
