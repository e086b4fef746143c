import { access, constants } from "node:fs/promises";
import type { Readable } from "node:stream";
import { Problem } from "@platform/contract/problems";
import { getCode } from "@platform/engine/base/thrown";
import type { ContentName, ResultStore } from "@platform/engine/content/result-store";
import { PERSISTED, addMetadata, getOutput } from "@platform/engine/python/port/run-output";
import type { Metadata, Outcome } from "@platform/engine/python/port/runtime";
import type {
  EndingClaim,
  ExecutionStore,
  PinnedOutput,
  PinnedTarget,
  ResultTargets,
} from "@platform/engine/store/execution-store";
import { explainLocalName } from "./pool-folder.ts";
import { requirePool, storeFiles } from "./store-files.ts";

/** Where results are stored, and read from. */
export interface PersistOptions {
  /** Absolute; see `pool-folder.ts`. It need not exist. */
  readonly root: string;
  readonly results: Pick<ResultStore, "read">;
}

const RESULT_PLACE = "/persistTo";

/** Local data pools that get results and files of runs: folders that can be written to. */
export function createLocalTargets(root: string): ResultTargets {
  return {
    pin: async ({ dataPoolId, name = null }, _owner, place = RESULT_PLACE) => {
      const fault = name === null ? null : explainLocalName(name);
      if (fault !== null) throw refuse(`${place}/name`, fault);
      const { path } = await requirePool(root, dataPoolId, place);
      await access(path, constants.W_OK | constants.X_OK).catch((cause: unknown) => {
        throw refuse(place, `${path} cannot be written to (${getCode(cause) ?? "unknown"}).`);
      });
      return { dataPoolId, name, userId: null };
    },
  };
}

type Succeeded = Extract<Outcome, { readonly status: "SUCCEEDED" }>;

/** The same store, which stores results and files of executions in local data pools where their starts ask for it, before their ends are written. */
export function persistLocally(store: ExecutionStore, options: PersistOptions): ExecutionStore {
  // One after the other: two names that differ by case alone are one.
  let last: Promise<unknown> = Promise.resolve();
  return {
    ...store,
    finish: async (claim: EndingClaim, outcome: Outcome) => {
      const { persistTo, outputPool } = claim;
      const isPlain = persistTo === undefined && outputPool === undefined;
      if (isPlain || outcome.status !== "SUCCEEDED") return await store.finish(claim, outcome);
      const stored = last.then(async () => ({
        ...(persistTo && (await storeResult(options, outcome, { ...persistTo, executionId: claim.id }))),
        ...(outputPool && { pools: await storePool(options, outcome, outputPool) }),
      }));
      last = stored;
      const metadata = addMetadata(outcome.metadata, { [PERSISTED]: await stored });
      return await store.finish(claim, { ...outcome, metadata });
    },
  };
}

/** What the metadata say of it: the file, or why there is none. Never rejects. */
async function storeResult(
  { root, results }: PersistOptions,
  outcome: Succeeded,
  { dataPoolId, name, executionId }: PinnedTarget & { readonly executionId: string },
): Promise<Metadata> {
  try {
    const kept = getOutput(outcome)?.result ?? null;
    const read = async () => (kept === null ? outcome.result : await readContent(results, kept));
    const [file] = await storeFiles(root, dataPoolId, [{ name: name ?? `${executionId}.json`, read }]);
    return { reference: file?.reference, name: file?.name };
  } catch (error) {
    return explain(error);
  }
}

/** What the metadata say of the files in the output pool: all of them, or why there is none. Never rejects. */
async function storePool(
  { root, results }: PersistOptions,
  outcome: Succeeded,
  { path, dataPoolId }: PinnedOutput,
): Promise<Metadata> {
  const place = `/${path.join("/")}`;
  try {
    const left = getOutput(outcome)?.poolFiles ?? [];
    const files = left.map(({ name, content }) => ({ name, read: () => readContent(results, content) }));
    const stored = await storeFiles(root, dataPoolId, files);
    const named = stored.map(({ reference, name }) => ({ reference, name }));
    return { [place]: { dataPoolId, files: named } };
  } catch (error) {
    return { [place]: { dataPoolId, ...explain(error) } };
  }
}

async function readContent(
  results: PersistOptions["results"],
  { hash, bytes }: ContentName,
): Promise<Uint8Array | Readable> {
  return bytes === 0 ? new Uint8Array() : await results.read(hash, { start: 0, end: bytes });
}

function refuse(path: string, message: string): Problem {
  return new Problem("DATA_REFERENCE_INVALID", message, { errors: [{ path, message }] });
}

function explain(error: unknown): Metadata {
  if (error instanceof Problem) return { code: error.code, detail: error.message };
  const reason = getCode(error) ?? "unknown";
  return {
    code: "UNAVAILABLE",
    detail: `The file could not be stored when the execution ended (${reason}).`,
  };
}
