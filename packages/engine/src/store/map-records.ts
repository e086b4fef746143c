import type { ExecutionRecord, ExecutionStore } from "./execution-store.ts";

/** The same store, with its records completed by fields that it does not store itself. */
export function mapRecords(
  store: ExecutionStore,
  complete: (record: ExecutionRecord) => ExecutionRecord,
): ExecutionStore {
  const completeFound = (record: ExecutionRecord | null) => (record === null ? null : complete(record));
  return {
    ...store,
    create: async (execution) => complete(await store.create(execution)),
    findStarted: async (ownerId, key) => completeFound(await store.findStarted(ownerId, key)),
    find: async (id, ownerId) => completeFound(await store.find(id, ownerId)),
    cancel: async (id, ownerId) => completeFound(await store.cancel(id, ownerId)),
    list: async (ownerId, filter) => {
      const { items, nextCursor } = await store.list(ownerId, filter);
      return { items: items.map(complete), nextCursor };
    },
    readChanges: async (watched) => {
      const changes = await store.readChanges(watched);
      return changes.map((change) => ({ ...change, record: complete(change.record) }));
    },
    subscribe: (listener) =>
      store.subscribe((event) => {
        const hasRecord = event.type === "changed" && event.record !== undefined;
        listener(hasRecord ? { ...event, record: complete(event.record) } : event);
      }),
  };
}
