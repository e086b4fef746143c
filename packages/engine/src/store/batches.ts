import type { ExecutionStatus } from "@platform/contract/execution";
import type { FieldError } from "@platform/contract/problems";
import type { IdempotencyKey } from "./idempotency.ts";

/** Why items were not started: all of those at these places for the same reason. */
export interface BatchRefusal {
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly FieldError[];
  readonly retryAfterSeconds?: number;
  /** Places in the request. */
  readonly at: readonly number[];
}

/** A batch as it is kept: what its items are called was decided before any of them was started. */
export interface BatchRecord {
  readonly id: string;
  readonly ownerId: string;
  /** Ids of the executions, one for each item, whether it was started or not. */
  readonly itemIds: readonly string[];
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly isCancelled: boolean;
  /** Null: it is being started, or whoever started it was cut off. */
  readonly refusals: readonly BatchRefusal[] | null;
}

/** A batch that is about to be started. */
export interface NewBatch {
  readonly id: string;
  readonly ownerId: string;
  readonly itemIds: readonly string[];
  /** Names who starts it. */
  readonly holder: string;
  /** Of all batches of the owner with this key, there is one. */
  readonly key?: IdempotencyKey;
}

/** A batch, and who starts it: `own`: the caller; `other`: somebody who is at it; `nobody`: it has been started. */
export interface OpenedBatch {
  readonly batch: BatchRecord;
  readonly holder: "own" | "other" | "nobody";
  /** Whether an earlier request has created it. */
  readonly isRepeated: boolean;
}

/** For so long a holder may start executions after it has renewed its hold; it renews it several times in this time. */
export const BATCH_HOLD_SECONDS = 6;

/** Batches. One holder at a time starts the executions of one, so that what it refuses is started by nobody. */
export interface BatchStore {
  /**
   * Stored durably when it resolves, together with its key. Resolves to the batch that the key named before, where there is one; its starting is taken
   * over from a holder that has not renewed its hold in time. Null: there is none, and it may not be created.
   *
   * @throws Problem IDEMPOTENCY_CONFLICT when the key was used with another request; RESULT_EXPIRED when its batch was removed
   */
  readonly openBatch: (batch: NewBatch, mayCreate: boolean) => Promise<OpenedBatch | null>;
  /**
   * Takes the starting of a batch over from a holder that has not renewed its hold in time, as `openBatch` does. Null: the owner has no such batch.
   */
  readonly takeOverBatch: (
    id: string,
    ownerId: string,
    holder: string,
  ) => Promise<Pick<OpenedBatch, "batch" | "holder"> | null>;
  /** Whether the holder may go on: `lost`: it may not; `cancelled`: it should start nothing more. */
  readonly renewBatch: (id: string, holder: string) => Promise<"held" | "cancelled" | "lost">;
  /** Writes down what was refused: everything else was started. Null: the hold was lost, and nothing is written. */
  readonly settleBatch: (
    id: string,
    holder: string,
    refusals: readonly BatchRefusal[],
  ) => Promise<BatchRecord | null>;
  /** Null: the owner has no such batch. */
  readonly findBatch: (id: string, ownerId: string) => Promise<BatchRecord | null>;
  /** Of those that the owner has; at most as many ids as a batch has. */
  readonly readStates: (
    ids: readonly string[],
    ownerId: string,
  ) => Promise<ReadonlyMap<string, ExecutionStatus>>;
  /** What the owner's key has created; null: no batch that is there. @throws Problem IDEMPOTENCY_CONFLICT when it was used with another request */
  readonly findKeyedBatch: (ownerId: string, key: IdempotencyKey) => Promise<BatchRecord | null>;
  /** Has no more of it started. Null: the owner has no such batch. */
  readonly cancelBatch: (id: string, ownerId: string) => Promise<BatchRecord | null>;
  /** Cancels those of the owner's that have not ended, as `cancel` does one. */
  readonly cancelMany: (ids: readonly string[], ownerId: string) => Promise<void>;
}
