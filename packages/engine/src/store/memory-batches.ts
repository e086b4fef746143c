import type { ExecutionStatus } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import { readMonotonic } from "../base/monotonic.ts";
import { SECOND } from "../base/time.ts";
import { readUuidTime } from "../base/uuid.ts";
import { BATCH_HOLD_SECONDS } from "./batches.ts";
import type { BatchRecord, BatchStore, NewBatch, OpenedBatch } from "./batches.ts";
import type { ExecutionStore } from "./execution-store.ts";
import type { MemoryKeys } from "./memory-keys.ts";
import type { MemoryEntries } from "./memory-entries.ts";

/** Batches in memory; the oldest are removed first. */
const MAX_BATCHES = 1_000;

interface Kept {
  batch: BatchRecord;
  holder: string;
  /** On the monotonic clock. */
  heldUntil: number;
}

/** The batches of the store in memory. */
export function createMemoryBatches(
  entries: MemoryEntries,
  { keys, cancel }: Pick<ExecutionStore, "cancel"> & { readonly keys: MemoryKeys },
): BatchStore {
  const kept = new Map<string, Kept>();
  const findOwned = (id: string, ownerId: string): Kept | null => {
    const found = kept.get(id);
    return found?.batch.ownerId === ownerId ? found : null;
  };
  return {
    openBatch: async (given, mayCreate) => {
      const { id, ownerId, key, holder } = given;
      const known = key === undefined ? null : keys.find(ownerId, key);
      const found = kept.get(known?.id ?? id);
      if (known !== null && found === undefined) throw new Problem("RESULT_EXPIRED");
      if (found !== undefined)
        return { batch: found.batch, holder: takeOver(found, holder), isRepeated: found.batch.id !== id };
      if (!mayCreate) return null;
      const batch = createBatch(given);
      kept.set(id, { batch, holder, heldUntil: endHold() });
      if (key !== undefined) keys.add(key, batch);
      const [oldest] = kept.keys();
      if (kept.size > MAX_BATCHES && oldest !== undefined) kept.delete(oldest);
      return { batch, holder: "own", isRepeated: false };
    },
    takeOverBatch: async (id, ownerId, holder) => {
      const found = findOwned(id, ownerId);
      return found === null ? null : { holder: takeOver(found, holder), batch: found.batch };
    },
    renewBatch: async (id, holder) => {
      const found = kept.get(id);
      if (found === undefined || found.holder !== holder || found.batch.refusals !== null) return "lost";
      found.heldUntil = endHold();
      return found.batch.isCancelled ? "cancelled" : "held";
    },
    settleBatch: async (id, holder, refusals) => {
      const found = kept.get(id);
      if (found === undefined || found.holder !== holder) return null;
      return (found.batch = { ...found.batch, refusals });
    },
    findBatch: async (id, ownerId) => findOwned(id, ownerId)?.batch ?? null,
    findKeyedBatch: async (ownerId, key) =>
      findOwned(keys.find(ownerId, key)?.id ?? "", ownerId)?.batch ?? null,
    readStates: async (ids, ownerId) => {
      const states = new Map<string, ExecutionStatus>();
      for (const id of ids) {
        const entry = entries.findOwned(id, ownerId);
        if (entry !== undefined) states.set(id, entry.record.status);
      }
      return states;
    },
    cancelBatch: async (id, ownerId) => {
      const found = findOwned(id, ownerId);
      return found === null ? null : (found.batch = { ...found.batch, isCancelled: true });
    },
    cancelMany: async (ids, ownerId) => {
      for (const id of ids) await cancel(id, ownerId);
    },
  };
}

/** Who starts the batch from now on. */
function takeOver(found: Kept, holder: string): OpenedBatch["holder"] {
  if (found.batch.refusals !== null) return "nobody";
  if (found.holder !== holder && found.heldUntil > readMonotonic()) return "other";
  Object.assign(found, { holder, heldUntil: endHold() });
  return "own";
}

function createBatch({ id, ownerId, itemIds }: NewBatch): BatchRecord {
  const createdAt = readUuidTime(id) ?? Date.now();
  return { id, ownerId, itemIds, createdAt, isCancelled: false, refusals: null };
}

function endHold(): number {
  return readMonotonic() + BATCH_HOLD_SECONDS * SECOND;
}
