import { CANCELLED_BEFORE } from "@platform/engine/store/execution-store";
import { CANCELLED_BETWEEN } from "@platform/engine/store/retry-rules";
import type { Database } from "../../postgres/database.ts";
import { EXECUTIONS_CHANNEL } from "../base/channels.ts";
import { MAX_NOTIFIED_IDS, selectPayloadIds } from "./events.ts";
import { SETTLE } from "./hold.ts";
import { COUNT_USAGE } from "./meter.ts";
import { noteStates } from "./note-states.ts";

/** No store has this name, so all of them are notified, that of this process as well. */
const ORIGIN = "";

/** The bounds of the ids make PostgreSQL skip the partitions of other days. */
const IS_DUE =
  "e.id = any ($2::uuid[]) and e.id >= $3::uuid and e.id <= $4::uuid and (e.owner_id = $1::uuid and e.status in ('PENDING', 'RUNNING')) is true";

const TEXT = `with due as materialized (
    -- In the order of ids, as far as others keep to one. A claim that takes a row at the same time is waited for.
    select e.id from execution e where ${IS_DUE} order by e.id for no key update
  ), ended as (
    -- As a single one is cancelled (cancel.ts).
    update execution e set
      cancel_requested = true,
      status = case e.status when 'PENDING' then 'FAILED' else e.status end,
      ended_at = case e.status when 'PENDING' then now() end,
      failure_code = case e.status when 'PENDING' then 'CANCELLED' end,
      failure_detail = case e.status when 'PENDING' then case when e.retried > 0 then $6 else $5 end end
    where ${IS_DUE} and (select count(*) from due) > 0 returning e.*
  ), ${SETTLE}, ${COUNT_USAGE}, ${noteStates("ended", "status = 'FAILED'")}, numbered as (
    select id, case status when 'FAILED' then 'changed' else 'cancel' end as kind,
      (row_number() over (partition by status) - 1) / ${MAX_NOTIFIED_IDS} as part
    from ended
  )
  select pg_notify('${EXECUTIONS_CHANNEL}', '${ORIGIN}:' || kind || ':' || ${selectPayloadIds("id")}) from numbered group by kind, part`;

/** `ExecutionStore.cancelMany` for PostgreSQL. */
export async function cancelMany(
  database: Pick<Database, "query">,
  ids: readonly string[],
  ownerId: string,
): Promise<void> {
  if (ids.length === 0) return;
  const sorted = [...ids].sort();
  await database.query({
    name: "execution-cancel-many",
    text: TEXT,
    values: [ownerId, sorted, sorted[0], sorted.at(-1), CANCELLED_BEFORE.detail, CANCELLED_BETWEEN.detail],
    idempotent: true,
  });
}
