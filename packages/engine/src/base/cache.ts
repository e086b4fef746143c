import { readMonotonic } from "./monotonic.ts";

/**
 * A bounded cache of values that may be out of date for a while.
 *
 * Concurrent calls of `get` for one key share one load. When the cache is cleared during a load, the callers that already wait still
 * get the loaded value, but it is not stored: a value that was read before a change must not outlive the change's notification.
 */
export interface Cache<V> {
  /** The stored value, without loading; undefined when there is none. */
  readonly peek: (key: string) => V | undefined;
  /** The stored value, or the one that `load` yields. A failed load is not stored. */
  readonly get: (key: string, load: () => Promise<V>) => Promise<V>;
  /** Stores a value as the newest entry, the last to make room for others. */
  readonly set: (key: string, value: V) => void;
  readonly delete: (key: string) => void;
  readonly clear: () => void;
}

/** The bounds of a cache: number and age of its entries. */
export interface CacheOptions<V> {
  /** Maximum number of entries; beyond it, the oldest are removed. */
  readonly maxEntries: number;
  /** Lifetime of a value in milliseconds; missing: until it is removed because of `maxEntries`. */
  readonly ttlMs?: number | ((value: V) => number);
  /** Current time in milliseconds; default: the monotonic clock. */
  readonly now?: () => number;
}

interface Entry<V> {
  readonly value: V;
  readonly expiresAt: number;
}

/** A tenth of the entries goes at once: each removal from the front of a Map leaves a gap that the next one walks over. */
const SHARE_DROPPED = 0.1;

/** An empty cache. It has no timers: an expired value stays in memory until it is replaced, cleared or displaced. */
export function createCache<V>(options: CacheOptions<V>): Cache<V> {
  const { maxEntries, ttlMs = Infinity, now = readMonotonic } = options;
  const findTtl = typeof ttlMs === "function" ? ttlMs : () => ttlMs;
  const entries = new Map<string, Entry<V>>();
  const loads = new Map<string, Promise<V>>();

  const peek = (key: string): V | undefined => {
    const entry = entries.get(key);
    return entry !== undefined && entry.expiresAt > now() ? entry.value : undefined;
  };
  const set = (key: string, value: V): void => {
    entries.delete(key);
    if (entries.size >= maxEntries) dropFirst(entries, Math.ceil(maxEntries * SHARE_DROPPED));
    entries.set(key, { value, expiresAt: now() + findTtl(value) });
  };
  const start = async (key: string, load: () => Promise<V>): Promise<V> => {
    const loading = load();
    loads.set(key, loading);
    try {
      const value = await loading;
      if (loads.get(key) === loading) set(key, value);
      return value;
    } finally {
      if (loads.get(key) === loading) loads.delete(key);
    }
  };

  return {
    peek,
    set,
    delete: (key) => void entries.delete(key),
    get: async (key, load) => {
      const entry = entries.get(key);
      if (entry !== undefined && entry.expiresAt > now()) return entry.value;
      return await (loads.get(key) ?? start(key, load));
    },
    clear: () => {
      entries.clear();
      loads.clear();
    },
  };
}

function dropFirst(entries: Map<string, unknown>, count: number): void {
  let left = count;
  for (const key of entries.keys()) {
    if (left <= 0) return;
    entries.delete(key);
    left -= 1;
  }
}
