/**
 * A small cache for answers of the database that may be a few seconds old.
 *
 * Calls for one key share one load. A load that was under way when its key was forgotten is still answered to those who
 * waited for it, but not kept: what was read before a change must not outlive the change's notification.
 */
export interface TtlCache<V> {
  /** The kept value, or what `load` yields; a load that fails is not kept. */
  readonly get: (key: string, load: () => Promise<V>) => Promise<V>;
  /** The kept value, without waiting for anything. */
  readonly peek: (key: string) => V | undefined;
  readonly clear: () => void;
}

export interface TtlCacheOptions<V> {
  /** How long a value is kept, in milliseconds. */
  readonly ttlOf: (value: V) => number;
  /** The oldest entries make room beyond so many. */
  readonly maxEntries: number;
  readonly now?: () => number;
}

interface Kept<V> {
  readonly value: V;
  readonly expiresAt: number;
}

export function createTtlCache<V>(options: TtlCacheOptions<V>): TtlCache<V> {
  const now = options.now ?? Date.now;
  const kept = new Map<string, Kept<V>>();
  const loads = new Map<string, Promise<V>>();

  const peek = (key: string): V | undefined => {
    const entry = kept.get(key);
    return entry && entry.expiresAt > now() ? entry.value : undefined;
  };

  const keep = (key: string, value: V): void => {
    kept.delete(key);
    kept.set(key, { value, expiresAt: now() + options.ttlOf(value) });
    if (kept.size <= options.maxEntries) return;
    const [oldest] = kept.keys();
    if (oldest !== undefined) kept.delete(oldest);
  };

  const start = async (key: string, load: () => Promise<V>): Promise<V> => {
    const loading = load();
    loads.set(key, loading);
    try {
      const value = await loading;
      if (loads.get(key) === loading) keep(key, value);
      return value;
    } finally {
      if (loads.get(key) === loading) loads.delete(key);
    }
  };

  return {
    peek,
    get: async (key, load) => {
      const entry = kept.get(key);
      if (entry && entry.expiresAt > now()) return entry.value;
      return await (loads.get(key) ?? start(key, load));
    },
    clear: () => {
      kept.clear();
      loads.clear();
    },
  };
}
