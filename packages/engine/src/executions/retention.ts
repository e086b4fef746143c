import type { KeptDays } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import { DAY } from "../base/time.ts";
import { readUuidTime } from "../base/uuid.ts";
import type { ExecutionRecord, ExecutionStore } from "../store/execution-store.ts";
import { mapRecords } from "../store/map-records.ts";

/** For how many days after their end the platform keeps executions; Infinity: permanently. */
export interface RetentionDays {
  /** State and result, unless the service says otherwise. */
  readonly result: number;
  /** The log, likewise; at most for as long as the result. */
  readonly log: number;
  /** The most that a service may say. */
  readonly most: number;
}

/** Everything stays. */
export const PERMANENT: RetentionDays = { result: Infinity, log: Infinity, most: Infinity };

/** Hides expired executions from callers, whether or not housekeeping has deleted them already. */
export interface Retention {
  readonly hasExpired: (record: ExecutionRecord) => boolean;
  /** The record of this id, unless it is missing or has expired. @throws Problem EXECUTION_NOT_FOUND, RESULT_EXPIRED */
  readonly requireKept: (id: string, record: ExecutionRecord | null) => Promise<ExecutionRecord>;
  /** @throws Problem LOG_EXPIRED */
  readonly requireLog: (record: ExecutionRecord) => void;
  /** Why nothing is stored for an id: it never existed, or is of a time that is removed. */
  readonly describeMissing: (id: string) => Promise<Problem>;
}

/** What tells whether an execution expired or never existed. */
interface RetentionOptions {
  readonly days: RetentionDays;
  readonly wasRemoved: ExecutionStore["wasRemoved"];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The times that records state decide; of what is not there any more, what was removed. */
export function createRetention({ days, wasRemoved, now }: RetentionOptions): Retention {
  const hasExpired = ({ expiresAt = Infinity }: ExecutionRecord) => expiresAt <= now();
  const describeMissing = async (id: string) => {
    const time = readUuidTime(id) ?? Infinity;
    const isOld = time < now() - days.result * DAY;
    // The days that count for the future may be more than those that counted when it was removed.
    const isGone = isOld || (time < now() && (await wasRemoved?.(id)) === true);
    return new Problem(isGone ? "RESULT_EXPIRED" : "EXECUTION_NOT_FOUND");
  };
  return {
    hasExpired,
    describeMissing,
    requireKept: async (id, record) => {
      if (record === null) throw await describeMissing(id);
      if (hasExpired(record)) throw new Problem("RESULT_EXPIRED");
      return record;
    },
    requireLog: ({ logExpiresAt = Infinity }) => {
      if (logExpiresAt <= now()) throw new Problem("LOG_EXPIRED");
    },
  };
}

/** What an execution of a service that says so is stored with: no more than the operator allows. Undefined: the service says nothing. */
export function boundKeptDays(
  kept: KeptDays | undefined,
  { most }: Pick<RetentionDays, "most">,
): KeptDays | undefined {
  if (kept === undefined || (kept.result === null && kept.log === null)) return undefined;
  const bound = (days: number | null) => (days === null ? null : Math.min(days, most));
  return { result: bound(kept.result), log: bound(kept.log) };
}

/** The same store, with the expiry times in the records of finished executions. */
export function withExpiry(store: ExecutionStore, days: RetentionDays): ExecutionStore {
  return mapRecords(store, (record) => {
    const { endedAt, kept } = record;
    if (endedAt === null) return record;
    const expiresAt = endedAt + (kept?.result ?? days.result) * DAY;
    const logExpiresAt = Math.min(expiresAt, endedAt + (kept?.log ?? days.log) * DAY);
    return {
      ...record,
      ...(expiresAt === Infinity ? {} : { expiresAt }),
      ...(logExpiresAt === Infinity ? {} : { logExpiresAt }),
    };
  });
}
