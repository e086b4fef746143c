/**
 * A small cache for answers of the database that may be a few seconds old.
 *
 * Calls for one key share one load. A load that was under way when its key was forgotten is still answered to those who
 * waited for it, but not kept: what was read before a change must not outlive the change's notification.
 */
export interface TtlCache<V> {
  /** The kept value, or what `load` yields; a load that fails is not kept. */
  readonly get: (key: string, load: () => Promise<V>) => Promise<V>;
  readonly forget: (key: string) => void;
  readonly clear: () => void;
}

export interface TtlCacheOptions<V> {
  /** How long a value is kept, in milliseconds. */
  readonly ttlOf: (value: V) => number;
  /** The oldest entries make room beyond so many. */
  readonly maxEntries: number;
  readonly now?: () => number;
}

interface Entry<V> {
  readonly value: Promise<V>;
  /** Infinity while it is being loaded. */
  expiresAt: number;
}

export function createTtlCache<V>(options: TtlCacheOptions<V>): TtlCache<V> {
  const now = options.now ?? Date.now;
  const entries = new Map<string, Entry<V>>();

  const start = (key: string, load: () => Promise<V>): Promise<V> => {
    const entry: Entry<V> = { value: load(), expiresAt: Infinity };
    entries.set(key, entry);
    for (const oldest of entries.keys()) {
      if (entries.size <= options.maxEntries) break;
      entries.delete(oldest);
    }
    entry.value.then(
      (value) => {
        entry.expiresAt = now() + options.ttlOf(value);
      },
      () => {
        if (entries.get(key) === entry) entries.delete(key);
      },
    );
    return entry.value;
  };

  return {
    get: async (key, load) => {
      const entry = entries.get(key);
      if (entry && entry.expiresAt > now()) return await entry.value;
      entries.delete(key);
      return await start(key, load);
    },
    forget: (key) => {
      entries.delete(key);
    },
    clear: () => entries.clear(),
  };
}
