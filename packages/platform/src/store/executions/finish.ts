import type { ClaimKey, ExecutionRecord } from "@platform/engine/store/execution-store";
import type { Outcome } from "@platform/engine/python/port/runtime";
import { MEGABYTE } from "@platform/engine/base/bytes";
import type { Database } from "../../postgres/database.ts";
import { concatenate, createBatcher } from "./batch.ts";
import type { Batcher } from "./batch.ts";
import { EXECUTIONS_CHANNEL } from "../base/channels.ts";
import { MAX_NOTIFIED_IDS, selectPayloadIds } from "./events.ts";
import type { Events } from "./events.ts";
import { SETTLE } from "./hold.ts";
import { lookUp } from "./lookup.ts";
import { COUNT_USAGE } from "./meter.ts";
import { selectRecord, toRecord, toText } from "./record.ts";
import type { RecordRow } from "./record.ts";

/** One end to be written: which claim ended, and how. */
export interface Ending {
  readonly claim: ClaimKey;
  readonly outcome: Outcome;
}

const EMPTY = new Uint8Array();
const MICRO = 1e6;

/** How many flushes of ends may be under way at the same time. */
export const ENDS_IN_FLIGHT = 3;
/** Flushes with at least so many bytes of results use the connections whose statements may take longer. */
const LARGE_BYTES = 1 * MEGABYTE;

/**
 * Creates the batcher that writes ends. An item resolves to true when its end is written (by this call or an earlier one
 * whose answer was lost), to false when the claim is no longer held and nothing was changed. Flushes with less than
 * LARGE_BYTES of results are written over `vital`, the others over `large`, with more time for each statement.
 */
export function createFinisher(
  { vital, large }: { readonly vital: Database; readonly large: Database },
  events: Events,
): Batcher<Ending, boolean> {
  return createBatcher({
    maxItems: MAX_NOTIFIED_IDS,
    maxBytes: 8 * MEGABYTE,
    maxInFlight: ENDS_IN_FLIGHT,
    measureBytes,
    flush: async (endings) => {
      const bytes = endings.reduce((sum, ending) => sum + measureBytes(ending), 0);
      const database = bytes < LARGE_BYTES ? vital : large;
      const records = await endExecutions(database, events.origin, endings);
      for (const record of records) events.emitChanged(record);
      const written = new Set(records.map(({ id }) => id));
      // The rest is no longer held, or was ended by an earlier try whose answer was lost: of this call or of one before.
      const before = written.size < endings.length ? await findEnded(database, endings) : new Set<string>();
      return endings.map(({ claim }) => written.has(claim.id) || before.has(claim.id));
    },
  });
}

function measureBytes({ outcome }: Ending): number {
  return getResult(outcome).byteLength + (getMetadata(outcome)?.byteLength ?? 0);
}

function getResult(outcome: Outcome): Uint8Array {
  return outcome.status === "SUCCEEDED" ? outcome.result : EMPTY;
}

function getMetadata(outcome: Outcome): Uint8Array | null {
  return outcome.status === "SUCCEEDED" ? outcome.metadata : null;
}

/** Null: not measured. */
function getCpuMicros(outcome: Outcome): number | null {
  if (outcome.status === "UNKNOWN" || outcome.cpuSeconds === undefined) return null;
  return Math.round(outcome.cpuSeconds * MICRO);
}

/** JSON text, which is short and has nothing of user code. */
function getFailureMetadata(outcome: Outcome): string | null {
  if (outcome.status !== "FAILED" || outcome.metadata === undefined) return null;
  return JSON.stringify(outcome.metadata);
}

/**
 * Ends executions, stores their results and notifies other processes, in one transaction: a SUCCEEDED execution always
 * has its result, and who is notified finds the new state.
 */
const TEXT = `with input as (
    -- One row for each end. start and length are positions in $13, which has all results and metadata.
    select * from unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[], $8::int[],
      $9::int[], $10::int[], $11::boolean[], $12::jsonb[], $15::bigint[])
      as i (id, attempt, worker_id, status, code, detail, start, length, metadata_start, metadata_length, has_metadata,
        failure_metadata, cpu_micros)
  ), ended as (
    -- The fence: only the holder of this attempt, and only while it is RUNNING, so final states never change. When a
    -- sweep or another try of this end writes the row at the same time, the update waits for it and then checks the
    -- conditions again: the first to commit wins. The lease is not compared: until a sweep has ended the execution,
    -- a late outcome is still the true one.
    update execution e set status = i.status, ended_at = now(), lease_until = null, failure_code = i.code,
      failure_detail = i.detail, failure_metadata = i.failure_metadata,
      cpu_micros = i.cpu_micros
    from input i
    where ${lookUp("e", "i.id", "e.attempt = i.attempt and e.worker_id = i.worker_id and e.status = 'RUNNING'")}
    returning e.*, i.start, i.length, i.metadata_start, i.metadata_length, i.has_metadata
  ), ${SETTLE}, ${COUNT_USAGE}, results as (
    -- Only of what was ended just now: a stale claim stores nothing. No metadata is null, empty metadata is not.
    insert into execution_result (id, result, metadata)
    select id, substr($13::bytea, start, length),
      case when has_metadata then substr($13::bytea, metadata_start, metadata_length) end
    from ended where status = 'SUCCEEDED'
  ), notified as materialized (
    -- One notification for all; "having" keeps the aggregate from giving a row when nothing was ended. PostgreSQL
    -- evaluates this only because the query below refers to it.
    select pg_notify('${EXECUTIONS_CHANNEL}', $14 || ':changed:' || ${selectPayloadIds("id")}) from ended having count(*) > 0
  )
  select ${selectRecord("ended")} from ended left join notified on true`;

async function endExecutions(
  database: Database,
  origin: string,
  endings: readonly Ending[],
): Promise<readonly ExecutionRecord[]> {
  const results = endings.map(({ outcome }) => getResult(outcome));
  const metadata = endings.map(({ outcome }) => getMetadata(outcome));
  const slices = concatenate([...results, ...metadata.map((bytes) => bytes ?? EMPTY)]);
  const count = endings.length;
  const rows = await database.query<RecordRow>({
    name: "execution-finish",
    text: TEXT,
    values: [
      ...toKeyColumns(endings),
      endings.map(({ outcome }) => outcome.status),
      endings.map(({ outcome }) => (outcome.status === "SUCCEEDED" ? null : toText(outcome.code))),
      endings.map(({ outcome }) => (outcome.status === "SUCCEEDED" ? null : toText(outcome.detail))),
      slices.starts.slice(0, count),
      slices.lengths.slice(0, count),
      slices.starts.slice(count),
      slices.lengths.slice(count),
      metadata.map((bytes) => bytes !== null),
      endings.map(({ outcome }) => getFailureMetadata(outcome)),
      slices.bytes,
      origin,
      endings.map(({ outcome }) => getCpuMicros(outcome)),
    ],
    idempotent: true,
  });
  return rows.map(toRecord);
}

function toKeyColumns(endings: readonly Ending[]): readonly unknown[] {
  return [
    endings.map(({ claim }) => claim.id),
    endings.map(({ claim }) => claim.attempt),
    endings.map(({ claim }) => claim.workerId),
  ];
}

/** The ids of those that this attempt has ended already, with the same status. */
async function findEnded(database: Database, endings: readonly Ending[]): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ id: string }>({
    text: `select e.id from unnest($1::uuid[], $2::int[], $3::text[], $4::text[]) as i (id, attempt, worker_id, status)
      join execution e on ${lookUp("e", "i.id", "e.attempt = i.attempt and e.worker_id = i.worker_id and e.status = i.status")}`,
    values: [...toKeyColumns(endings), endings.map(({ outcome }) => outcome.status)],
    idempotent: true,
  });
  return new Set(rows.map(({ id }) => id));
}
