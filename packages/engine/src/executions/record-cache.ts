import { isFinal } from "@platform/contract/execution";
import { createCache } from "../base/cache.ts";
import { readMonotonic } from "../base/monotonic.ts";
import type { ExecutionRecord, ExecutionStore } from "../store/execution-store.ts";

const MAX_RECORDS = 20_000;
/** Lifetime of a record that is not final, for when an event is lost. Milliseconds. */
const BELIEVED_MS = 500;

interface Entry {
  readonly record: ExecutionRecord;
  readonly until: number;
}

/**
 * A cache of records for polls. A final record never changes, so it stays until the cache is full; any other is removed
 * by the store's event, or not shown after half a second when the event was lost; it stays even then, since it still tells that
 * a query which began before it is older.
 */
export interface RecordCache {
  /** The cached record; undefined when the store must be asked. */
  readonly peek: (id: string, ownerId: string) => ExecutionRecord | undefined;
  /** The cached record, or the one in the store; null when the owner has no such execution. */
  readonly find: (id: string, ownerId: string) => Promise<ExecutionRecord | null>;
  /** Replaces a cached record of the same id. */
  readonly put: (record: ExecutionRecord) => void;
  /** Adds a record that was just created, unless one is cached: that one is newer. */
  readonly add: (record: ExecutionRecord) => void;
  readonly forget: (id: string) => void;
  readonly clear: () => void;
}

/** Has no records at first. Its owner passes the store's events on to it: it subscribes to nothing. */
export function createRecordCache(store: ExecutionStore): RecordCache {
  const entries = createCache<Entry>({ maxEntries: MAX_RECORDS });
  const put = (record: ExecutionRecord) => {
    entries.set(record.id, {
      record,
      until: isFinal(record.status) ? Infinity : readMonotonic() + BELIEVED_MS,
    });
  };
  const peek = (id: string, ownerId: string) => {
    const entry = entries.peek(id);
    return entry !== undefined && entry.record.ownerId === ownerId && entry.until > readMonotonic()
      ? entry.record
      : undefined;
  };
  return {
    peek,
    find: async (id, ownerId) => {
      const known = peek(id, ownerId);
      if (known !== undefined) return known;
      const entry = entries.peek(id);
      const record = await store.find(id, ownerId);
      if (record === null) {
        if (entry?.record.ownerId === ownerId) entries.delete(id);
        return null;
      }
      // An event may have stored a newer record during the query.
      const newer = entries.peek(id);
      if (newer !== undefined && newer !== entry && newer.record.ownerId === ownerId) return newer.record;
      put(record);
      return record;
    },
    put,
    add: (record) => {
      if (entries.peek(record.id) === undefined) put(record);
    },
    forget: entries.delete,
    clear: entries.clear,
  };
}
