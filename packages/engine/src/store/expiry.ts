import { mapRecords } from "./map-records.ts";
import type { ExecutionStore } from "./execution-store.ts";

/** The same store, with the expiry time in the records of finished executions. */
export function withExpiry(store: ExecutionStore, retentionMs: number): ExecutionStore {
  if (retentionMs === Infinity) return store;
  return mapRecords(store, (record) =>
    record.endedAt === null ? record : { ...record, expiresAt: record.endedAt + retentionMs },
  );
}
