import { Readable } from "node:stream";
import { Problem } from "@platform/contract/problems";
import type { Logger } from "@platform/engine/base/logger";
import { getOutput, nameContents } from "@platform/engine/python/port/run-output";
import type { Outcome } from "@platform/engine/python/port/runtime";
import type { EndingClaim, ExecutionStore } from "@platform/engine/store/execution-store";
import type { Objects, StoredObject } from "../objects/object-store.ts";
import type { PersistedEnding } from "../store/executions/finish-persisted.ts";

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

/** The same store, which stores the results of executions in data pools where their starts ask for it. */
export function persistResults<S extends PersistingStore>(store: S, options: PersistOptions): S {
  return {
    ...store,
    finish: async (claim: EndingClaim, outcome: Outcome) => {
      const { id: executionId, owner, persistTo: target } = claim;
      if (target === undefined || owner === undefined || outcome.status !== "SUCCEEDED")
        return await store.finish(claim, outcome);
      const output = getOutput(outcome);
      const kept = output === undefined ? null : nameContents(output).result;
      // What is kept beside the row is an object already.
      const content = kept ?? (await keep(options, executionId, outcome.result));
      const file = content instanceof Problem ? content : { executionId, owner, target, ...content };
      try {
        return await store.finishPersisted({ claim, outcome, file });
      } catch (error) {
        if (error instanceof Problem) throw error;
        // What is wrong with the file must not keep the execution from ending.
        options.logger.error({ err: error, executionId }, "a result could not be stored in its data pool");
        return await store.finishPersisted({ claim, outcome, file: notStored() });
      }
    },
  };
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
      await received.keep();
    } finally {
      await received.drop();
    }
    return { hash: received.hash, bytes: received.bytes };
  } catch (error) {
    logger.warn({ err: error, executionId }, "a result could not be stored in its data pool");
    return notStored();
  }
}

function notStored(): Problem {
  return new Problem("UNAVAILABLE", "The file could not be stored when the execution ended.");
}
