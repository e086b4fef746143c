import { expect, test } from "vitest";
import { SUCCEEDED, createExecution, createOwner, emptyQueue, request } from "./execution-fixtures.ts";
import type { Use } from "./execution-fixtures.ts";

const report = (capacity: { readonly cpu: number; readonly memory: number }) => ({
  workerId: "foreseen",
  capacity,
  free: capacity,
  excludedVersionIds: [],
  reservedId: null,
  reservesAfterSeconds: null,
});

/** What a start would find. */
export function describeForesight(use: Use): void {
  test("a start is foreseen at the place in the queue that it gets, and creates nothing", async () => {
    const store = use();
    await emptyQueue(store);
    const [mine, other] = [createOwner(), createOwner()];
    for (const owner of [other, other, mine, other]) await store.create(createExecution({ owner }));
    for (const owner of [mine, createOwner()]) {
      const start = createExecution({ owner });
      const { place } = await store.foresee(start);
      expect(await store.find(start.id, owner.id)).toBeNull();
      await store.create(start);
      expect((await store.find(start.id, owner.id))?.live).toMatchObject(place);
    }
    await emptyQueue(store);
  });

  test("a start is foreseen to have room where a live worker has so much that nothing runs on", async () => {
    const store = use();
    await emptyQueue(store);
    const resources = { cpu: 2, memory: 2 };
    const start = createExecution({ resources });
    const foresee = async () => (await store.foresee(start)).hasRoom;
    expect(await foresee()).toBe(false);
    await store.report(report({ cpu: 3, memory: 1 }));
    expect(await foresee()).toBe(false);
    await store.report(report({ cpu: 3, memory: 8 }));
    expect(await foresee()).toBe(true);
    await store.create(createExecution({ resources }));
    const { claims } = await store.claim({ ...request(), workerId: "foreseen" });
    expect(await foresee()).toBe(false);
    for (const claim of claims) await store.finish(claim, SUCCEEDED);
    await store.leave("foreseen");
    expect(await foresee()).toBe(false);
    await emptyQueue(store);
  });
}
