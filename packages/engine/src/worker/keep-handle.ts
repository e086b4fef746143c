import type { Logger } from "../base/logger.ts";
import { keepTrying } from "../base/keep-trying.ts";
import { MINUTE } from "../base/time.ts";
import type { ExternalRun } from "../python/port/runtime.ts";
import type { Claim, ExecutionStore } from "../store/execution-store.ts";

interface HandleDeps {
  readonly store: Pick<ExecutionStore, "noteHandle">;
  readonly logger: Logger;
}

/** Bounds the tries to keep a handle: the code waits meanwhile, and what it has begun goes on without it. */
const KEEP_FOR_MS = 15 * MINUTE;

/** What an execution of an external backend knows of the attempts before, and how it keeps handles. @param isHeld whether the claim still is */
export function attendExternal(
  { store, logger }: HandleDeps,
  claim: Claim,
  isHeld: () => boolean,
): ExternalRun {
  return {
    handle: claim.handle ?? null,
    wasLost: (claim.attempts ?? []).some(({ code }) => code === "WORKER_LOST"),
    onHandle: async (handle) => {
      try {
        return await keepTrying(() => store.noteHandle(claim, handle), isHeld, KEEP_FOR_MS);
      } catch (error) {
        logger.error(
          { err: error, executionId: claim.id },
          "what an execution has begun elsewhere could not be stored",
        );
        return false;
      }
    },
  };
}
