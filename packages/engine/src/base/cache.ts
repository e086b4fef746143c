/**
 * Values that may be a while old, so many of them at most.
 *
 * Calls of `get` for one key share one load. A load that was under way when its key was forgotten is still answered to those
 * who waited for it, but not kept: what was read before a change must not outlive the change's notification.
 */
export interface Cache<V> {
  /** The kept value, without waiting for anything. */
  readonly peek: (key: string) => V | undefined;
  /** The kept value, or what `load` yields; a load that fails is not kept. */
  readonly get: (key: string, load: () => Promise<V>) => Promise<V>;
  readonly set: (key: string, value: V) => void;
  readonly clear: () => void;
}

export interface CacheOptions<V> {
  /** Beyond so many, those that were set first make room. */
  readonly maxEntries: number;
  /** How long a value is kept, in milliseconds; missing: until it has to make room. */
  readonly ttlMs?: number | ((value: V) => number);
  /** Milliseconds; default: a clock that nobody sets. */
  readonly now?: () => number;
}

interface Entry<V> {
  readonly value: V;
  readonly expiresAt: number;
}

/** A tenth of the entries goes at once: each removal from the front of a Map leaves a gap that the next one walks over. */
const SHARE_DROPPED = 0.1;

export function createCache<V>(options: CacheOptions<V>): Cache<V> {
  const { maxEntries, ttlMs = Infinity, now = () => performance.now() } = options;
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
