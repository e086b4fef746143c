import { Problem } from "@platform/contract/problems";
import { readUuidTime } from "../base/uuid.ts";
import type { ExecutionRecord } from "../store/execution-store.ts";

/** What has expired is gone for callers: the same before and after housekeeping has dropped it. */
export interface Retention {
  readonly hasExpired: (record: ExecutionRecord) => boolean;
  /** The record of this id, unless it is missing or has expired. @throws Problem EXECUTION_NOT_FOUND, RESULT_EXPIRED */
  readonly requireKept: (id: string, record: ExecutionRecord | null) => ExecutionRecord;
  /** Why nothing is stored for an id: it never existed, or is older than the retention. */
  readonly describeMissing: (id: string) => Problem;
}

/** `retentionMs`: for how long an execution is kept after its end; Infinity: permanently. `now`: milliseconds since the epoch. */
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
