import { readMonotonic } from "../base/monotonic.ts";
import { SECOND } from "../base/time.ts";
import type { ExecutionStore } from "../store/execution-store.ts";
import { createTally } from "./tally.ts";

/** While executions are being started, the queue is counted so often ... */
const COUNT_EVERY_MS = 1 * SECOND;
/** ... but not so often that it takes more than a twentieth of the time, unless a start would be refused. */
const MAX_COUNTING_SHARE = 0.05;

/** How many executions wait: the store's last count, and what this process has accepted since it was asked for. */
export interface QueueCount {
  readonly of: (ownerId: string) => number;
  readonly total: () => number;
  /** How many owners had executions waiting when the store was asked. */
  readonly owners: () => number;
  /** Counts in the background when it is time to. */
  readonly refresh: () => void;
  /** Resolves once the count is of this second. When the store cannot be counted, the last count goes on to hold. */
  readonly settle: () => Promise<void>;
  /** Counts what is being stored, and what was. @throws what `create` throws */
  readonly add: <T>(ownerId: string, create: () => Promise<T>) => Promise<T>;
}

/** @param onCounted called after each count of the store's */
export function createQueueCount(
  store: Pick<ExecutionStore, "countPending">,
  onCounted: () => void,
  now: () => number = readMonotonic,
): QueueCount {
  let counted = createTally();
  let countedAt = -Infinity;
  let nextCountAt = -Infinity;
  /** Accepted since the store was asked for what it said last, and since it was asked again. Some may be in its answer as well. */
  let accepted = createTally();
  let acceptedMeanwhile = createTally();
  const storing = createTally();
  let counting: Promise<void> | null = null;

  const count = async (): Promise<void> => {
    const asked = now();
    acceptedMeanwhile = createTally();
    try {
      counted = createTally(await store.countPending());
      accepted = acceptedMeanwhile;
      countedAt = asked;
      onCounted();
    } catch {
      // The last count goes on to hold, with what was accepted since.
    }
    nextCountAt = asked + Math.max(COUNT_EVERY_MS, (now() - asked) / MAX_COUNTING_SHARE);
  };
  const startCount = () =>
    (counting ??= count().finally(() => {
      counting = null;
    }));

  return {
    of: (ownerId) => counted.of(ownerId) + accepted.of(ownerId) + storing.of(ownerId),
    total: () => counted.total() + accepted.total() + storing.total(),
    owners: () => counted.owners(),
    refresh: () => {
      if (now() >= nextCountAt) void startCount();
    },
    settle: async () => {
      if (now() - countedAt >= COUNT_EVERY_MS) await startCount();
    },
    add: async (ownerId, create) => {
      storing.add(ownerId, 1);
      try {
        const created = await create();
        accepted.add(ownerId, 1);
        if (accepted !== acceptedMeanwhile) acceptedMeanwhile.add(ownerId, 1);
        return created;
      } finally {
        storing.add(ownerId, -1);
      }
    },
  };
}
