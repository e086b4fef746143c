import type { ClaimKey, ExecutionStore } from "@platform/engine/store/execution-store";
import type { Database } from "../../postgres/database.ts";
import { lookUp } from "./lookup.ts";

/** Renews the leases of one worker in one statement. */
const RENEW = `with held as materialized (
    -- What this worker held when the statement began; everything else is lost.
    select e.id, e.cancel_requested from unnest($1::uuid[], $2::int[]) as i (id, attempt)
    join execution e on ${lookUp("e", "i.id", "e.attempt = i.attempt and e.worker_id = $3 and e.status = 'RUNNING'")}
  ), free as materialized (
    -- A row that is being written, such as by an end with a large result, is skipped: waiting for it would delay the
    -- renewal of everything else that the worker runs.
    select e.id from held join execution e on ${lookUp("e", "held.id", "e.worker_id = $3 and e.status = 'RUNNING'")}
    for update of e skip locked
  ), renewed as (
    -- The commit need not be flushed: when a crash of the server loses it, the old lease is back. The setting holds for
    -- this transaction only.
    update execution e set lease_until = now() + make_interval(secs => $4)
    from free where ${lookUp("e", "free.id")} and (select set_config('synchronous_commit', 'off', true)) is not null
    returning e.id, e.cancel_requested
  )
  select id, cancel_requested as "isCancelled", false as "isBusy" from renewed
  union all
  -- Skipped, or ended since the statement began: the next renewal decides which.
  select id, cancel_requested, true from held where id <> all (array(select id from free))`;

/** `ExecutionStore.renew` for PostgreSQL. */
export async function renewLeases(
  database: Database,
  workerId: string,
  claims: readonly ClaimKey[],
  leaseSeconds: number,
): ReturnType<ExecutionStore["renew"]> {
  if (claims.length === 0) return { lost: [], cancelled: [], busy: [] };
  const rows = await database.query<{ id: string; isCancelled: boolean; isBusy: boolean }>({
    name: "execution-renew",
    text: RENEW,
    values: [claims.map(({ id }) => id), claims.map(({ attempt }) => attempt), workerId, leaseSeconds],
    idempotent: true,
  });
  const held = new Set(rows.map(({ id }) => id));
  return {
    lost: claims.map(({ id }) => id).filter((id) => !held.has(id)),
    cancelled: rows.filter(({ isCancelled }) => isCancelled).map(({ id }) => id),
    busy: rows.filter(({ isBusy }) => isBusy).map(({ id }) => id),
  };
}
