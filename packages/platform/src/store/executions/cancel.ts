import { CANCELLED_BETWEEN } from "@platform/engine/store/retry-rules";
import { CANCELLED_BEFORE } from "@platform/engine/store/execution-store";
import type { ExecutionRecord } from "@platform/engine/store/execution-store";
import { isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";
import { auditChanges } from "../audit/trail.ts";
import { EXECUTIONS_CHANNEL } from "../base/channels.ts";
import type { Events } from "./events.ts";
import { SETTLE } from "./hold.ts";
import { lookUp } from "./lookup.ts";
import { COUNT_USAGE } from "./meter.ts";
import { noteStates } from "./note-states.ts";
import { findExecution } from "./read.ts";
import { isResumed } from "./resumed.ts";
import { selectProgress } from "./progress.ts";
import { selectRecord, toRecord } from "./record.ts";
import type { RecordRow } from "./record.ts";

/** SQL: of what has not ended, whether its cancellation ends it. The others have a worker, or get one, that does. */
export const ENDS_HERE = `e.status = 'PENDING' and not ${isResumed("e")}`;

const TEXT = `with ended as (
    -- PENDING ends here, mostly; RUNNING is only marked, and its worker ends it. A claim that takes the row at the same time is
    -- waited for: "case" then sees RUNNING.
    update execution e set
      cancel_requested = true,
      status = case when ${ENDS_HERE} then 'FAILED' else e.status end,
      ended_at = case when ${ENDS_HERE} then now() end,
      failure_code = case when ${ENDS_HERE} then 'CANCELLED' end,
      failure_detail = case when ${ENDS_HERE} then case when e.retried > 0 then $5 else $3 end end
    where ${lookUp("e", "$1::uuid", "e.owner_id = $2 and e.status in ('PENDING', 'RUNNING')")} returning e.*
  ), ${SETTLE}, ${COUNT_USAGE}, ${noteStates("ended", "status = 'FAILED'")}
  select ${selectRecord("ended")}, ${selectProgress("ended")} from ended cross join lateral pg_notify('${EXECUTIONS_CHANNEL}',
    $4 || case ended.status when 'FAILED' then ':changed:' else ':cancel:' end || encode(uuid_send(ended.id), 'base64'))`;

/** `ExecutionStore.cancel` for PostgreSQL: the execution after the call, also when it had ended; null: not the owner's. */
export async function cancelExecution(
  database: Database,
  events: Events,
  id: string,
  ownerId: string,
): Promise<ExecutionRecord | null> {
  if (!isUuid(id) || !isUuid(ownerId)) return null;
  const [row] = await auditChanges(database).query<RecordRow>({
    name: "execution-cancel",
    text: TEXT,
    values: [id, ownerId, CANCELLED_BEFORE.detail, events.origin, CANCELLED_BETWEEN.detail],
    idempotent: true,
    audited: ["job.cancel"],
  });
  if (row === undefined) return findExecution(database, id, ownerId);
  const record = toRecord(row);
  if (record.status === "FAILED") events.emitChanged(record);
  else events.emitCancel(id);
  return record;
}
