import { isFinal } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import { SECOND } from "../base/time.ts";
import { readMonotonic } from "../base/monotonic.ts";
import type { ExecutionStore } from "../store/execution-store.ts";
import { createRateMeter } from "./rate-meter.ts";

/** How many executions may wait to start. */
export interface QueueLimits {
  /** Of one owner: a subscription or, for jobs, an organisation. */
  readonly perOwner: number;
  readonly total: number;
}

export const DEFAULT_QUEUE_LIMITS: QueueLimits = { perOwner: 10_000, total: 100_000 };

/** While executions are being started, the queue is counted so often ... */
const COUNT_EVERY_MS = 1 * SECOND;
/** ... but not so often that it takes more than a twentieth of the time, unless a start would be refused. */
const MAX_COUNTING_SHARE = 0.05;
/** Before anything was measured. */
const FIRST_RETRY_SECONDS = 5;
const MAX_RETRY_SECONDS = 300;

/**
 * Refuses starts that would make the queue too long, before anything of them is stored; what was accepted is never dropped.
 *
 * The queue is counted in the background, so a start costs no query for it: known is a count of at most about a second ago, and
 * what this process has accepted since. The limits are exact for one process; several accept at most what each takes in such a
 * second more. When the store cannot be counted, the last count goes on to hold, with what is accepted added and nothing taken
 * away: the queue cannot grow without bound behind a database that is too slow to be asked.
 */
export interface Admission {
  /** Runs `create` where there is a place in the queue. @throws Problem RATE_LIMITED (the owner's limit), UNAVAILABLE (the limit of all) */
  readonly admit: <T>(ownerId: string, create: () => Promise<T>) => Promise<T>;
  readonly close: () => void;
}

export interface AdmissionOptions {
  readonly store: Pick<ExecutionStore, "countPending" | "subscribe">;
  readonly limits: QueueLimits;
  /** Milliseconds; default: the monotonic clock. */
  readonly now?: () => number;
}

export function createAdmission({ store, limits, now = readMonotonic }: AdmissionOptions): Admission {
  /** What the store said last, and when it was asked. */
  let counted = createTally();
  let countedAt = -Infinity;
  let nextCountAt = -Infinity;
  /** Accepted since the store was asked for what it said last, and since it was asked again. Some may be in its answer as well. */
  let accepted = createTally();
  let acceptedMeanwhile = createTally();
  let refused = createTally();
  const storing = createTally();
  const ends = createRateMeter(now);
  let counting: Promise<void> | null = null;

  const unsubscribe = store.subscribe((event) => {
    if (event.type === "changed" && (event.record === undefined || isFinal(event.record.status))) ends.add();
  });

  const count = async (): Promise<void> => {
    const asked = now();
    acceptedMeanwhile = createTally();
    try {
      counted = createTally(await store.countPending());
      accepted = acceptedMeanwhile;
      countedAt = asked;
      refused = createTally();
    } catch {
      // The last count goes on to hold, with what was accepted since.
    }
    nextCountAt = asked + Math.max(COUNT_EVERY_MS, (now() - asked) / MAX_COUNTING_SHARE);
  };
  const startCount = () =>
    (counting ??= count().finally(() => {
      counting = null;
    }));

  const queuedOf = (ownerId: string) => counted.of(ownerId) + accepted.of(ownerId) + storing.of(ownerId);
  const queuedInAll = () => counted.total() + accepted.total() + storing.total();
  const isFull = (ownerId: string) => queuedOf(ownerId) >= limits.perOwner || queuedInAll() >= limits.total;

  /** When those who were refused before, and this caller, will have found a place. */
  const estimateSeconds = (places: number, endsPerSecond: number): number => {
    if (!ends.isSettled()) return FIRST_RETRY_SECONDS;
    const seconds = Math.ceil(places / endsPerSecond);
    return Math.min(MAX_RETRY_SECONDS, Math.max(1, seconds));
  };
  const refuse = (ownerId: string): Problem => {
    refused.add(ownerId, 1);
    if (queuedOf(ownerId) < limits.perOwner) {
      const places = queuedInAll() - limits.total + refused.total();
      const seconds = estimateSeconds(places, ends.perSecond());
      return new Problem(
        "UNAVAILABLE",
        `Too many executions wait to start (${limits.total}, the most for all callers together); nothing was accepted. Try again in ${seconds} s.`,
        { headers: { "retry-after": String(seconds) } },
      );
    }
    // Owners who wait take turns, so each has an equal share of what ends.
    const places = queuedOf(ownerId) - limits.perOwner + refused.of(ownerId);
    const seconds = estimateSeconds(places, ends.perSecond() / Math.max(1, counted.owners()));
    return new Problem(
      "RATE_LIMITED",
      `${limits.perOwner} executions already wait to start, the most for one subscription (for jobs: organisation). Try again in ${seconds} s.`,
      {
        headers: {
          "retry-after": String(seconds),
          "ratelimit-policy": `"queued";q=${limits.perOwner}`,
          ratelimit: `"queued";r=0;t=${seconds}`,
        },
      },
    );
  };

  return {
    admit: async (ownerId, create) => {
      if (now() >= nextCountAt) void startCount();
      // An old count may say that the queue is full when it is empty: nobody is refused by it.
      if (isFull(ownerId) && now() - countedAt >= COUNT_EVERY_MS) await startCount();
      if (isFull(ownerId)) throw refuse(ownerId);
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
    close: unsubscribe,
  };
}

interface Tally {
  readonly of: (ownerId: string) => number;
  readonly total: () => number;
  /** How many owners have any. */
  readonly owners: () => number;
  readonly add: (ownerId: string, count: number) => void;
}

/** Numbers by owner; who has none is forgotten. */
function createTally(initial: ReadonlyMap<string, number> = new Map()): Tally {
  const counts = new Map(initial);
  let total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const add = (ownerId: string, count: number) => {
    const next = (counts.get(ownerId) ?? 0) + count;
    total += count;
    if (next === 0) counts.delete(ownerId);
    else counts.set(ownerId, next);
  };
  return {
    of: (ownerId) => counts.get(ownerId) ?? 0,
    total: () => total,
    owners: () => counts.size,
    add,
  };
}
