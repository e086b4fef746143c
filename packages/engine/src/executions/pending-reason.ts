import type { PendingReason } from "@platform/contract/execution";
import type { Resources } from "@platform/contract/project";
import { SECOND } from "../base/time.ts";
import { fits } from "../base/capacity.ts";
import { mapRecords } from "../store/map-records.ts";
import { readMonotonic } from "../base/monotonic.ts";
import type { ExecutionStore } from "../store/execution-store.ts";

/** While records of pending executions are read, the workers are listed so often. */
const LIST_EVERY_MS = 3 * SECOND;
/** An older list says nothing. */
const BELIEVED_MS = 10 * SECOND;

/**
 * The same store, whose pending records say when no worker that lives can start them. What lives is listed in the background,
 * so that a poll costs no more for it; a record may lag behind by a few seconds.
 */
export function withPendingReason(store: ExecutionStore, now: () => number = readMonotonic): ExecutionStore {
  let workers: readonly Resources[] = [];
  let listedAt = -Infinity;
  let nextListAt = -Infinity;
  const list = async (): Promise<void> => {
    const asked = now();
    nextListAt = asked + LIST_EVERY_MS;
    try {
      workers = await store.listWorkers();
      listedAt = asked;
    } catch {
      // Nothing is said then, once the list is too old; the records themselves come from the same store.
    }
  };
  const findReason = (wanted: Resources): PendingReason | null => {
    if (now() >= nextListAt) void list();
    if (now() - listedAt > BELIEVED_MS) return null;
    if (workers.length === 0) return "NO_WORKER";
    return workers.some((capacity) => fits(wanted, capacity)) ? null : "NO_LARGE_WORKER";
  };
  return mapRecords(store, (record) => {
    const pendingReason = record.status === "PENDING" ? findReason(record.resources) : null;
    return pendingReason === null ? record : { ...record, pendingReason };
  });
}
