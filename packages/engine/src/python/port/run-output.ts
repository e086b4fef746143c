import type { ContentName, ReceivedContent, StoredOutput } from "../../content/result-store.ts";
import type { Metadata, NotStarted, Outcome, RunOutput } from "./runtime.ts";

/**
 * The names in the metadata of what was measured, what was read by reference, where the result was stored besides, and what is no file of the
 * result; like `_links`, no names that services choose: `_OWN_NAMES` in `outcome.py`.
 */
export const [MEASURED, READ, PERSISTED, OMITTED] = [
  "_usage",
  "_inputs",
  "_persisted",
  "_omittedFiles",
] as const;

/** All that a run returned in files. */
export function listContents({ result, files, poolFiles = [] }: RunOutput): readonly ReceivedContent[] {
  return [...(result === null ? [] : [result]), ...[...files, ...poolFiles].map(({ content }) => content)];
}

/** Removes what was received; what was kept stays. What cannot be removed now is removed with what killed processes leave. */
export function dropOutput(output: RunOutput | undefined): void {
  if (output === undefined) return;
  for (const content of listContents(output)) void content.drop().catch(() => undefined);
}

/** What was received with an outcome; undefined: nothing. */
export function getOutput(outcome: Outcome | NotStarted): RunOutput | undefined {
  return outcome.status === "SUCCEEDED" ? outcome.output : undefined;
}

/** The names by which it is found once it is kept; what goes to a data pool is none of the result. */
export function nameContents({ result, files }: RunOutput): StoredOutput {
  return {
    result: result === null ? null : toName(result),
    files: files.map(({ name, content }) => ({ name, ...toName(content) })),
  };
}

/** The same of an outcome; null: nothing is kept beside its row. */
export function nameStored(outcome: Outcome): StoredOutput | null {
  const output = getOutput(outcome);
  if (output === undefined) return null;
  const stored = nameContents(output);
  return stored.result === null && stored.files.length === 0 ? null : stored;
}

function toName({ hash, bytes }: ReceivedContent): ContentName {
  return { hash, bytes };
}

const EMPTY_OBJECT_BYTES = 2;

/** Adds members to the text of an object as the runner writes it; null: an empty one. */
export function addMetadata(text: Uint8Array | null, metadata: Metadata): Uint8Array {
  const members = JSON.stringify(metadata).slice(1);
  if (text === null || text.length <= EMPTY_OBJECT_BYTES) return Buffer.from(`{${members}`);
  return Buffer.concat([text.subarray(0, -1), Buffer.from(`,${members}`)]);
}
