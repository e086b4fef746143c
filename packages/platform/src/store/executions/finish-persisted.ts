import { Problem } from "@platform/contract/problems";
import { PERSISTED, addMetadata } from "@platform/engine/python/port/run-output";
import type { Metadata, Outcome } from "@platform/engine/python/port/runtime";
import type { ClaimKey } from "@platform/engine/store/execution-store";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { FateUnknown } from "../../postgres/retry.ts";
import { appendEntry } from "../audit/trail.ts";
import type { NewAuditEntry } from "../audit/trail.ts";
import { createResultFile } from "../pools/result-files.ts";
import type { ResultFile } from "../pools/result-files.ts";
import type { Events } from "./events.ts";
import { describeEnd, findEnded } from "./finish.ts";
import { toRecord } from "./record.ts";
import type { RecordRow } from "./record.ts";

/** The end of an execution whose result is stored in a data pool besides. */
export interface PersistedEnding {
  readonly claim: ClaimKey;
  readonly outcome: Extract<Outcome, { readonly status: "SUCCEEDED" }>;
  /** What is to become of the result; a Problem: its content could not be kept. */
  readonly file: ResultFile | Problem;
}

/** Refusals of the file alone. */
const REASONS: ReadonlySet<string> = new Set(["DATA_REFERENCE_INVALID", "QUOTA_EXCEEDED"]);

/**
 * Writes an end and the file in one transaction: there is the file of an execution that has succeeded, or its metadata say why there is none.
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
  { claim, outcome, file }: PersistedEnding,
): Promise<readonly RecordRow[]> {
  try {
    return await database.transaction(async (run) => {
      const { said, entry } = await storeFile(run, file, quotaBytes);
      const metadata = addMetadata(outcome.metadata, { [PERSISTED]: said });
      const rows = await run<RecordRow>(describeEnd(origin, { claim, outcome: { ...outcome, metadata } }));
      if (rows.length === 0) throw new NotHeld();
      // Last: who holds a log waits for nothing else.
      if (entry !== null) await appendEntry(run, entry);
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

/** What the metadata say of it, and the entry of the audit log. */
async function storeFile(
  run: RunStatement,
  file: ResultFile | Problem,
  quotaBytes: number,
): Promise<{ readonly said: Metadata; readonly entry: NewAuditEntry | null }> {
  if (file instanceof Problem) return { said: explain(file), entry: null };
  // A refusal takes back what was done for the file, and nothing else.
  await run({ text: "savepoint before_file" });
  try {
    const created = await createResultFile(run, file, quotaBytes);
    return { said: { ...created.file }, entry: created.entry };
  } catch (error) {
    if (!(error instanceof Problem) || !REASONS.has(error.code)) throw error;
    await run({ text: "rollback to savepoint before_file" });
    return { said: explain(error), entry: null };
  }
}

function explain({ code, message: detail }: Problem): Metadata {
  return { code, detail };
}
