import { isFinal } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import { readMonotonic } from "../base/monotonic.ts";
import type { ExecutionStore } from "../store/execution-store.ts";
import { createQueueCount } from "./queue-count.ts";
import type { QueueCount } from "./queue-count.ts";
import { createRateMeter } from "./rate-meter.ts";
import type { RateMeter } from "./rate-meter.ts";
import { createTally } from "./tally.ts";

/** Maximum number of pending executions. */
export interface QueueLimits {
  /** Per owner: a subscription or, for jobs, an organisation. */
  readonly perOwner: number;
  readonly total: number;
}

/** The limits of the queue where the operator sets none. */
export const DEFAULT_QUEUE_LIMITS: QueueLimits = { perOwner: 10_000, total: 100_000 };

/** Before anything was measured. */
const FIRST_RETRY_SECONDS = 5;
const MAX_RETRY_SECONDS = 300;

/**
 * Refuses starts that would exceed the limits of the queue, before anything is stored; accepted executions are never dropped.
 *
 * The queue is counted in the background, so a start costs no query: the number of pending executions is estimated as the last count,
 * about a second old at most, plus what this process has accepted since. With one process the limits are exact; with several, they can be
 * exceeded by what each accepts in that second. While the store cannot be counted, the last count stays in use, accepted executions
 * are added and none are subtracted: the queue cannot grow without bound when the database is too slow to count it.
 */
export interface Admission {
  /** Runs `create` unless a limit is reached. @throws Problem RATE_LIMITED (the owner's limit), UNAVAILABLE (the total limit) */
  readonly admit: <T>(start: AdmittedStart, create: () => Promise<T>) => Promise<T>;
  /** Whether `admit` would refuse now, after so many others of the same kind and owner; nothing is counted. @throws Problem as `admit` */
  readonly check: (start: AdmittedStart, before?: number) => Promise<void>;
  readonly close: () => void;
}

/** Whose a start is, and whether it is for later. */
interface AdmittedStart {
  readonly ownerId: string;
  readonly isDelayed: boolean;
}

/** What is counted, and against which limits. */
export interface AdmissionOptions {
  readonly store: Pick<ExecutionStore, "countPending" | "countDelayed" | "subscribe">;
  readonly limits: QueueLimits;
  /** Milliseconds; default: the monotonic clock. */
  readonly now?: () => number;
}

/** Counts nothing before the first start. `close` ends its subscription to the store's events. */
export function createAdmission({ store, limits, now = readMonotonic }: AdmissionOptions): Admission {
  const ends = createRateMeter(now);
  /** Number of starts refused since the last count. */
  let refused = createTally();
  const forgetRefused = () => {
    refused = createTally();
  };
  const queue = createQueueCount(store, forgetRefused, now);
  const unsubscribe = store.subscribe((event) => {
    if (event.type === "changed" && (event.record === undefined || isFinal(event.record.status))) ends.add();
  });
  const isFull = (ownerId: string, before = 0) =>
    queue.of(ownerId) + before >= limits.perOwner || queue.total() + before >= limits.total;
  /**
   * @param asking starts that are refused as well and not counted among `refused`
   * @param before starts that would take a place before
   */
  const refuse = (ownerId: string, asking: number, before = 0): Problem => {
    if (queue.of(ownerId) + before < limits.perOwner) {
      const places = queue.total() + before - limits.total + refused.total() + asking;
      return createTotalProblem(limits.total, estimateSeconds(ends, places));
    }
    const places = queue.of(ownerId) + before - limits.perOwner + refused.of(ownerId) + asking;
    return createOwnerProblem(limits.perOwner, estimateSeconds(ends, places, queue));
  };

  const prepare = async (ownerId: string, before = 0): Promise<void> => {
    queue.refresh();
    // By an old count the queue may be full when it is empty by now: no start is refused because of it.
    if (isFull(ownerId, before)) await queue.settle();
  };

  // A second count, asked for by starts for later only.
  const delayed = createDelayedAdmission(store, limits.perOwner, now);
  return {
    admit: async ({ ownerId, isDelayed }, create) => {
      if (isDelayed) return await delayed.admit(ownerId, create);
      await prepare(ownerId);
      // At once: others are counted meanwhile.
      if (isFull(ownerId)) {
        refused.add(ownerId, 1);
        throw refuse(ownerId, 0);
      }
      return queue.add(ownerId, create);
    },
    check: async ({ ownerId, isDelayed }, before = 0) => {
      if (isDelayed) return await delayed.check(ownerId, before);
      await prepare(ownerId, before);
      if (isFull(ownerId, before)) throw refuse(ownerId, 1, before);
    },
    close: unsubscribe,
  };
}

/**
 * What is to begin later counts by owner alone, as many as may wait besides, and not in total: for days nothing makes room among it, so that a few
 * owners could have had the starts of all others refused. What the disk has no room for is refused by the disk guard.
 */
function createDelayedAdmission(
  store: Pick<ExecutionStore, "countDelayed">,
  perOwner: number,
  now: () => number,
) {
  const queue = createQueueCount({ countPending: store.countDelayed }, () => undefined, now);
  const isFull = (ownerId: string, before = 0): boolean => queue.of(ownerId) + before >= perOwner;
  const prepare = async (ownerId: string, before = 0): Promise<void> => {
    queue.refresh();
    if (isFull(ownerId, before)) await queue.settle();
  };
  return {
    check: async (ownerId: string, before: number): Promise<void> => {
      await prepare(ownerId, before);
      if (isFull(ownerId, before)) throw createDelayedProblem(perOwner);
    },
    admit: async <T>(ownerId: string, create: () => Promise<T>): Promise<T> => {
      await prepare(ownerId);
      // At once: others are counted meanwhile.
      if (isFull(ownerId)) throw createDelayedProblem(perOwner);
      return queue.add(ownerId, create);
    },
  };
}

/**
 * Seconds after which this caller and those refused before it should find a place. Waiting owners take turns, so each of them gets
 * an equal share of the places that become free.
 */
function estimateSeconds(ends: RateMeter, places: number, shared?: Pick<QueueCount, "owners">): number {
  if (!ends.isSettled()) return FIRST_RETRY_SECONDS;
  const endsPerSecond = ends.perSecond() / Math.max(1, shared?.owners() ?? 1);
  return Math.min(MAX_RETRY_SECONDS, Math.max(1, Math.ceil(places / endsPerSecond)));
}

function createTotalProblem(limit: number, seconds: number): Problem {
  return new Problem(
    "UNAVAILABLE",
    `Too many executions wait to start (${limit}, the most for all callers together); nothing was accepted. Try again in ${seconds} s.`,
    { headers: { "retry-after": String(seconds) } },
  );
}

/** Nobody knows when the next one is due. */
const DELAYED_RETRY_SECONDS = 60;

function createDelayedProblem(limit: number): Problem {
  return new Problem(
    "RATE_LIMITED",
    `${limit} executions already wait for the time of their startAt, the most for one subscription (for jobs: organisation). Start later, or cancel some.`,
    {
      headers: {
        "retry-after": String(DELAYED_RETRY_SECONDS),
        "ratelimit-policy": `"delayed";q=${limit}`,
        ratelimit: `"delayed";r=0;t=${DELAYED_RETRY_SECONDS}`,
      },
    },
  );
}

function createOwnerProblem(limit: number, seconds: number): Problem {
  return new Problem(
    "RATE_LIMITED",
    `${limit} executions already wait to start, the most for one subscription (for jobs: organisation). Try again in ${seconds} s.`,
    {
      headers: {
        "retry-after": String(seconds),
        "ratelimit-policy": `"queued";q=${limit}`,
        ratelimit: `"queued";r=0;t=${seconds}`,
      },
    },
  );
}
