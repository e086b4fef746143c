import type { Watched, WatchedChange } from "@platform/engine/store/watched";
import { isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";
import { lookUp } from "./lookup.ts";
import { selectProgress } from "./progress.ts";
import { decodePosition } from "./read-log.ts";
import { selectRecord, toRecord } from "./record.ts";
import type { RecordRow } from "./record.ts";

/** Two lookups in indexes for each. What was moved to the tables of what is kept longer has ended: nobody waits for it. */
const TEXT = `select ${selectRecord("e")}, ${selectProgress("e")}, l.has_more as "hasMoreLog"
  from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bigint[]) as i (id, owner_id, status, seq)
  join execution e on ${lookUp("e", "i.id", "e.owner_id = i.owner_id")}
  cross join lateral (
    select exists (select 1 from execution_log l where l.id = i.id and l.seq > i.seq) as has_more
  ) l
  where l.has_more or e.status <> i.status`;

/** `ExecutionStore.readChanges` for PostgreSQL. */
export async function readChanges(
  database: Database,
  watched: readonly Watched[],
): Promise<readonly WatchedChange[]> {
  const known = watched.filter(({ id, ownerId }) => isUuid(id) && isUuid(ownerId));
  if (known.length === 0) return [];
  const rows = await database.query<RecordRow & { readonly hasMoreLog: boolean }>({
    name: "execution-read-changes",
    text: TEXT,
    values: [
      known.map(({ id }) => id),
      known.map(({ ownerId }) => ownerId),
      known.map(({ status }) => status),
      // Null: no lines are shown, so that there are none behind it.
      known.map(({ logPosition }) => (logPosition === null ? null : decodePosition(logPosition))),
    ],
    idempotent: true,
  });
  return rows.map((row) => ({ record: toRecord(row), hasMoreLog: row.hasMoreLog }));
}
