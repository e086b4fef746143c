import { randomUUID } from "node:crypto";
import { access, constants, lstat, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { foldName } from "@platform/contract/file-name";
import { Problem } from "@platform/contract/problems";
import { HOUR } from "@platform/engine/base/time";
import { getCode } from "@platform/engine/base/thrown";
import type { ResultStore } from "@platform/engine/content/result-store";
import { PERSISTED, addMetadata, getOutput } from "@platform/engine/python/port/run-output";
import type { Metadata, Outcome } from "@platform/engine/python/port/runtime";
import { refuseTarget } from "@platform/engine/store/execution-store";
import type {
  EndingClaim,
  ExecutionStore,
  PinnedTarget,
  ResultTargets,
} from "@platform/engine/store/execution-store";
import { findPool, readPools } from "./pool-folder.ts";
import type { LocalPool } from "./pool-folder.ts";

/** A file that is being written. Names that begin with a period are no files of a pool. */
const PART = /^\.[0-9a-f-]{36}\.part$/u;
/** Longer than a file of 1 GB takes: its server was killed. */
const PART_LIVES_MS = HOUR;

/** Where results are stored, and read from. */
export interface PersistOptions {
  /** Absolute; see `pool-folder.ts`. It need not exist. */
  readonly root: string;
  readonly results: Pick<ResultStore, "read">;
}

/** Local data pools that get results as files: folders that can be written to. */
export function createLocalTargets(root: string): ResultTargets {
  return {
    pin: async ({ dataPoolId, name = null }, _owner, place) => {
      if (place !== undefined)
        throw refuse(place, "The local server stores no files of output pools: leave the pool out here.");
      if (name?.startsWith(".") === true)
        throw refuse("/persistTo/name", "Names that begin with a period are no files of a local data pool.");
      const { path } = await requirePool(root, dataPoolId);
      await access(path, constants.W_OK | constants.X_OK).catch((cause: unknown) => {
        throw refuse("/persistTo", `${path} cannot be written to (${getCode(cause) ?? "unknown"}).`);
      });
      return { dataPoolId, name, userId: null };
    },
  };
}

/** The same store, which stores the results of executions in local data pools where their starts ask for it, before their ends are written. */
export function persistLocally(store: ExecutionStore, options: PersistOptions): ExecutionStore {
  // One after the other: two names that differ by case alone are one.
  let last: Promise<unknown> = Promise.resolve();
  return {
    ...store,
    finish: async (claim: EndingClaim, outcome: Outcome) => {
      const { id, persistTo: target } = claim;
      if (target === undefined || outcome.status !== "SUCCEEDED") return await store.finish(claim, outcome);
      const stored = last.then(async () => storeResult(options, outcome, { ...target, executionId: id }));
      last = stored;
      const metadata = addMetadata(outcome.metadata, { [PERSISTED]: await stored });
      return await store.finish(claim, { ...outcome, metadata });
    },
  };
}

/** What the metadata say of it: the file, or why there is none. Never rejects. */
async function storeResult(
  { root, results }: PersistOptions,
  outcome: Extract<Outcome, { readonly status: "SUCCEEDED" }>,
  { dataPoolId, name, executionId }: PinnedTarget & { readonly executionId: string },
): Promise<Metadata> {
  try {
    const pool = await requirePool(root, dataPoolId);
    await removeOldParts(pool.path);
    const kept = getOutput(outcome)?.result ?? null;
    const read = async () =>
      kept === null ? outcome.result : await results.read(kept.hash, { start: 0, end: kept.bytes });
    const stored = await storeFile(pool, name ?? `${executionId}.json`, read);
    const { files } = await requirePool(root, dataPoolId);
    const file = files.find((one) => one.name === stored);
    if (file === undefined) throw refuseTarget();
    return { reference: file.reference, name: file.name };
  } catch (error) {
    const { code, message } = error instanceof Problem ? error : notStored(error);
    return { code, detail: message };
  }
}

/** It is there as a whole or not at all. Returns its name: that of a file which it replaces keeps its upper and lower case. */
async function storeFile(
  { path, files }: LocalPool,
  name: string,
  read: () => Promise<Uint8Array | Readable>,
): Promise<string> {
  const part = join(path, `.${randomUUID()}.part`);
  try {
    const file = await open(part, "wx");
    try {
      // Not before: nobody would hear of a stream that fails while the file is opened.
      await writeFile(file, await read());
      await file.sync();
    } finally {
      await file.close();
    }
    const stored = files.find((one) => foldName(one.name) === foldName(name))?.name ?? name;
    await rename(part, join(path, stored));
    return stored;
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Of servers that were killed. */
async function removeOldParts(path: string): Promise<void> {
  for (const name of await readdir(path)) {
    if (!PART.test(name)) continue;
    const part = join(path, name);
    const found = await lstat(part).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs > PART_LIVES_MS) await rm(part, { force: true });
  }
}

/** @throws Problem DATA_REFERENCE_INVALID */
async function requirePool(root: string, dataPoolId: string): Promise<LocalPool> {
  const pool = findPool((await readPools(root)).pools, dataPoolId);
  if (pool === null) throw refuseTarget();
  return pool;
}

function refuse(path: string, message: string): Problem {
  return new Problem("DATA_REFERENCE_INVALID", message, { errors: [{ path, message }] });
}

function notStored(error: unknown): Problem {
  const reason = getCode(error) ?? "unknown";
  return new Problem("UNAVAILABLE", `The file could not be stored when the execution ended (${reason}).`);
}
