import { Problem } from "@platform/contract/problems";
import { PERSISTED, addMetadata } from "@platform/engine/python/port/run-output";
import type { Metadata, Outcome } from "@platform/engine/python/port/runtime";
import type { ClaimKey } from "@platform/engine/store/execution-store";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { FateUnknown } from "../../postgres/retry.ts";
import { appendEntry } from "../audit/trail.ts";
import type { NewAuditEntry } from "../audit/trail.ts";
import { createResultFiles, holdPools } from "../pools/result-files.ts";
import type { CreatedFiles, ResultFiles } from "../pools/result-files.ts";
import type { Events } from "./events.ts";
import { describeEnd, findEnded } from "./finish.ts";
import { toRecord } from "./record.ts";
import type { RecordRow } from "./record.ts";

/** The end of an execution that stores files in data pools besides. */
export interface PersistedEnding {
  readonly claim: ClaimKey;
  readonly outcome: Extract<Outcome, { readonly status: "SUCCEEDED" }>;
  /** What is to become of the result, as one file; a Problem: its content could not be kept. Null: nothing. */
  readonly file: ResultFiles | Problem | null;
  /** What the output pool gets; null: there is none. */
  readonly pool: PoolFiles | null;
}

/** The files that a run has left for a data pool: all are stored, or none. */
interface PoolFiles {
  /** Of the pool in the input. */
  readonly place: string;
  readonly dataPoolId: string;
  readonly files: ResultFiles | Problem;
}

/** Refusals of the file alone. */
const REASONS: ReadonlySet<string> = new Set(["DATA_REFERENCE_INVALID", "QUOTA_EXCEEDED"]);

/**
 * Writes an end and the files in one transaction: there are the files of an execution that has succeeded, or its metadata say why there are none.
 * Returns as `finish`, and can be repeated as it.
 *
 * @throws Problem UNAVAILABLE
 */
export async function finishPersisted(
  database: Database,
  events: Events,
  ending: PersistedEnding,
  quotaBytes: number,
): Promise<boolean> {
  const rows = await writeBoth(database, { origin: events.origin, quotaBytes }, ending);
  for (const row of rows) events.emitChanged(toRecord(row));
  return rows.length > 0 || (await findEnded(database, [ending])).size > 0;
}

/** Empty: the claim is no longer held, or a try before this one has ended it; nothing was changed. */
async function writeBoth(
  database: Database,
  { origin, quotaBytes }: { readonly origin: string; readonly quotaBytes: number },
  { claim, outcome, file, pool }: PersistedEnding,
): Promise<readonly RecordRow[]> {
  try {
    return await database.transaction(async (run) => {
      const targets = listTargets(file, pool);
      if (targets.length > 1) await holdPools(run, targets);
      const ofResult = file === null ? NOTHING : await storeResult(run, file, quotaBytes);
      const ofPool = pool === null ? NOTHING : await storePool(run, pool, quotaBytes);
      const said = { ...ofResult.said, ...ofPool.said };
      const metadata = addMetadata(outcome.metadata, { [PERSISTED]: said });
      const rows = await run<RecordRow>(describeEnd(origin, { claim, outcome: { ...outcome, metadata } }));
      if (rows.length === 0) throw new NotHeld();
      // Last: who holds a log waits for nothing else.
      for (const entry of [...ofResult.entries, ...ofPool.entries]) await appendEntry(run, entry);
      return rows;
    });
  } catch (error) {
    if (error instanceof NotHeld) return [];
    // A repetition finds out.
    if (error instanceof FateUnknown) throw new Problem("UNAVAILABLE", undefined, { cause: error });
    throw error;
  }
}

/** Takes the file back. */
class NotHeld extends Error {}

/** What the metadata say, and the entries of the audit log. */
interface Stored {
  readonly said: Metadata;
  readonly entries: readonly NewAuditEntry[];
}

const NOTHING: Stored = { said: {}, entries: [] };

/** The data pools that something is to be stored in. */
function listTargets(file: PersistedEnding["file"], pool: PoolFiles | null): readonly string[] {
  const all = [file, pool?.files ?? null];
  const named = all.flatMap((one) =>
    one === null || one instanceof Problem || one.files.length === 0 ? [] : [one.dataPoolId.toLowerCase()],
  );
  return [...new Set(named)];
}

async function storeResult(
  run: RunStatement,
  file: ResultFiles | Problem,
  quotaBytes: number,
): Promise<Stored> {
  const stored = await storeFiles(run, file, quotaBytes);
  if (stored instanceof Problem) return { said: explain(stored), entries: [] };
  return { said: { ...stored.files[0] }, entries: listEntries(stored) };
}

async function storePool(
  run: RunStatement,
  { place, dataPoolId, files }: PoolFiles,
  quotaBytes: number,
): Promise<Stored> {
  const stored = await storeFiles(run, files, quotaBytes);
  const became = stored instanceof Problem ? explain(stored) : { files: stored.files };
  return {
    said: { pools: { [place]: { dataPoolId, ...became } } },
    entries: stored instanceof Problem ? [] : listEntries(stored),
  };
}

function listEntries({ entry }: CreatedFiles): readonly NewAuditEntry[] {
  return entry === null ? [] : [entry];
}

/** All of them, or why none of them. */
async function storeFiles(
  run: RunStatement,
  files: ResultFiles | Problem,
  quotaBytes: number,
): Promise<CreatedFiles | Problem> {
  if (files instanceof Problem) return files;
  // A refusal takes back what was done for the files, and nothing else.
  await run({ text: "savepoint before_files" });
  try {
    return await createResultFiles(run, files, quotaBytes);
  } catch (error) {
    if (!(error instanceof Problem) || !REASONS.has(error.code)) throw error;
    await run({ text: "rollback to savepoint before_files" });
    return error;
  }
}

function explain({ code, message: detail }: Problem): Metadata {
  return { code, detail };
}
