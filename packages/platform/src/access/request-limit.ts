import { createCache } from "@platform/engine/base/cache";
import { readMonotonic } from "@platform/engine/base/monotonic";

/** How many requests are let through: so many at once, and so many a second in the long run. */
export interface LimitOptions {
  readonly burst: number;
  readonly perSecond: number;
  /** Milliseconds since any fixed moment; default: the monotonic clock. */
  readonly now?: () => number;
}

/** Counts a request of this subject. Returns 0, or for how many seconds (whole, at least 1) none is let through. */
export type RequestLimit = (subject: string) => number;

interface Bucket {
  readonly level: number;
  readonly at: number;
}

/** Beyond it the oldest subjects are forgotten, and begin anew. */
const MAX_SUBJECTS = 20_000;

/** A bucket of tokens for each subject, in this process: requests cost no query. */
export function createRequestLimit(options: LimitOptions): RequestLimit {
  const { burst, perSecond, now = readMonotonic } = options;
  // After this time a bucket is full, as is one that was never used.
  const buckets = createCache<Bucket>({ maxEntries: MAX_SUBJECTS, ttlMs: (burst / perSecond) * 1_000, now });
  return (subject) => {
    const at = now();
    const known = buckets.peek(subject) ?? { level: burst, at };
    const level = Math.min(burst, known.level + ((at - known.at) / 1_000) * perSecond);
    if (level < 1) return Math.max(1, Math.ceil((1 - level) / perSecond));
    buckets.set(subject, { level: level - 1, at });
    return 0;
  };
}
