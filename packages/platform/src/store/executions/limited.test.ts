import { afterAll, beforeAll, expect, test } from "vitest";
import { createOwner, emptyQueue, finishAll } from "@platform/engine/testing/execution-fixtures";
import { createLimitScene } from "../../testing/limit-scene.ts";
import type { LimitScene } from "../../testing/limit-scene.ts";
import { createExecutionDatabase, createPostgresExecutionStore } from "./execution-store.ts";

let scene: LimitScene;

beforeAll(async () => {
  scene = await createLimitScene();
});
afterAll(() => scene.close());

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

test("many that release at the same time, while others start and end, give no more places than there are, and leave none unused", async () => {
  await emptyQueue(scene.store);
  const key = await scene.createService({ service: 7, subscription: 3 });
  const owners = Array.from({ length: 5 }, () => createOwner());
  const stores = Array.from({ length: 4 }, () =>
    createPostgresExecutionStore({ database: createExecutionDatabase(scene.home.target, scene.home) }),
  );
  const starts = owners.map(async (owner) => scene.startMany(key, owner, 20));
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
