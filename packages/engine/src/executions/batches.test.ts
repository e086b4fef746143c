import { hrtime } from "node:process";
import { Problem } from "@platform/contract/problems";
import { expect, test, vi } from "vitest";
import { createUuidV7 } from "../base/uuid.ts";
import type { BatchStore } from "../store/batches.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import { createExecution, createOwner } from "../testing/execution-fixtures.ts";
import { NO_REFERENCES } from "../testing/no-references.ts";
import { createBatches } from "./batches.ts";

const TARGET = { id: "version", resources: { cpu: 1, memory: 1 }, timeoutSeconds: 60, inputSchema: null };

/** Starts a batch of two, without a key, whose hold is lost once both are stored; `openAgain` answers its next look. */
async function loseHold(openAgain: BatchStore["openBatch"]) {
  const store = createMemoryStore();
  const owner = createOwner();
  let openings = 0;
  const batches = createBatches({
    store: {
      ...store,
      openBatch: async (batch, mayCreate) => {
        openings += 1;
        return await (openings > 1 ? openAgain : store.openBatch)(batch, mayCreate);
      },
      // Whoever cancels it has settled it before.
      settleBatch: async () => null,
    },
    startItem: {
      references: NO_REFERENCES,
      start: async ({ id }) => await store.create(createExecution({ id, owner })),
    },
  });
  const body = Buffer.from('{"items": [{}, {}]}');
  const answer: unknown = await batches
    .start(owner, { body, findTarget: () => TARGET })
    .catch((error: unknown) => error);
  const pending = await store.countPending();
  expect([...pending]).toEqual([[owner.id, 2]]);
  return answer;
}

const UNCERTAIN = {
  code: "INTERNAL_ERROR",
  message: expect.stringContaining("it is unknown which of its executions were. Get the batch"),
};

test("a batch that was taken over while it was started is not told that nothing was accepted, where the database is away then", async () => {
  const answer = await loseHold(async () => {
    throw new Problem("UNAVAILABLE");
  });
  expect(answer).toMatchObject(UNCERTAIN);
});

test("nor that it is to be sent again, where who has taken it over does not end in time", async () => {
  const now = hrtime.bigint();
  const clock = vi.spyOn(hrtime, "bigint");
  try {
    const answer = await loseHold(async ({ id, ownerId, itemIds }) => {
      clock.mockReturnValue(now + 60_000_000_000n);
      const batch = { id, ownerId, itemIds, createdAt: Date.now(), isCancelled: true, refusals: null };
      return { batch, holder: "other", isRepeated: true };
    });
    expect(answer).toMatchObject(UNCERTAIN);
  } finally {
    clock.mockRestore();
  }
});

test("cancellations of a batch that is being started wait for it together", async () => {
  const store = createMemoryStore();
  const { id: ownerId } = createOwner();
  const [id, holder] = [createUuidV7(), createUuidV7()];
  await store.openBatch({ id, ownerId, itemIds: [createUuidV7()], holder }, true);
  let marked = 0;
  const batches = createBatches({
    store: {
      ...store,
      cancelBatch: async (...asked) => {
        marked += 1;
        return await store.cancelBatch(...asked);
      },
    },
    startItem: { references: NO_REFERENCES, start: () => Promise.reject(new Error("nothing is started")) },
  });
  const cancelled = Promise.all(Array.from({ length: 20 }, () => batches.cancel(id, ownerId)));
  await expect.poll(() => marked).toBeGreaterThan(0);
  await store.settleBatch(id, holder, []);
  expect((await cancelled).map(({ batch }) => batch.isCancelled)).toEqual(
    Array.from({ length: 20 }, () => true),
  );
  expect(marked).toBe(1);
  await batches.cancel(id, ownerId);
});
