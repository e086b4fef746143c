import { Readable } from "node:stream";
import { foldName } from "@platform/contract/file-name";
import { Problem } from "@platform/contract/problems";
import type { Logger } from "@platform/engine/base/logger";
import { SECOND } from "@platform/engine/base/time";
import { getOutput, nameStored } from "@platform/engine/python/port/run-output";
import type { Outcome } from "@platform/engine/python/port/runtime";
import { keepTrying } from "@platform/engine/base/keep-trying";
import { chooseMediaType } from "@platform/engine/content/media-type";
import type {
  EndingClaim,
  ExecutionStore,
  PinnedOutput,
  PinnedTarget,
} from "@platform/engine/store/execution-store";
import { StoreUnavailable } from "../objects/object-store.ts";
import type { Objects, ReceivedObject, StoredObject } from "../objects/object-store.ts";
import type { PersistedEnding } from "../store/executions/finish-persisted.ts";
import type { ResultFiles } from "../store/pools/result-files.ts";

/** A store that ends an execution together with the file that has its result. */
export interface PersistingStore extends ExecutionStore {
  /** As `finish`. */
  readonly finishPersisted: (ending: PersistedEnding) => Promise<boolean>;
}

/** What results are kept with. */
export interface PersistOptions {
  readonly objects: Pick<Objects, "receive">;
  readonly logger: Logger;
}

/** The same store, which stores results and files of executions in data pools where their starts ask for it. */
export function persistResults<S extends PersistingStore>(store: S, options: PersistOptions): S {
  return {
    ...store,
    finish: async (claim: EndingClaim, outcome: Outcome) => {
      const { id: executionId, owner, persistTo, outputPool } = claim;
      const isPlain = persistTo === undefined && outputPool === undefined;
      if (isPlain || owner === undefined || outcome.status !== "SUCCEEDED")
        return await store.finish(claim, outcome);
      const maker = { executionId, owner };
      const pool = outputPool === undefined ? null : namePoolFiles(maker, { outputPool, outcome });
      const file =
        persistTo === undefined
          ? null
          : refuseTaken(await nameResult(options, maker, { persistTo, outcome }), pool?.files);
      try {
        return await store.finishPersisted({ claim, outcome, file, pool });
      } catch (error) {
        if (error instanceof Problem) throw error;
        // What is wrong with a file must not keep the execution from ending.
        options.logger.error({ err: error, executionId }, "files could not be stored in data pools");
        return await store.finishPersisted({
          claim,
          outcome,
          file: file === null ? null : notStored(),
          pool: pool === null ? null : { ...pool, files: notStored() },
        });
      }
    },
  };
}

/**
 * How long a store that is away, or removes equal content just now, is tried again: not as long as a worker that stops waits for the ends of its
 * executions, which is a lease. Results lie in memory meanwhile.
 */
const KEEP_FOR_MS = 20 * SECOND;

type Succeeded = Extract<Outcome, { readonly status: "SUCCEEDED" }>;
type Maker = Pick<ResultFiles, "executionId" | "owner">;

async function nameResult(
  options: PersistOptions,
  maker: Maker,
  { persistTo: target, outcome }: { readonly persistTo: PinnedTarget; readonly outcome: Succeeded },
): Promise<ResultFiles | Problem> {
  const kept = nameStored(outcome)?.result ?? null;
  // What is kept beside the row is an object already.
  const content = kept ?? (await keep(options, maker.executionId, outcome.result));
  if (content instanceof Problem) return content;
  const { dataPoolId, userId, name } = target;
  const file = { name: name ?? `${maker.executionId}.json`, mediaType: "application/json", ...content };
  return { ...maker, dataPoolId, userId, files: [file] };
}

/** What the run has left for the pool: objects already. */
function namePoolFiles(
  maker: Maker,
  { outputPool, outcome }: { readonly outputPool: PinnedOutput; readonly outcome: Succeeded },
): { readonly place: string; readonly dataPoolId: string; readonly files: ResultFiles } {
  const { path, dataPoolId, userId } = outputPool;
  const files = (getOutput(outcome)?.poolFiles ?? []).map(({ name, content: { hash, bytes } }) => ({
    name,
    mediaType: chooseMediaType(name),
    hash,
    bytes,
  }));
  return { place: `/${path.join("/")}`, dataPoolId, files: { ...maker, dataPoolId, userId, files } };
}

/**
 * The file of the result, unless a file of the run has its name in the same pool: one of them would be replaced as soon as it is there. The
 * result can be read all the same, what the run has left cannot.
 */
function refuseTaken(result: ResultFiles | Problem, left: ResultFiles | undefined): ResultFiles | Problem {
  const isElsewhere = (pool: ResultFiles) => pool.dataPoolId.toLowerCase() !== left?.dataPoolId.toLowerCase();
  if (left === undefined || result instanceof Problem || isElsewhere(result)) return result;
  const names = new Set(left.files.map(({ name }) => foldName(name)));
  const taken = result.files.find(({ name }) => names.has(foldName(name)));
  if (taken === undefined) return result;
  return new Problem(
    "CONFLICT",
    `The run has left a file of the name ${taken.name} in the same data pool; the result is not stored as one. Ask for another name in persistTo.`,
  );
}

/** The result as an object, or why it is none: the execution has succeeded anyway. Never rejects. */
async function keep(
  { objects, logger }: PersistOptions,
  executionId: string,
  result: Uint8Array,
): Promise<StoredObject | Problem> {
  try {
    const received = await objects.receive(Readable.from([result]), result.byteLength);
    try {
      await keepTrying(() => keepOnce(received), isHeld, KEEP_FOR_MS);
    } finally {
      await received.drop();
    }
    return { hash: received.hash, bytes: received.bytes };
  } catch (error) {
    logger.warn({ err: error, executionId }, "a result could not be stored in its data pool");
    return notStored();
  }
}

/** A claim that was lost is found when its end is written. */
const isHeld = () => true;

async function keepOnce(received: ReceivedObject): Promise<boolean> {
  try {
    await received.keep();
    return true;
  } catch (cause) {
    throw cause instanceof StoreUnavailable ? new Problem("UNAVAILABLE", undefined, { cause }) : cause;
  }
}

function notStored(): Problem {
  return new Problem("UNAVAILABLE", "The file could not be stored when the execution ended.");
}
