import { mapRecords } from "./map-records.ts";
import type { ExecutionStore } from "./execution-store.ts";

/** The same store, whose finished records say until when they are kept. */
export function withExpiry(store: ExecutionStore, retentionMs: number): ExecutionStore {
  if (retentionMs === Infinity) return store;
  return mapRecords(store, (record) =>
    record.endedAt === null ? record : { ...record, expiresAt: record.endedAt + retentionMs },
  );
}
