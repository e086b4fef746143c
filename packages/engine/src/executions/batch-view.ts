import { EXECUTION_STATUSES, formatTimestamp, isFinal } from "@platform/contract/execution";
import type { ExecutionStatus } from "@platform/contract/execution";
import type { Batch, BatchItem } from "@platform/contract/batch";
import type { BatchRecord, BatchRefusal } from "../store/batches.ts";

/** How far a batch is. */
export interface BatchView {
  readonly batch: BatchRecord;
  /** Of those of its executions that are there. */
  readonly states: ReadonlyMap<string, ExecutionStatus>;
  /** Whether an earlier request has created it. */
  readonly isRepeated: boolean;
}

/** Which of the items to show. */
interface ItemRange {
  readonly offset: number;
  readonly limit: number;
}

/** The batch as on the wire. Where it is being started, nothing is said of an item that is not there yet. */
export function toBatch({ batch, states }: BatchView, { offset, limit }: ItemRange): Batch {
  const { id, itemIds, refusals, isCancelled } = batch;
  const refused = listRefused(refusals ?? []);
  const counts = { PENDING: 0, RUNNING: 0, SUCCEEDED: 0, FAILED: 0, UNKNOWN: 0 };
  for (const status of states.values()) counts[status] += 1;
  const isComplete = refusals !== null;
  const open = isComplete ? counts.PENDING + counts.RUNNING : itemIds.length - countEnded(counts);
  const end = Math.min(itemIds.length, offset + limit);
  return {
    id,
    createdAt: formatTimestamp(batch.createdAt),
    complete: isComplete,
    terminal: isComplete && open === 0,
    cancelled: isCancelled,
    total: itemIds.length,
    done: itemIds.length - open,
    failed: counts.FAILED + counts.UNKNOWN,
    refused: refused.size,
    counts,
    items: itemIds.slice(offset, end).map((itemId, at) => {
      const index = offset + at;
      return describeItem(index, itemId, {
        refusal: refused.get(index),
        status: states.get(itemId),
        isComplete,
      });
    }),
    nextCursor: end < itemIds.length ? String(end) : null,
  };
}

function countEnded(counts: Readonly<Record<ExecutionStatus, number>>): number {
  return EXECUTION_STATUSES.filter(isFinal).reduce((sum, status) => sum + counts[status], 0);
}

/** Each by its place. */
export function listRefused(refusals: readonly BatchRefusal[]): ReadonlyMap<number, BatchRefusal> {
  return new Map(refusals.flatMap((refusal) => refusal.at.map((index) => [index, refusal] as const)));
}

/** An item that is not started, as on the wire. */
export function describeRefused(
  index: number,
  { code, detail, errors, retryAfterSeconds }: BatchRefusal,
): Omit<BatchItem, "id" | "status"> {
  return {
    index,
    code,
    detail,
    ...(errors === undefined ? {} : { errors: [...errors] }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
}

function describeItem(
  index: number,
  id: string,
  known: {
    readonly refusal: BatchRefusal | undefined;
    readonly status: ExecutionStatus | undefined;
    readonly isComplete: boolean;
  },
): BatchItem {
  const { refusal, status, isComplete } = known;
  if (refusal !== undefined) return describeRefused(index, refusal);
  if (status !== undefined) return { index, id, status };
  return isComplete ? { index, id } : { index };
}
