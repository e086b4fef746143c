import { expect, test } from "vitest";
import { createUuidV7 } from "../base/uuid.ts";
import type { NewBatch } from "../store/batches.ts";
import type { Owner } from "../store/owner.ts";
import { createExecution, createOwner, emptyQueue, request } from "./execution-fixtures.ts";
import type { Use } from "./execution-fixtures.ts";
import { createKey } from "./idempotency-conformance.ts";

const REFUSED = { code: "INVALID_INPUT", detail: 'A text with \u0000 and "quotes".', at: [1] } as const;

function createBatch(owner: Owner, given: Partial<NewBatch> = {}): NewBatch {
  const itemIds = [createUuidV7(), createUuidV7(), createUuidV7()];
  return { id: createUuidV7(), ownerId: owner.id, itemIds, holder: createUuidV7(), ...given };
}

export function describeBatches(use: Use): void {
  test("a batch is found with its ids, at first as one that is being started, then with what was refused", async () => {
    const store = use();
    const owner = createOwner();
    const batch = createBatch(owner);
    const { id, itemIds, holder } = batch;
    const record = { id, ownerId: owner.id, itemIds, isCancelled: false, refusals: null };
    expect(await store.openBatch(batch, true)).toMatchObject({
      batch: record,
      holder: "own",
      isRepeated: false,
    });
    expect(await store.findBatch(id, owner.id)).toMatchObject(record);
    expect(await store.settleBatch(id, holder, [REFUSED])).toMatchObject({ ...record, refusals: [REFUSED] });
    expect(await store.findBatch(id, owner.id)).toMatchObject({ ...record, refusals: [REFUSED] });
    // Repeated after its answer was lost.
    expect(await store.settleBatch(id, holder, [REFUSED])).toMatchObject({ refusals: [REFUSED] });
    expect(await store.renewBatch(id, holder)).toBe("lost");
  });

  test("another owner has no such batch, and cancels nothing of it", async () => {
    const store = use();
    await emptyQueue(store);
    const owner = createOwner();
    const batch = createBatch(owner);
    const { id } = batch;
    const [itemId = ""] = batch.itemIds;
    await store.openBatch(batch, true);
    await store.create(createExecution({ id: itemId, owner }));
    const other = createOwner();
    expect(await store.findBatch(id, other.id)).toBeNull();
    expect(await store.cancelBatch(id, other.id)).toBeNull();
    await store.cancelMany(batch.itemIds, other.id);
    expect(await store.readStates(batch.itemIds, other.id)).toEqual(new Map());
    expect(await store.readStates(batch.itemIds, owner.id)).toEqual(new Map([[itemId, "PENDING"]]));
    expect(await store.findBatch(id, owner.id)).toMatchObject({ isCancelled: false });
    await emptyQueue(store);
  });

  test("a key names one batch: others wait for its holder, and it is answered once it is settled", async () => {
    const store = use();
    const [owner, key] = [createOwner(), createKey()];
    const [first, second] = [createBatch(owner, { key }), createBatch(owner, { key })];
    expect(await store.openBatch(first, false)).toBeNull();
    await store.openBatch(first, true);
    for (const mayCreate of [true, false])
      expect(await store.openBatch(second, mayCreate)).toMatchObject({
        batch: { id: first.id, itemIds: first.itemIds },
        holder: "other",
        isRepeated: true,
      });
    // Whoever opened it, after a lost answer.
    expect(await store.openBatch(first, true)).toMatchObject({ holder: "own", isRepeated: false });
    expect(await store.settleBatch(first.id, second.holder, [])).toBeNull();
    await store.settleBatch(first.id, first.holder, []);
    expect(await store.openBatch(second, true)).toMatchObject({
      batch: { id: first.id, refusals: [] },
      holder: "nobody",
      isRepeated: true,
    });
    expect(await store.findBatch(second.id, owner.id)).toBeNull();
    expect(await store.findKeyedBatch(owner.id, key)).toMatchObject({ id: first.id, refusals: [] });
    expect(await store.findKeyedBatch(createOwner().id, key)).toBeNull();
  });

  test("its starting is taken over once its holder is late, by who has the batch", async () => {
    const store = use();
    const [owner, holder] = [createOwner(), createUuidV7()];
    const batch = createBatch(owner);
    const { id, itemIds } = batch;
    await store.openBatch(batch, true);
    expect(await store.takeOverBatch(id, createOwner().id, holder)).toBeNull();
    expect(await store.takeOverBatch(createUuidV7(), owner.id, holder)).toBeNull();
    expect(await store.takeOverBatch(id, owner.id, holder)).toMatchObject({
      batch: { id, itemIds, refusals: null },
      holder: "other",
    });
    expect(await store.takeOverBatch(id, owner.id, batch.holder)).toMatchObject({ holder: "own" });
    await store.settleBatch(id, batch.holder, [REFUSED]);
    expect(await store.takeOverBatch(id, owner.id, holder)).toMatchObject({
      batch: { refusals: [REFUSED] },
      holder: "nobody",
    });
  });

  test("the same key with another request, of a batch or of a start, is a conflict", async () => {
    const store = use();
    await emptyQueue(store);
    const owner = createOwner();
    await store.openBatch(createBatch(owner, { key: createKey("batch") }), true);
    const conflict = { code: "IDEMPOTENCY_CONFLICT" };
    const key = createKey("batch", Buffer.from("other"));
    await expect(store.openBatch(createBatch(owner, { key }), true)).rejects.toMatchObject(conflict);
    await expect(store.findKeyedBatch(owner.id, key)).rejects.toMatchObject(conflict);
    await expect(store.create(createExecution({ owner, key }))).rejects.toMatchObject(conflict);
    await store.create(createExecution({ owner, key: createKey("start") }));
    const used = createKey("start", Buffer.from("other"));
    await expect(store.openBatch(createBatch(owner, { key: used }), true)).rejects.toMatchObject(conflict);
    await emptyQueue(store);
  });

  test("its holder is told of a cancellation; what waits ends at once, what runs is told, what has ended stays", async () => {
    const store = use();
    await emptyQueue(store);
    const owner = createOwner();
    const batch = createBatch(owner);
    const { id, holder, itemIds } = batch;
    await store.openBatch(batch, true);
    for (const itemId of itemIds) await store.create(createExecution({ id: itemId, owner }));
    const { claims } = await store.claim({ ...request(), limit: 2 });
    const [ended, running] = claims;
    if (ended === undefined || running === undefined) throw new Error("nothing was claimed");
    await store.finish(ended, { status: "SUCCEEDED", result: Buffer.from("{}"), metadata: null });
    expect(await store.renewBatch(id, holder)).toBe("held");
    for (let repeated = 0; repeated < 2; repeated++) {
      expect(await store.cancelBatch(id, owner.id)).toMatchObject({ id, isCancelled: true });
      await store.cancelMany(itemIds, owner.id);
      const states = await store.readStates(itemIds, owner.id);
      expect([...states.values()].sort()).toEqual(["FAILED", "RUNNING", "SUCCEEDED"]);
    }
    expect(await store.renewBatch(id, holder)).toBe("cancelled");
    const { workerId } = running;
    expect((await store.renew(workerId, [running], 30)).cancelled).toEqual([running.id]);
    const waiting = itemIds.find((itemId) => !claims.some((claim) => claim.id === itemId)) ?? "";
    expect(await store.find(waiting, owner.id)).toMatchObject({ failure: { code: "CANCELLED" } });
    await store.finish(running, { status: "SUCCEEDED", result: Buffer.from("{}"), metadata: null });
  });
}
