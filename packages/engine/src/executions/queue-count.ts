import { readMonotonic } from "../base/monotonic.ts";
import { SECOND } from "../base/time.ts";
import type { ExecutionStore } from "../store/execution-store.ts";
import { createTally } from "./tally.ts";

/** Interval of counting the queue while executions are started, in milliseconds. */
const COUNT_EVERY_MS = 1 * SECOND;
/** Counting may take one twentieth of the time at most, unless a start would be refused. */
const MAX_COUNTING_SHARE = 0.05;

/** The number of pending executions: the store's last count, plus what this process has accepted since that count was requested. */
export interface QueueCount {
  readonly of: (ownerId: string) => number;
  readonly total: () => number;
  /** Number of owners with pending executions at the last count. */
  readonly owners: () => number;
  /** Starts a count in the background when one is due. */
  readonly refresh: () => void;
  /** Resolves once the count is at most a second old. While the store cannot be counted, the last count stays in use. */
  readonly settle: () => Promise<void>;
  /** Runs `create` and counts the execution, from before it is stored. @throws what `create` throws */
  readonly add: <T>(ownerId: string, create: () => Promise<T>) => Promise<T>;
}

/** @param onCounted called after each count of the store */
export function createQueueCount(
  store: Pick<ExecutionStore, "countPending">,
  onCounted: () => void,
  now: () => number = readMonotonic,
): QueueCount {
  let counted = createTally();
  let countedAt = -Infinity;
  let nextCountAt = -Infinity;
  /** Accepted since the request for the last count, and since the request under way. The answer may include some of them as well. */
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
      // The last count stays in use, plus what was accepted since.
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
