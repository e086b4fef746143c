import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND } from "@platform/engine/base/time";
import type { Database } from "../../postgres/database.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { SWEEP_LOCK } from "../../postgres/locks.ts";
import { createSteadyClock } from "../base/steady-clock.ts";
import { EXECUTIONS_CHANNEL } from "../base/channels.ts";
import { MAX_NOTIFIED_IDS, selectPayloadIds } from "./events.ts";
import type { Events } from "./events.ts";
import { selectRecord, toRecord } from "./record.ts";
import type { RecordRow } from "./record.ts";

const SWEEP = `with guard as materialized (
    select pg_try_advisory_xact_lock(${SWEEP_LOCK}) as is_ours
  ), late as materialized (
    select e.id from execution e
    where (select is_ours from guard) and e.lease_until < least(now(), to_timestamp($2::float8 / 1000))
    order by e.lease_until limit ${MAX_NOTIFIED_IDS} for update of e skip locked
  ), ended as (
    update execution e set status = 'UNKNOWN', ended_at = now(), lease_until = null, failure_code = 'WORKER_LOST',
      failure_detail = 'The worker ' || e.worker_id || ' vanished: it did not renew its lease after '
        || to_char(e.lease_until at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')
        || ' UTC. User code may have begun; the outcome is not known.'
    from late where e.id = late.id and e.status = 'RUNNING' returning e.*
  ), told as materialized (
    select pg_notify('${EXECUTIONS_CHANNEL}', $1 || ':changed:' || ${selectPayloadIds("id")}) from ended having count(*) > 0
  )
  select ${selectMilliseconds("now()")} as "databaseNow", ${selectRecord("ended")}
  from (select count(*) from told) once left join ended on true`;

/** One row at least, since it also tells the time; without an id nothing was swept. */
type SweptRow = { readonly databaseNow: number } & (RecordRow | { readonly id: null });

export interface SweeperOptions {
  readonly leaseSeconds: number;
  /** Milliseconds; default: the monotonic clock. */
  readonly now?: () => number;
}

/** Sweeps once; says how many. */
export function createSweep(
  database: Database,
  events: Events,
  { leaseSeconds, now = readMonotonic }: SweeperOptions,
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
