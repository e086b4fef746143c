import { EXECUTIONS_CHANNEL } from "../base/channels.ts";
import { encodeId, selectPayloadIds } from "./events.ts";
import { SETTLE, SETTLE_ONE } from "./hold.ts";
import { lookUp } from "./lookup.ts";
import { COUNT_USAGE, COUNT_USAGE_ONE } from "./meter.ts";
import { noteStates } from "./note-states.ts";
import { selectProgress } from "./progress.ts";
import { selectRecord } from "./record.ts";

/*
 * End executions, store their results and notify other processes, in one transaction: a SUCCEEDED execution always has its
 * result, and who is notified finds the new state.
 */

/**
 * SQL that is true for the row `e` that this claim holds: only the holder of this attempt, and only while it is RUNNING, so final
 * states never change. When a sweep or another try of this end writes the row at the same time, the update waits for it and then
 * checks the conditions again: the first to commit wins. The lease is not compared: until a sweep has ended the execution, a
 * late outcome is still the true one.
 */
const describeFence = (id: string, attempt: string, workerId: string) =>
  lookUp("e", id, `e.attempt = ${attempt} and e.worker_id = ${workerId} and e.status = 'RUNNING'`);

/** SQL: the CPU time of all attempts, with that of this one: null, unless some was measured. */
const addCpu = (measured: string) => `coalesce(e.cpu_micros + ${measured}, ${measured}, e.cpu_micros)`;

const describeNotification = (ids: string) =>
  `pg_notify('${EXECUTIONS_CHANNEL}', $9 || ':changed:' || ${ids})`;

/**
 * SQL. Parameters: arrays of the first columns of `input`, origin of events, results and metadata as one string of bytes, in it starts
 * and lengths of both, and whether there is metadata: none is null, empty metadata is not.
 */
export const FINISH = `with input as (
    -- One row for each end.
    select * from unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::jsonb[], $8::bigint[],
      $11::int[], $12::int[], $13::int[], $14::int[], $15::boolean[])
      as i (id, attempt, worker_id, status, code, detail, failure_metadata, cpu_micros,
        start, length, metadata_start, metadata_length, has_metadata)
  ), ended as (
    update execution e set status = i.status, ended_at = now(), lease_until = null, failure_code = i.code,
      failure_detail = i.detail, failure_metadata = i.failure_metadata, cpu_micros = ${addCpu("i.cpu_micros")}
    from input i where ${describeFence("i.id", "i.attempt", "i.worker_id")}
    returning e.*, i.start, i.length, i.metadata_start, i.metadata_length, i.has_metadata
  ), ${SETTLE}, ${COUNT_USAGE}, ${noteStates("ended")}, results as (
    -- Only of what was ended just now: a stale claim stores nothing.
    insert into execution_result (id, result, metadata)
    select id, substr($10::bytea, start, length),
      case when has_metadata then substr($10::bytea, metadata_start, metadata_length) end
    from ended where status = 'SUCCEEDED'
  ), notified as materialized (
    -- One notification for all; "having" keeps the aggregate from giving a row when nothing was ended. PostgreSQL
    -- evaluates this only because the query below refers to it.
    select ${describeNotification(selectPayloadIds("id"))} from ended having count(*) > 0
  )
  select ${selectRecord("ended")}, ${selectProgress("ended")} from ended left join notified on true`;

/** SQL: the same for one end, with a shorter plan. Parameters: the first columns of `input` as values, origin, result, metadata. */
export const FINISH_ONE = finishOne(`insert into execution_result (id, result, metadata)
    select id, $10::bytea, $11::bytea from ended where status = 'SUCCEEDED'`);

/** SQL: the same, with content that is kept beside the row. Further parameters: arrays of its names, hashes and sizes. */
export const FINISH_WITH_OUTPUT = finishOne(`insert into execution_result (id, result, metadata, has_output)
    select id, $10::bytea, $11::bytea, true from ended where status = 'SUCCEEDED'
  ), outputs as (
    insert into execution_output (execution_id, name, hash, bytes, organisation_id)
    select ended.id, o.name, o.hash, o.bytes, coalesce(
      (select a.organisation_id from subscription b join application a on a.id = b.application_id where b.id = ended.owner_id),
      ended.owner_id)
    from ended cross join unnest($12::text[], $13::text[], $14::bigint[]) as o (name, hash, bytes) where ended.status = 'SUCCEEDED'`);

function finishOne(results: string): string {
  return `with ended as (
    update execution e set status = $4, ended_at = now(), lease_until = null, failure_code = $5, failure_detail = $6,
      failure_metadata = $7::jsonb, cpu_micros = ${addCpu("$8::bigint")}
    where ${describeFence("$1::uuid", "$2::int", "$3::text")} returning e.*
  ), ${SETTLE_ONE}, ${COUNT_USAGE_ONE}, ${noteStates("ended")}, results as (
    ${results}
  )
  select ${selectRecord("ended")}, ${selectProgress("ended")} from ended cross join lateral (select ${describeNotification(encodeId("ended.id"))}) notified`;
}
