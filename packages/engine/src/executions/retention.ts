import { Problem } from "@platform/contract/problems";
import { readUuidTime } from "../base/uuid.ts";
import type { ExecutionRecord, ExecutionStore } from "../store/execution-store.ts";
import { mapRecords } from "../store/map-records.ts";

/** Hides expired executions from callers, whether or not housekeeping has deleted them already. */
export interface Retention {
  readonly hasExpired: (record: ExecutionRecord) => boolean;
  /** The record of this id, unless it is missing or has expired. @throws Problem EXECUTION_NOT_FOUND, RESULT_EXPIRED */
  readonly requireKept: (id: string, record: ExecutionRecord | null) => ExecutionRecord;
  /** Why nothing is stored for an id: it never existed, or is older than the retention. */
  readonly describeMissing: (id: string) => Problem;
}

/** @param retentionMs retention period after the end; Infinity: permanently @param now milliseconds since the epoch */
export function createRetention(retentionMs: number, now: () => number): Retention {
  const hasExpired = ({ expiresAt = Infinity }: ExecutionRecord) => expiresAt <= now();
  const describeMissing = (id: string) =>
    new Problem(
      (readUuidTime(id) ?? Infinity) < now() - retentionMs ? "RESULT_EXPIRED" : "EXECUTION_NOT_FOUND",
    );
  return {
    hasExpired,
    describeMissing,
    requireKept: (id, record) => {
      if (record === null) throw describeMissing(id);
      if (hasExpired(record)) throw new Problem("RESULT_EXPIRED");
      return record;
    },
  };
}

/** The same store, with the expiry time in the records of finished executions. */
export function withExpiry(store: ExecutionStore, retentionMs: number): ExecutionStore {
  if (retentionMs === Infinity) return store;
  return mapRecords(store, (record) =>
    record.endedAt === null ? record : { ...record, expiresAt: record.endedAt + retentionMs },
  );
}
