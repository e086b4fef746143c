import { afterAll, beforeAll, expect, test } from "vitest";
import {
  FAILED,
  SHORT_LEASE,
  SUCCEEDED,
  createExecution,
  createOwner,
  emptyQueue,
  finishAll,
  read,
  request,
} from "@platform/engine/testing/execution-fixtures";
import type { Owner } from "@platform/engine/store/owner";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { createLimitScene } from "../../testing/limit-scene.ts";
import type { LimitScene } from "../../testing/limit-scene.ts";
import { createExecutionDatabase, createPostgresExecutionStore } from "./execution-store.ts";

let scene: LimitScene;

beforeAll(async () => {
  scene = await createLimitScene();
});
afterAll(() => scene.close());

async function startMany(limitKey: string, owner: Owner, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index++) ids.push((await scene.start(limitKey, owner)).id);
  return ids;
}

/** Runs all that is there, one place after the other; the owners in the order in which they got one. */
async function runAll(limitKey: string, owners: Readonly<Record<string, Owner>>): Promise<string> {
  const names = new Map(Object.entries(owners).map(([name, { id }]) => [id, name]));
  let served = "";
  for (;;) {
    await scene.release();
    const [claim] = await scene.claim(1);
    if (claim === undefined) return served;
    served += names.get(claim.owner.id) ?? "?";
    expect((await scene.count(limitKey)).running).toBe(1);
    await finishAll(scene.store, [claim]);
  }
}

test("as many executions of a service get a place as its policy says, and the next when one has ended, in whatever way", async () => {
  await emptyQueue(scene.store);
  const key = await scene.createService({ service: 3 });
  const [owner, other] = [createOwner(), createOwner()];
  const ids = await startMany(key, owner, 6);
  await startMany(key, other, 2);
  expect(await scene.claim()).toEqual([]);
  expect(await scene.count(key)).toEqual({ running: 0, places: 0, held: 8 });
  expect(await scene.release()).toBe(3);
  const [first, second, third] = await scene.claim();
  if (first === undefined || second === undefined || third === undefined)
    throw new Error("There are not three.");
  expect(await scene.release()).toBe(0);
  expect(await scene.count(key)).toEqual({ running: 3, places: 3, held: 5 });
  await scene.store.finish(first, SUCCEEDED);
  await scene.store.finish(second, FAILED);
  expect(await scene.release()).toBe(2);
  // One that waits in the queue has a place as well; one that is held has none.
  await scene.store.giveBack(third, 0);
  expect(await scene.release()).toBe(0);
  await scene.store.cancel(third.id, third.owner.id);
  expect(await scene.release()).toBe(1);
  const held = ids.at(-1) ?? "";
  await scene.store.cancel(held, owner.id);
  expect(await scene.release()).toBe(0);
  expect((await scene.count(key)).places).toBe(3);
  await finishAll(scene.store, await scene.claim());
  await scene.release();
  await finishAll(scene.store, await scene.claim());
  expect(await scene.count(key)).toEqual({ running: 0, places: 0, held: 0 });
});

test("a lost worker's place is given back when its lease is over", async () => {
  const key = await scene.createService({ service: 1 });
  await startMany(key, createOwner(), 2);
  await scene.release();
  const { claims } = await scene.store.claim(request({ leaseSeconds: SHORT_LEASE }));
  expect(claims).toHaveLength(1);
  await waitUntil(async () => (await scene.store.sweep()) > 0);
  expect(await scene.release()).toBe(1);
  await emptyQueue(scene.store);
});

test("an owner has as many places as the policy says, and no more than the service has", async () => {
  const key = await scene.createService({ service: 5, subscription: 2 });
  const owners = [createOwner(), createOwner(), createOwner()];
  for (const owner of owners) await startMany(key, owner, 4);
  expect(await scene.release()).toBe(5);
  const claims = await scene.claim();
  const counts = owners.map(({ id }) => claims.filter(({ owner }) => owner.id === id).length);
  expect(counts.toSorted((a, b) => a - b)).toEqual([1, 2, 2]);
  await finishAll(scene.store, claims);
  await scene.release();
  await emptyQueue(scene.store);
  await scene.release();
  await emptyQueue(scene.store);
});

test("a limit of owners alone limits nothing else", async () => {
  const key = await scene.createService({ subscription: 1 });
  for (let index = 0; index < 30; index++) await startMany(key, createOwner(), 2);
  expect(await scene.release()).toBe(30);
  await emptyQueue(scene.store);
  expect(await scene.release()).toBe(30);
  await emptyQueue(scene.store);
});

test("owners take turns for the places, and the next one is of who has the fewest", async () => {
  const key = await scene.createService({ service: 1 });
  const owners = { A: createOwner(), B: createOwner(), C: createOwner() };
  await startMany(key, owners.A, 3);
  await startMany(key, owners.B, 1);
  await startMany(key, owners.C, 2);
  const served = await runAll(key, owners);
  // Each in every turn while it has any.
  expect(new Set(served.slice(0, 3))).toEqual(new Set("ABC"));
  expect(new Set(served.slice(3, 5))).toEqual(new Set("AC"));
  expect(served.slice(5)).toBe("A");
  await scene.setLimits(key, { service: 2 });
  await startMany(key, owners.A, 3);
  await startMany(key, owners.B, 2);
  await scene.release();
  const claims = await scene.claim();
  expect(claims.map(({ owner }) => owner.id).toSorted()).toEqual([owners.A.id, owners.B.id].toSorted());
  await finishAll(
    scene.store,
    claims.filter(({ owner }) => owner.id === owners.B.id),
  );
  await scene.release();
  expect((await scene.claim()).map(({ owner }) => owner.id)).toEqual([owners.B.id]);
  await emptyQueue(scene.store);
});

test("a backlog of one owner, and owners who come one after another, keep nobody waiting for more than a turn of each", async () => {
  await emptyQueue(scene.store);
  const key = await scene.createService({ service: 1 });
  const [greedy, modest] = [createOwner(), createOwner()];
  await startMany(key, greedy, 20);
  await startMany(key, modest, 2);
  const served: string[] = [];
  while (served.length < 12) {
    await scene.release();
    const claims = await scene.claim();
    served.push(...claims.map(({ owner }) => owner.id));
    await startMany(key, createOwner(), 1);
    await finishAll(scene.store, claims);
  }
  // In a turn of them all, new ones come behind the last owner, or before the first.
  expect(served.filter((id) => id === modest.id)).toHaveLength(2);
  expect(served.indexOf(modest.id)).toBeLessThan(4);
  expect(served.filter((id) => id === greedy.id).length).toBeGreaterThanOrEqual(2);
  await scene.setLimits(key, null);
  await scene.release();
  await emptyQueue(scene.store);
});

test("services do not share places, and what has no limits is not held", async () => {
  await emptyQueue(scene.store);
  const [key, another] = [
    await scene.createService({ service: 1 }),
    await scene.createService({ service: 2 }),
  ];
  const owner = createOwner();
  await startMany(key, owner, 3);
  await startMany(another, owner, 3);
  await scene.store.create(createExecution({ owner }));
  expect(await scene.claim()).toHaveLength(1);
  expect(await scene.release()).toBe(3);
  expect([(await scene.count(key)).places, (await scene.count(another)).places]).toEqual([1, 2]);
  for (let round = 0; round < 3; round++) {
    await emptyQueue(scene.store);
    await scene.release();
  }
  expect([(await scene.count(key)).held, (await scene.count(another)).held]).toEqual([0, 0]);
});

test("limits are those of the policy of the moment: higher ones give places at once, lower ones wait for ends, none hold nothing", async () => {
  await emptyQueue(scene.store);
  const key = await scene.createService({ service: 1 });
  await startMany(key, createOwner(), 9);
  expect(await scene.release()).toBe(1);
  await scene.setLimits(key, { service: 4 });
  expect(await scene.release()).toBe(3);
  await scene.setLimits(key, { service: 2 });
  const claims = await scene.claim();
  expect(claims).toHaveLength(4);
  await finishAll(scene.store, claims.slice(0, 2));
  expect(await scene.release()).toBe(0);
  await finishAll(scene.store, claims.slice(2, 3));
  expect(await scene.release()).toBe(1);
  await scene.setLimits(key, null);
  expect(await scene.release()).toBe(4);
  await emptyQueue(scene.store);
});

test("a change of a policy is announced to whoever releases", async () => {
  const listener = createPostgresExecutionStore({ database: scene.database });
  let announced = 0;
  const stop = listener.subscribe(({ type }) => void (type === "held" && (announced += 1)));
  const key = await scene.createService({ service: 1 });
  await expect
    .poll(async () => {
      await scene.setLimits(key, { service: 1 + announced });
      await scene.setLimits(key, null);
      return announced;
    })
    .toBeGreaterThan(0);
  stop();
  await listener.close();
});

test("one that is to begin later waits for its time, and then for a place", async () => {
  await emptyQueue(scene.store);
  const key = await scene.createService({ service: 1 });
  const owner = createOwner();
  await scene.start(key, owner);
  const later = await scene.start(key, owner, { startAt: Date.now() + 3_600_000 });
  expect(await scene.release()).toBe(1);
  await finishAll(scene.store, await scene.claim());
  expect(await scene.release()).toBe(0);
  await scene.database.query({
    text: "update execution set start_at = now() where id = $1",
    values: [later.id],
  });
  await scene.start(key, owner);
  await scene.release();
  expect(await scene.count(key)).toEqual({ running: 0, places: 1, held: 1 });
  // It is the older one.
  const [claim] = await scene.claim();
  expect(claim?.id).toBe(later.id);
  await emptyQueue(scene.store);
  await scene.release();
  await emptyQueue(scene.store);
});

test("many that release at the same time, while others start and end, give no more places than there are, and leave none unused", async () => {
  await emptyQueue(scene.store);
  const key = await scene.createService({ service: 7, subscription: 3 });
  const owners = Array.from({ length: 5 }, () => createOwner());
  const stores = Array.from({ length: 4 }, () =>
    createPostgresExecutionStore({ database: createExecutionDatabase(scene.home.target, scene.home) }),
  );
  const starts = owners.map(async (owner) => startMany(key, owner, 20));
  const progress = { most: 0, isDone: false };
  const releases = stores.map(async (store) => {
    while (!progress.isDone) await store.releaseDue();
  });
  const ends = (async () => {
    for (let ended = 0; ended < 100;) {
      const claims = await scene.claim();
      progress.most = Math.max(progress.most, (await scene.count(key)).places);
      await finishAll(scene.store, claims);
      ended += claims.length;
    }
    progress.isDone = true;
  })();
  await Promise.all([...starts, ...releases, ends]);
  expect(progress.most).toBeGreaterThan(3);
  expect(progress.most).toBeLessThanOrEqual(7);
  expect(await scene.count(key)).toEqual({ running: 0, places: 0, held: 0 });
  await Promise.all(stores.map(async (store) => store.close()));
});

test("the record of one that is held says so, whoever reads it", async () => {
  const key = await scene.createService({ service: 1 });
  const execution = createExecution({ owner: createOwner(), limitKey: key });
  const created = await scene.store.create(execution);
  const live = { held: "LIMIT", startAt: null, limitKey: key };
  expect(created).toMatchObject({ status: "PENDING", live });
  expect(await read(scene.store, execution)).toMatchObject({ status: "PENDING", live });
  await scene.release();
  expect((await read(scene.store, execution)).live).toMatchObject({ isPausing: false });
  await emptyQueue(scene.store);
});

test("a survey says of each owner who waits which places there are and who is first", async () => {
  await emptyQueue(scene.store);
  const [key, owner, other] = [
    await scene.createService({ service: 3, subscription: 2 }),
    createOwner(),
    createOwner(),
  ];
  const ids = await startMany(key, owner, 30);
  await startMany(key, other, 1);
  await scene.release();
  await startMany(key, other, 3);
  const lines = (await scene.store.surveyLimits()).filter(({ limitKey }) => limitKey === key);
  expect(lines.find(({ ownerId }) => ownerId === owner.id)).toEqual({
    limitKey: key,
    ownerId: owner.id,
    ofService: 3,
    ofOwner: 2,
    taken: 3,
    takenByOwner: 2,
    held: 28,
    firstIds: ids.slice(2, 22),
  });
  expect(lines.find(({ ownerId }) => ownerId === other.id)).toMatchObject({ takenByOwner: 1, held: 3 });
  await scene.setLimits(key, { subscription: 40 });
  expect((await scene.store.surveyLimits()).find(({ ownerId }) => ownerId === owner.id)).toMatchObject({
    ofService: null,
    ofOwner: 40,
  });
  await scene.release();
  await emptyQueue(scene.store);
});
