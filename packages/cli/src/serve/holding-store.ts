import { isFinal } from "@platform/contract/execution";
import type { ExecutionStore } from "@platform/engine/store/execution-store";
import type { KeptContents } from "./kept-contents.ts";

/** Wraps a store so that the content that its executions read is kept until they have ended. */
export function createHoldingStore(
  store: ExecutionStore,
  contents: Pick<KeptContents, "hold" | "release">,
): ExecutionStore {
  store.subscribe((event) => {
    if (event.type !== "changed" || event.record === undefined || !isFinal(event.record.status)) return;
    void contents.release(event.id).catch(() => undefined); // the folder goes with the server
  });
  return {
    ...store,
    create: async (execution) => {
      const { id } = execution;
      const { pools = [], ...references } = execution.references;
      const needed = [...Object.values(references), ...pools.flatMap(({ files }) => files)];
      contents.hold(
        id,
        needed.map(({ sha256 }) => sha256),
      );
      try {
        const record = await store.create(execution);
        // An earlier start with the same key has created another.
        if (record.id !== id) await contents.release(id);
        return record;
      } catch (error) {
        await contents.release(id);
        throw error;
      }
    },
  };
}
