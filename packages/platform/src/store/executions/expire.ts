import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND } from "@platform/engine/base/time";
import { EXCEEDED_DETAIL, START_DEADLINE_EXCEEDED } from "@platform/engine/store/start-deadline";
import type { Database } from "../../postgres/database.ts";
import { EXPIRE_LOCK } from "../../postgres/locks.ts";
import { EXECUTIONS_CHANNEL } from "../base/channels.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { createSteadyClock } from "../base/steady-clock.ts";
import { MAX_NOTIFIED_IDS, selectPayloadIds } from "./events.ts";
import type { Events } from "./events.ts";
import { SETTLE } from "./hold.ts";
import { lookUp } from "./lookup.ts";
import { COUNT_USAGE } from "./meter.ts";
import { noteStates } from "./note-states.ts";
import { isBound } from "./queue-rows.ts";
import { selectRecord, toRecord } from "./record.ts";
import type { RecordRow } from "./record.ts";

/**
 * Ends executions that have not begun by the deadline of their start, wherever they wait, those first that are late for longest; at most as many
 * as fit into one notification. Parameters: origin of events, the latest time that the clock of the database may show, and the detail before and
 * after the deadline.
 */
const EXPIRE = `with guard as materialized (
    -- Only saves work, as that of the sweep (sweep.ts): the locks of the rows are what makes two rounds safe.
    select pg_try_advisory_xact_lock(${EXPIRE_LOCK}) as is_ours
  ), late as materialized (
    -- One that is being claimed or cancelled is left to the next round, which finds what became of it.
    select e.id from execution e
    where (select is_ours from guard) and ${isBound("e")} and e.start_by <= least(now(), to_timestamp($2::float8 / 1000))
    order by e.start_by limit ${MAX_NOTIFIED_IDS} for update of e skip locked
  ), ended as (
    update execution e set status = 'FAILED', ended_at = now(), failure_code = '${START_DEADLINE_EXCEEDED}',
      failure_detail = $3 || to_char(e.start_by at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') || $4
    from late where ${lookUp("e", "late.id", isBound("e"))} returning e.*
  ), ${SETTLE}, ${COUNT_USAGE}, ${noteStates("ended")}, notified as materialized (
    -- "having" keeps the aggregate from giving a row when nothing was ended.
    select pg_notify('${EXECUTIONS_CHANNEL}', $1 || ':changed:' || ${selectPayloadIds("id")}) from ended having count(*) > 0
  )
  select ${selectMilliseconds("now()")} as "databaseNow", ${selectRecord("ended")}
  -- One row even when nothing was ended, for the time; the count makes PostgreSQL evaluate the notification.
  from (select count(*) from notified) once left join ended on true`;

/** At least one row, for the database's time; its id is null when nothing was ended. */
type ExpiredRow = { readonly databaseNow: number } & (RecordRow | { readonly id: null });

/**
 * Returns a function that ends all executions that have not begun by the deadline of their start, and returns how many there were. `leaseSeconds`: for
 * how long a clock of the database that is set ahead is not believed; `now`: milliseconds of the monotonic clock.
 */
export function createExpiry(
  database: Pick<Database, "query">,
  events: Pick<Events, "origin" | "emitChanged">,
  { leaseSeconds, now = readMonotonic }: { readonly leaseSeconds: number; readonly now?: () => number },
): () => Promise<number> {
  const clock = createSteadyClock(leaseSeconds * SECOND);
  return async () => {
    let expired = 0;
    for (;;) {
      const at = now();
      const rows = await database.query<ExpiredRow>({
        name: "execution-expire",
        text: EXPIRE,
        values: [events.origin, clock.latest(at), EXCEEDED_DETAIL.before, EXCEEDED_DETAIL.after],
        idempotent: true,
      });
      const ended = rows.filter((row) => row.id !== null);
      for (const row of ended) events.emitChanged(toRecord(row));
      for (const { databaseNow } of rows.slice(0, 1)) clock.note(databaseNow, at);
      expired += ended.length;
      if (ended.length < MAX_NOTIFIED_IDS) return expired;
    }
  };
}
