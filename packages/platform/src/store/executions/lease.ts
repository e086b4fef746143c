import type { ClaimKey } from "@platform/engine/ports";
import type { Database } from "../../postgres/database.ts";

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
