import { cutDetail } from "@platform/engine/store/retry-rules";
import type { FailedOutcome } from "@platform/engine/store/retry-rules";
import type { ClaimKey } from "@platform/engine/store/execution-store";
import type { Database } from "../../postgres/database.ts";
import { EXECUTIONS_CHANNEL } from "../base/channels.ts";
import { ATTEMPT_COLUMNS, selectAttempts } from "./attempts.ts";
import type { Events } from "./events.ts";
import { findEnded, toColumns } from "./finish.ts";
import { SETTLE_ONE } from "./hold.ts";
import { lookUp } from "./lookup.ts";
import { COUNT_USAGE_ONE } from "./meter.ts";
import { noteStates } from "./note-states.ts";
import { selectProgress } from "./progress.ts";
import { selectRecord, toRecord, toText } from "./record.ts";
import { resumes } from "./resumed.ts";
import type { RecordRow } from "./record.ts";

/**
 * Makes an execution PENDING again whose attempt has failed. As when it is given back (give-back.ts), the number of its claim stays until the next
 * one raises it. Parameters: the first columns of `input` of FINISH as values, origin, pause in seconds, the shortened detail.
 */
const TEXT = `with held as materialized (
    -- The fence of finish-statement.ts, and what the update overwrites. A cancellation that was requested meanwhile takes effect here: nobody wants
    -- another attempt, and what is known of this one is the end.
    select e.id, e.started_at, e.cancel_requested and not ($5::text = 'WORKER_LOST' and ${resumes("e")}) as is_over from execution e
    where ${lookUp("e", "$1::uuid", "e.attempt = $2::int and e.worker_id = $3::text and e.status = 'RUNNING'")} for no key update of e
  ), ended as (
    update execution e set status = case when is_over then $4::text else 'PENDING' end, lease_until = null,
      ended_at = case when is_over then now() end, failure_code = case when is_over then $5::text end,
      failure_detail = case when is_over then $6::text end, failure_metadata = case when is_over then $7::jsonb end,
      -- Of all attempts: each is measured once.
      cpu_micros = coalesce(e.cpu_micros + $8::bigint, $8::bigint, e.cpu_micros),
      worker_id = case when is_over then e.worker_id end, claim_id = case when is_over then e.claim_id end,
      started_at = case when is_over then e.started_at end, sandbox_level = case when is_over then e.sandbox_level end,
      setbacks = case when is_over then e.setbacks else 0 end, retried = e.retried + (not is_over)::int,
      not_before = case when is_over then e.not_before else now() + make_interval(secs => $10::float8) end
    from held where ${lookUp("e", "held.id")} returning e.*
  ), tried as (
    insert into execution_attempt (${ATTEMPT_COLUMNS})
    select ended.id, ended.retried, $2::int, $3::text, held.started_at, now(), $5::text, $11::text, $8::bigint
    from ended cross join held where ended.status = 'PENDING' returning *
  ), ${SETTLE_ONE}, ${COUNT_USAGE_ONE}, ${noteStates("ended")}
  -- Two notifications as when it is given back.
  select ${selectRecord("ended", { attempts: selectAttempts("ended", "tried") })}, ${selectProgress("ended")}
  from ended cross join lateral (
    select pg_notify('${EXECUTIONS_CHANNEL}', $9 || ':changed:' || encode(uuid_send(ended.id), 'base64')),
      case when ended.status = 'PENDING' then pg_notify('${EXECUTIONS_CHANNEL}', $9 || ':pending') end
  ) notified`;

/** `ExecutionStore.retry` for PostgreSQL. False when the claim is no longer held. */
export async function retryExecution(
  database: Database,
  events: Events,
  { claim, outcome, pauseSeconds }: RetriedAttempt,
): Promise<boolean> {
  const columns = toColumns({ claim, outcome });
  const detail = toText(cutDetail(outcome.detail));
  const [row] = await database.query<RecordRow>({
    name: "execution-retry",
    text: TEXT,
    values: [...columns, events.origin, pauseSeconds, detail],
    idempotent: true,
  });
  if (row === undefined) return wasRetried(database, claim, outcome);
  events.emitChanged(toRecord(row));
  if (row.status === "PENDING") events.emitPending();
  return true;
}

/** What is written of an attempt that failed. */
interface RetriedAttempt {
  readonly claim: ClaimKey;
  readonly outcome: FailedOutcome;
  readonly pauseSeconds: number;
}

/** Whether an earlier try, whose answer was lost, has written this: as an attempt, or as the end of what was cancelled. */
async function wasRetried(database: Database, claim: ClaimKey, outcome: FailedOutcome): Promise<boolean> {
  const rows = await database.query({
    text: `select 1 from execution_attempt
      where execution_id = $1 and attempt = $2 and worker_id = $3 and code = $4`,
    values: [claim.id, claim.attempt, claim.workerId, outcome.code],
    idempotent: true,
  });
  return rows.length > 0 || (await findEnded(database, [{ claim, outcome }])).size > 0;
}
