import { Problem } from "@platform/contract/problems";
import { createDiskProblem } from "../disk/disk-guard.ts";
import { StoreFull, StoreUnavailable } from "../objects/object-store.ts";

/** UNAVAILABLE in place of an error of the object store that passes; any other error as it is. `what`: is stored, as a subject. */
export function explainStoreError(error: unknown, what: string): unknown {
  if (error instanceof StoreFull) return createDiskProblem();
  if (error instanceof StoreUnavailable)
    return new Problem("UNAVAILABLE", `${what} cannot be stored or read at present; try again in a minute.`, {
      headers: { "retry-after": "60" },
      cause: error,
    });
  return error;
}
