import type { ExecutionStatus } from "@platform/contract/execution";
import type { ExecutionRecord } from "./execution-store.ts";

/** Executions in one call of `readChanges`. */
export const MAX_WATCHED = 1_000;

/** An execution that a stream shows, and what it has shown. */
export interface Watched {
  readonly id: string;
  readonly ownerId: string;
  readonly status: ExecutionStatus;
  /** `position` of the last lines; null: the stream shows no lines. */
  readonly logPosition: string | null;
}

/** What there is to show besides. */
export interface WatchedChange {
  readonly record: ExecutionRecord;
  readonly hasMoreLog: boolean;
}
