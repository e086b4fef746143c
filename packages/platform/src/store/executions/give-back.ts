import { CANCELLED_BETWEEN } from "@platform/engine/store/retry-rules";
import { CANCELLED_BEFORE } from "@platform/engine/store/execution-store";
import type { ClaimKey } from "@platform/engine/store/execution-store";
import type { Database } from "../../postgres/database.ts";
import { EXECUTIONS_CHANNEL } from "../base/channels.ts";
import type { Events } from "./events.ts";
import { SETTLE } from "./hold.ts";
import { lookUp } from "./lookup.ts";
import { COUNT_USAGE } from "./meter.ts";
import { noteStates } from "./note-states.ts";
import { selectRecord, toRecord } from "./record.ts";
import { isResumed } from "./resumed.ts";
import type { RecordRow } from "./record.ts";

const ENDS_HERE = `(e.cancel_requested and not ${isResumed("e")})`;

/**
 * Makes an execution PENDING again. Its attempt stays as it is: the next claim raises it, so that no write of this one can
 * pass the fence any more.
 */
const TEXT = `with ended as (
    -- The fence of finish-statement.ts: only the holder of this attempt, only while it is RUNNING. A cancellation that was
    -- requested meanwhile takes effect here: user code has not begun, so the execution ends instead of being claimed
    -- again. A null pause ($4) is that of a worker that stops: no setback is counted, and another may claim at once.
    update execution e set
      status = case when ${ENDS_HERE} then 'FAILED' else 'PENDING' end,
      ended_at = case when ${ENDS_HERE} then now() end,
      failure_code = case when ${ENDS_HERE} then 'CANCELLED' end,
      failure_detail = case when ${ENDS_HERE} then case when e.retried > 0 then $7 else $5 end end,
      worker_id = null, claim_id = null, started_at = null, lease_until = null, sandbox_level = null,
      setbacks = e.setbacks + case when $4::float8 is null then 0 else 1 end,
      not_before = now() + make_interval(secs => coalesce($4::float8, 0))
    where ${lookUp("e", "$1::uuid", "e.attempt = $2 and e.worker_id = $3 and e.status = 'RUNNING'")} returning e.*
  ), ${SETTLE}, ${COUNT_USAGE}, ${noteStates("ended")}
  -- Two notifications: processes that cached the execution must forget it, workers may claim.
  select ${selectRecord("ended")} from ended cross join lateral (
    select pg_notify('${EXECUTIONS_CHANNEL}', $6 || ':changed:' || encode(uuid_send(ended.id), 'base64')),
      pg_notify('${EXECUTIONS_CHANNEL}', $6 || ':pending')
  ) notified`;

/**
 * `ExecutionStore.giveBack` for PostgreSQL. `pauseSeconds`: not claimed again before; null when the worker stops. False when
 * the claim is no longer held.
 */
export async function giveBackClaim(
  database: Database,
  events: Events,
  claim: ClaimKey,
  pauseSeconds: number | null,
): Promise<boolean> {
  const [row] = await database.query<RecordRow>({
    name: "execution-give-back",
    text: TEXT,
    values: [
      claim.id,
      claim.attempt,
      claim.workerId,
      pauseSeconds,
      CANCELLED_BEFORE.detail,
      events.origin,
      CANCELLED_BETWEEN.detail,
    ],
    idempotent: true,
  });
  if (row === undefined) return wasGivenBack(database, claim);
  events.emitChanged(toRecord(row));
  events.emitPending();
  return true;
}

/**
 * Whether an earlier try, whose answer was lost, has given the claim back: the execution is without a worker or was claimed
 * again since. Only the holder of an attempt gives it back, so it was no other call.
 */
async function wasGivenBack(database: Database, { id, attempt }: ClaimKey): Promise<boolean> {
  const rows = await database.query({
    text: `select 1 from execution e
      where ${lookUp("e", "$1::uuid", "e.attempt > $2 or (e.attempt = $2 and e.worker_id is null)")}`,
    values: [id, attempt],
    idempotent: true,
  });
  return rows.length > 0;
}
