import type { PendingReason } from "@platform/contract/execution";
import type { Resources } from "@platform/contract/project";
import { SECOND } from "../base/time.ts";
import { fits } from "../base/capacity.ts";
import { mapRecords } from "../store/map-records.ts";
import { readMonotonic } from "../base/monotonic.ts";
import type { ExecutionStore } from "../store/execution-store.ts";

/** Interval of listing the workers while records of pending executions are read, in milliseconds. */
const LIST_EVERY_MS = 3 * SECOND;
/** An older list is ignored. Milliseconds. */
const BELIEVED_MS = 10 * SECOND;

/**
 * The same store, with a `pendingReason` in records of pending executions that no live worker can start. The workers are listed in the
 * background, so that a poll costs no query for it; the reason may be out of date by a few seconds.
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
      // No reason is given once the list is too old; an error of the store shows when the records are read.
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
