import type { StoredOutput } from "@platform/engine/content/result-store";
import { nameStored } from "@platform/engine/python/port/run-output";
import type { ClaimKey, ExecutionRecord } from "@platform/engine/store/execution-store";
import type { Outcome } from "@platform/engine/python/port/runtime";
import { MEGABYTE } from "@platform/engine/base/bytes";
import type { Database, Statement } from "../../postgres/database.ts";
import { concatenate, createBatcher, toArrays } from "./batch.ts";
import type { Batcher } from "./batch.ts";
import { MAX_NOTIFIED_IDS } from "./events.ts";
import type { Events } from "./events.ts";
import { FINISH, FINISH_ONE, FINISH_WITH_OUTPUT } from "./finish-statement.ts";
import { lookUp } from "./lookup.ts";
import { toRecord, toText } from "./record.ts";
import type { RecordRow } from "./record.ts";

/** One end to be written: which claim ended, and how. */
export interface Ending {
  readonly claim: ClaimKey;
  readonly outcome: Outcome;
}

/** Of the result itself, in `execution_output`: no file has it. */
export const RESULT_NAME = "";

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

/** The same for an end with content that is kept beside the row; alone, since few have any. */
export async function finishWithOutput(
  database: Database,
  events: Events,
  { ending, output }: { readonly ending: Ending; readonly output: StoredOutput },
): Promise<boolean> {
  const rows = await database.query<RecordRow>({
    ...describeWithOutput(events.origin, ending, output),
    idempotent: true,
  });
  for (const row of rows) events.emitChanged(toRecord(row));
  return rows.length > 0 || (await findEnded(database, [ending])).size > 0;
}

function describeWithOutput(origin: string, ending: Ending, output: StoredOutput): Statement {
  const { outcome } = ending;
  const { result, files } = output;
  const contents = [...(result === null ? [] : [{ name: RESULT_NAME, ...result }]), ...files];
  return {
    name: "execution-finish-output",
    text: FINISH_WITH_OUTPUT,
    values: [
      ...toColumns(ending),
      origin,
      getResult(outcome),
      getMetadata(outcome),
      ...toArrays(contents.map(({ name, hash, bytes }) => [name, hash, bytes])),
    ],
  };
}

/** The statement that writes one end, with what is kept beside its row. */
export function describeEnd(origin: string, ending: Ending): Statement {
  const output = nameStored(ending.outcome);
  return output === null ? finishOne(origin, ending) : describeWithOutput(origin, ending, output);
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

/** Columns of `input` of FINISH, and of `execution`: id, attempt and worker of the claim, status, failure_code, failure_detail, failure_metadata, cpu_micros. */
export function toColumns({ claim, outcome }: Ending): readonly unknown[] {
  const { id, attempt, workerId } = claim;
  const ending = [id, attempt, workerId, outcome.status];
  if (outcome.status === "SUCCEEDED") return [...ending, null, null, null, getCpuMicros(outcome)];
  return [
    ...ending,
    toText(outcome.code),
    toText(outcome.detail),
    getFailureMetadata(outcome),
    getCpuMicros(outcome),
  ];
}

/** JSON text, which is short and has nothing of user code. */
function getFailureMetadata(outcome: Outcome): string | null {
  if (outcome.status !== "FAILED" || outcome.metadata === undefined) return null;
  return JSON.stringify(outcome.metadata);
}

async function endExecutions(
  database: Database,
  origin: string,
  endings: readonly Ending[],
): Promise<readonly ExecutionRecord[]> {
  const [ending] = endings;
  const rows = await database.query<RecordRow>({
    ...(ending !== undefined && endings.length === 1
      ? finishOne(origin, ending)
      : finishAll(origin, endings)),
    idempotent: true,
  });
  return rows.map(toRecord);
}

function finishAll(origin: string, endings: readonly Ending[]): Statement {
  const results = endings.map(({ outcome }) => getResult(outcome));
  const metadata = endings.map(({ outcome }) => getMetadata(outcome));
  const slices = concatenate([...results, ...metadata.map((bytes) => bytes ?? EMPTY)]);
  const count = endings.length;
  return {
    name: "execution-finish",
    text: FINISH,
    values: [
      ...toArrays(endings.map(toColumns)),
      origin,
      slices.bytes,
      slices.starts.slice(0, count),
      slices.lengths.slice(0, count),
      slices.starts.slice(count),
      slices.lengths.slice(count),
      metadata.map((bytes) => bytes !== null),
    ],
  };
}

function finishOne(origin: string, ending: Ending): Statement {
  const { outcome } = ending;
  return {
    name: "execution-finish-one",
    text: FINISH_ONE,
    values: [...toColumns(ending), origin, getResult(outcome), getMetadata(outcome)],
  };
}

/** The ids of those that this attempt has ended already, with the same status. */
export async function findEnded(
  database: Database,
  endings: readonly Ending[],
): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ id: string }>({
    text: `select e.id from unnest($1::uuid[], $2::int[], $3::text[], $4::text[]) as i (id, attempt, worker_id, status)
      join execution e on ${lookUp("e", "i.id", "e.attempt = i.attempt and e.worker_id = i.worker_id and e.status = i.status")}`,
    values: toArrays(endings.map(toColumns)).slice(0, 4),
    idempotent: true,
  });
  return new Set(rows.map(({ id }) => id));
}
