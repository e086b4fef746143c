import { Problem } from "@platform/contract/problems";
import { expect, test } from "vitest";
import type { BatchStore } from "../store/batches.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import { createExecution, createOwner } from "../testing/execution-fixtures.ts";
import { NO_REFERENCES } from "../testing/no-references.ts";
import { createBatches } from "./batches.ts";

const TARGET = { id: "version", resources: { cpu: 1, memory: 1 }, timeoutSeconds: 60, inputSchema: null };

test("a batch that was taken over while it was started is not told that nothing was accepted, where the database is away then", async () => {
  const store = createMemoryStore();
  const owner = createOwner();
  let openings = 0;
  const away: BatchStore = {
    ...store,
    openBatch: async (batch, mayCreate) => {
      openings += 1;
      if (openings > 1) throw new Problem("UNAVAILABLE");
      return await store.openBatch(batch, mayCreate);
    },
    // Whoever cancels it has settled it before.
    settleBatch: async () => null,
  };
  const batches = createBatches({
    store: away,
    startItem: {
      references: NO_REFERENCES,
      start: async ({ id }) => await store.create(createExecution({ id, owner })),
    },
  });
  const body = Buffer.from('{"items": [{}, {}]}');
  await expect(batches.start(owner, { body, findTarget: () => TARGET })).rejects.toMatchObject({
    code: "INTERNAL_ERROR",
    message: expect.stringContaining("it is unknown which of its executions were. Get the batch"),
  });
  const pending = await store.countPending();
  expect([...pending]).toEqual([[owner.id, 2]]);
});
