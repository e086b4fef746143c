import type { ClaimKey } from "@platform/engine/ports";
import type { Database } from "../../postgres/database.ts";
import { EXECUTIONS_CHANNEL, MAX_NOTIFIED_IDS, selectPayloadIds } from "./events.ts";
import type { Events } from "./events.ts";
import { selectRecord, toRecord } from "./record.ts";
import type { RecordRow } from "./record.ts";

/** Need not be flushed at once: a crash of the server that loses it only brings the old lease back. */
const RENEW = `update execution e set lease_until = now() + make_interval(secs => $4)
  from unnest($1::uuid[], $2::int[]) as i (id, attempt)
  where e.id = i.id and e.attempt = i.attempt and e.worker_id = $3 and e.state = 'RUNNING'
    and (select set_config('synchronous_commit', 'off', true)) is not null
  returning e.id, e.cancel_requested as "isCancelled"`;

export async function renewLeases(
  database: Database,
  workerId: string,
  claims: readonly ClaimKey[],
  leaseSeconds: number,
): Promise<{ lost: readonly string[]; cancelled: readonly string[] }> {
  if (claims.length === 0) return { lost: [], cancelled: [] };
  const rows = await database.query<{ id: string; isCancelled: boolean }>({
    name: "execution-renew",
    text: RENEW,
    values: [claims.map(({ id }) => id), claims.map(({ attempt }) => attempt), workerId, leaseSeconds],
    idempotent: true,
  });
  const held = new Set(rows.map(({ id }) => id));
  return {
    lost: claims.map(({ id }) => id).filter((id) => !held.has(id)),
    cancelled: rows.filter(({ isCancelled }) => isCancelled).map(({ id }) => id),
  };
}

/** One sweeper at a time; any number will do. */
const SWEEP_LOCK = 7_362_313;

const SWEEP = `with guard as materialized (
    select pg_try_advisory_xact_lock(${SWEEP_LOCK}) as is_ours
  ), late as materialized (
    select e.id from execution e
    where (select is_ours from guard) and e.lease_until < now()
    order by e.lease_until limit ${MAX_NOTIFIED_IDS} for update of e skip locked
  ), ended as (
    update execution e set state = 'UNKNOWN', finished_at = now(), lease_until = null, failure_code = 'WORKER_LOST',
      failure_detail = 'The worker ' || e.worker_id || ' vanished: it did not renew its lease after '
        || to_char(e.lease_until at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')
        || ' UTC. User code may have begun; the outcome is not known.'
    from late where e.id = late.id and e.state = 'RUNNING' returning e.*
  ), told as materialized (
    select pg_notify('${EXECUTIONS_CHANNEL}', $1 || ':changed:' || ${selectPayloadIds("id")}) from ended having count(*) > 0
  )
  select ${selectRecord("ended")} from ended left join told on true`;

export async function sweepLeases(database: Database, events: Events): Promise<number> {
  let swept = 0;
  for (;;) {
    const rows = await database.query<RecordRow>({
      text: SWEEP,
      values: [events.origin],
      idempotent: true,
    });
    for (const row of rows) events.emitChanged(toRecord(row));
    swept += rows.length;
    if (rows.length < MAX_NOTIFIED_IDS) return swept;
  }
}
