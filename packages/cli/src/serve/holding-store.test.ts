import { createExecution, createOwner } from "@platform/engine/testing/execution-fixtures";
import { createKey } from "@platform/engine/testing/idempotency-conformance";
import { createMemoryStore } from "@platform/engine/store/memory-store";
import { expect, test } from "vitest";
import { createHoldingStore } from "./holding-store.ts";

test("content is kept for the execution that a key has started, and not for repetitions, which start none", async () => {
  const held = new Set<string>();
  const store = createHoldingStore(createMemoryStore(), {
    hold: (id) => void held.add(id),
    release: async (id) => void held.delete(id),
  });
  const [owner, key] = [createOwner(), createKey()];
  const { id } = await store.create(createExecution({ owner, key }));
  for (let tries = 0; tries < 3; tries++) await store.create(createExecution({ owner, key }));
  expect([...held]).toEqual([id]);
  await store.cancel(id, owner.id);
  expect([...held]).toEqual([]);
});
