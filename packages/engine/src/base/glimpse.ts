import { readMonotonic } from "./monotonic.ts";

/** How often a value is read, and for how long it is believed. Milliseconds. */
export interface GlimpseOptions {
  readonly everyMs: number;
  readonly believedMs: number;
  /** Default: the monotonic clock. */
  readonly now?: () => number;
}

/** A read may take this share of the time at most: what takes longer is read more rarely. */
const MAX_SHARE = 0.05;

/** A value as of a short while ago. */
export interface Glimpse<T> {
  /** The last value; null before the first, when that is too old, and while it cannot be read. */
  (): T | null;
  /** The same, after the read where one is due; null: it cannot be read. Who asks meanwhile shares the read. */
  readonly settle: () => Promise<T | null>;
}

/**
 * A value that is read in the background while it is asked for, so that who asks waits for nothing, unless by
 * `settle`.
 */
export function createGlimpse<T>(
  read: () => Promise<T>,
  { everyMs, believedMs, now = readMonotonic }: GlimpseOptions,
): Glimpse<T> {
  let known: { readonly value: T; readonly at: number } | null = null;
  let nextAt = -Infinity;
  let looking: Promise<void> | null = null;
  const look = async (): Promise<void> => {
    const at = now();
    nextAt = Infinity;
    // What cannot be read shows where the records themselves are read.
    const value = await read().catch(() => null);
    if (value !== null) known = { value, at };
    nextAt = at + Math.max(everyMs, (now() - at) / MAX_SHARE);
  };
  const start = (): Promise<void> =>
    (looking ??= look().finally(() => {
      looking = null;
    }));
  const glance = (): T | null => {
    if (now() >= nextAt) void start();
    return known !== null && now() - known.at <= believedMs ? known.value : null;
  };
  const settle = async (): Promise<T | null> => {
    glance();
    if (looking !== null) await looking;
    return glance();
  };
  return Object.assign(glance, { settle });
}
