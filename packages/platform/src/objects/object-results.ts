import { Problem } from "@platform/contract/problems";
import { ContentNotStored } from "@platform/engine/content/result-store";
import type { ResultStore } from "@platform/engine/content/result-store";
import { ObjectMissing, StoreFull, StoreUnavailable } from "./object-store.ts";
import type { Objects } from "./object-store.ts";

/** What results are kept with. */
export interface ObjectResultsOptions {
  readonly objects: Pick<Objects, "receive" | "read">;
  /** Whether this host is to write nothing more that it need not. */
  readonly isHeldUp: () => boolean;
}

/** Results as objects. */
export function createObjectResults({ objects, isHeldUp }: ObjectResultsOptions): ResultStore {
  return {
    receive: async (content, limit) => {
      if (isHeldUp()) throw noRoom();
      const received = await objects.receive(content, limit).catch((error: unknown) => {
        throw error instanceof StoreFull ? noRoom(error) : error;
      });
      return { ...received, keep: () => received.keep().catch(explainUnkept) };
    },
    read: async (hash, range) => {
      try {
        return await objects.read(hash, range);
      } catch (error) {
        if (error instanceof StoreUnavailable) throw refuseReading(error);
        // Housekeeping was faster.
        if (error instanceof ObjectMissing) throw new Problem("RESULT_EXPIRED", undefined, { cause: error });
        throw error;
      }
    },
  };
}

function noRoom(cause?: unknown): ContentNotStored {
  return new ContentNotStored(
    "The platform has no room for it at present. Start the execution again later.",
    { cause },
  );
}

function explainUnkept(cause: unknown): never {
  if (cause instanceof StoreFull || cause instanceof StoreUnavailable)
    throw new Problem("UNAVAILABLE", "The result cannot be stored at present.", { cause });
  throw cause;
}

function refuseReading(cause: unknown): Problem {
  return new Problem("UNAVAILABLE", "The result cannot be read at present; try again in a minute.", {
    headers: { "retry-after": "60" },
    cause,
  });
}
