import { Problem } from "@platform/contract/problems";
import { createDiskProblem } from "../disk/disk-guard.ts";
import type { DiskGuard } from "../disk/disk-guard.ts";
import { StoreFull, StoreUnavailable } from "../objects/object-store.ts";
import type { StoreWatch } from "../objects/store-watch.ts";

/** What is known of the places that content goes to. */
export interface ContentRoom {
  readonly disk: Pick<DiskGuard, "isLow">;
  /** What is wrong with the store of objects; null: nothing. */
  readonly explainObjects: StoreWatch["explain"];
}

/** Refuses content before it is received: nobody sends gigabytes to be refused then. `what`: as a subject. @throws Problem UNAVAILABLE */
export function requireStorable({ disk, explainObjects }: ContentRoom, what: string): void {
  if (disk.isLow()) throw createDiskProblem();
  if (explainObjects() !== null) throw refuseStore(what);
}

/** UNAVAILABLE in place of an error of the object store that passes; any other error as it is. `what`: is stored, as a subject. */
export function explainStoreError(error: unknown, what: string): unknown {
  if (error instanceof StoreFull) return createDiskProblem();
  if (error instanceof StoreUnavailable) return refuseStore(what, error);
  return error;
}

function refuseStore(what: string, cause?: unknown): Problem {
  return new Problem("UNAVAILABLE", `${what} cannot be stored or read at present; try again in a minute.`, {
    headers: { "retry-after": "60" },
    cause,
  });
}
