import { expect, test } from "vitest";
import { SECOND } from "../base/time.ts";
import { createUuidV7 } from "../base/uuid.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import { createOwner } from "../testing/execution-fixtures.ts";
import { createReserver } from "./reservation.ts";
import { SILENT } from "../testing/silent-logger.ts";

/** Of 16 GB, 9 are taken by a run that goes on for hours. */
const FREE = { cpu: 8, memory: 7 };
const PERMIT = { limit: 32, excludedVersionIds: [] };

async function createWaiting(memory: number) {
  const store = createMemoryStore();
  const id = createUuidV7();
  await store.create({
    id,
    owner: createOwner(),
    versionId: "version",
    resources: { cpu: 1, memory },
    timeoutSeconds: 60,
    body: Buffer.from("{}"),
    references: {},
  });
  const clock = { now: 0 };
  const logged: number[] = [];
  const reserver = createReserver({
    store,
    workerId: "worker",
    capacity: { cpu: 8, memory: 16 },
    logger: {
      ...SILENT,
      info: () => void logged.push(clock.now / SECOND),
    },
    now: () => clock.now,
    reservesAfterSeconds: 0,
  });
  return { store, id, clock, logged, reserver };
}

test("who queues a large execution behind a long run does not stop the worker until that ends", async () => {
  const { clock, reserver } = await createWaiting(8);
  const plans: string[] = [];
  for (; clock.now < 600 * SECOND; clock.now += 30 * SECOND) {
    await reserver.report(FREE, PERMIT);
    plans.push(reserver.plan(FREE) === "nothing" ? "-" : "w");
  }
  // Makes room for 1, 2 and 4 minutes, and works for as long after each.
  expect(plans.join("")).toBe("--ww----wwww--------");
});

test("the log says of each time that room is made, once, when it has taken five seconds", async () => {
  const { clock, logged, reserver } = await createWaiting(8);
  for (; clock.now < 180 * SECOND; clock.now += SECOND) await reserver.report(FREE, PERMIT);
  expect(logged).toEqual([5, 125]);
});

test("what room was made for is claimed as soon as it fits, and then the worker claims anything again", async () => {
  const { store, id, reserver } = await createWaiting(8);
  await reserver.report(FREE, PERMIT);
  expect(reserver.plan({ cpu: 8, memory: 8 })).toEqual({ onlyId: id });
  reserver.settle();
  expect(reserver.plan(FREE)).toBe("anything");
  await reserver.leave();
  expect(await store.listWorkers()).toEqual([]);
});

test("a report that was under way while the worker left does not bring it back", async () => {
  const { store, reserver } = await createWaiting(8);
  const reporting = reserver.report(FREE, PERMIT);
  await reserver.leave();
  await reporting;
  await reserver.report(FREE, PERMIT);
  expect(await store.listWorkers()).toEqual([]);
  expect(reserver.plan(FREE)).toBe("anything");
});

test("a worker that may claim nothing makes no room, and leaves what it made room for to others", async () => {
  const { store, id, reserver } = await createWaiting(8);
  await reserver.report(FREE, PERMIT);
  expect(reserver.plan(FREE)).toBe("nothing");
  await reserver.report(FREE, { limit: 0, excludedVersionIds: [] });
  expect(reserver.plan(FREE)).toBe("anything");
  const other = { workerId: "other", capacity: { cpu: 8, memory: 16 }, free: FREE, excludedVersionIds: [] };
  expect(await store.report({ ...other, reservedId: null, reservesAfterSeconds: 0 })).toMatchObject({ id });
});
