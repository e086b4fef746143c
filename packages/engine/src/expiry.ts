import type { ExecutionRecord, ExecutionStore } from "./ports.ts";

/** The same store, whose finished records say until when they are kept. */
export function withExpiry(store: ExecutionStore, retentionMs: number): ExecutionStore {
  if (retentionMs === Infinity) return store;
  const stamp = (record: ExecutionRecord): ExecutionRecord =>
    record.endedAt === null ? record : { ...record, expiresAt: record.endedAt + retentionMs };
  const stampFound = (record: ExecutionRecord | null) => (record === null ? null : stamp(record));
  return {
    ...store,
    find: async (id, ownerId) => stampFound(await store.find(id, ownerId)),
    cancel: async (id, ownerId) => stampFound(await store.cancel(id, ownerId)),
    list: async (ownerId, filter) => {
      const { items, nextCursor } = await store.list(ownerId, filter);
      return { items: items.map(stamp), nextCursor };
    },
    subscribe: (listener) =>
      store.subscribe((event) => {
        const isStamped = event.type === "changed" && event.record !== undefined;
        listener(isStamped ? { ...event, record: stamp(event.record) } : event);
      }),
  };
}
