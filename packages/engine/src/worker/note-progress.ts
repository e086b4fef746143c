import { Problem } from "@platform/contract/problems";
import type { Logger } from "../base/logger.ts";
import type { ProgressUpdate } from "../python/port/runtime.ts";
import type { Claim, ExecutionStore } from "../store/execution-store.ts";

interface ProgressDeps {
  readonly store: Pick<ExecutionStore, "noteProgress">;
  readonly logger: Logger;
}

/** Stores what a run reports. What could not be stored is not lost: it is stored with the next, or before the end. */
export interface ProgressKeeper {
  /** Never rejects. */
  readonly note: (update: ProgressUpdate) => Promise<void>;
  /** The write of an end, after what is still to be stored. It can be repeated. */
  readonly before: (end: () => Promise<boolean>) => () => Promise<boolean>;
}

/** For one claim. */
export function createProgressKeeper({ store, logger }: ProgressDeps, claim: Claim): ProgressKeeper {
  let unstored: ProgressUpdate | null = null;

  async function storeNow(update: ProgressUpdate): Promise<void> {
    unstored = update;
    await store.noteProgress(claim, update);
    unstored = null;
  }

  function warn(error: unknown): void {
    logger.warn({ err: error, executionId: claim.id }, "what an execution reported could not be stored");
  }

  return {
    note: async ({ progress, checkpoint }) => {
      const update = {
        progress: progress ?? unstored?.progress ?? null,
        checkpoint: checkpoint ?? unstored?.checkpoint ?? null,
      };
      await storeNow(update).catch(warn);
    },
    before: (end) => {
      if (unstored === null) return end;
      return async () => {
        if (unstored !== null) await storeNow(unstored).catch(passOnTransient);
        return await end();
      };
    },
  };

  /** An end is worth more than what was reported before it. */
  function passOnTransient(error: unknown): void {
    if (error instanceof Problem && error.code === "UNAVAILABLE") throw error;
    warn(error);
  }
}
