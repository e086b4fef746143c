import { afterAll, beforeAll, expect, test } from "vitest";
import { HOUR, MINUTE } from "@platform/engine/base/time";
import {
  createExecution,
  createOwner,
  createUuidAt,
  emptyQueue,
  finishAll,
  request,
  SMALL,
} from "@platform/engine/testing/execution-fixtures";
import { createTestStore } from "../../testing/test-store.ts";
import type { TestStore } from "../../testing/test-store.ts";
import { createPromotion } from "./promote.ts";
import { createQueueHorizon } from "./queue-horizon.ts";

const WAIT_MS = 10 * MINUTE;
const [LOW, NORMAL, HIGH] = [-1, 0, 1];

let home: TestStore;
let time = 0;

beforeAll(async () => {
  home = await createTestStore();
});
afterAll(() => home.close());

/** A round of promotion, as if the last one had been long ago. */
async function promote(): Promise<number> {
  const readHorizon = createQueueHorizon(home.database);
  time += HOUR;
  return await createPromotion(home.database, { readHorizon, waitMs: WAIT_MS, now: () => time })();
}

/** As it would be if it had been started so long ago. */
async function start(owner: string, priority = NORMAL, agoMs = 0, resources = SMALL): Promise<void> {
  const id = createUuidAt(Date.now() - agoMs);
  await home.store.create(createExecution({ id, owner: findOwner(owner), priority, resources }));
}

const owners = new Map<string, ReturnType<typeof createOwner>>();
function findOwner(name: string) {
  const found = owners.get(name) ?? createOwner();
  owners.set(name, found);
  return found;
}

/** Names of the owners of the next executions, of a worker that runs one at a time. */
async function serve(count: number, after?: () => Promise<void>): Promise<string> {
  const names: string[] = [];
  while (names.length < count) {
    const { claims } = await home.store.claim(request({ limit: 1, free: SMALL }));
    if (claims.length === 0) break;
    for (const { owner } of claims) names.push([...owners].find(([, { id }]) => id === owner.id)?.[0] ?? "?");
    await finishAll(home.store, claims);
    await after?.();
  }
  return names.join("");
}

test("classes are served in their order, and within a class owners take turns", async () => {
  await emptyQueue(home.store);
  for (const [owner, priority] of [
    ["L", LOW],
    ["N", NORMAL],
    ["H", HIGH],
    ["N", NORMAL],
    ["M", NORMAL],
    ["l", LOW],
    ["L", LOW],
    ["H", HIGH],
  ] as const)
    await start(owner, priority);
  expect(await serve(9)).toBe("HHNMNLlL");
});

test("an owner's executions of several classes do not wait for each other, also when they are created at once", async () => {
  await emptyQueue(home.store);
  await Promise.all([LOW, LOW, NORMAL, HIGH, NORMAL].map(async (priority) => start("A", priority)));
  const { claims } = await home.store.claim(request());
  const ids = claims.map(({ id }) => id);
  const rows = await home.database.query<{ id: string; priority: number; rank: number }>({
    text: "select id, priority, rank::int as rank from execution where id = any ($1::uuid[])",
    values: [ids],
  });
  const found = new Map(rows.map((row) => [row.id, row]));
  expect(ids.map((id) => found.get(id)?.priority)).toEqual([1, 0, 0, -1, -1]);
  // One rank apart within each class, which begins with where it is served to.
  expect(ids.map((id) => found.get(id)?.rank)).toEqual([0, 0, 1, 0, 1]);
  await finishAll(home.store, claims);
});

test("a low execution gets the normal class after ten minutes behind normal ones, and its turn among them", async () => {
  await emptyQueue(home.store);
  await start("L", LOW, WAIT_MS + MINUTE);
  await start("l", LOW, WAIT_MS - MINUTE);
  for (let index = 0; index < 4; index++) await start("N");
  expect(await promote()).toBe(1);
  expect(await serve(6)).toBe("LNNNNl");
});

test("while normal ones come for ever, every low one is served, and so is every normal one behind high ones", async () => {
  for (const [priority, above] of [
    [LOW, NORMAL],
    [NORMAL, HIGH],
  ] as const) {
    await emptyQueue(home.store);
    await start("A", priority, 2 * WAIT_MS);
    await start("B", priority, 2 * WAIT_MS);
    await start("A", priority, 2 * WAIT_MS);
    await start("N", above);
    const served = await serve(12, async () => {
      await start("N", above);
      await promote();
    });
    expect(served.replaceAll("N", "")).toBe("ABA");
    await emptyQueue(home.store);
  }
});

test("a backlog of low ones that has waited long takes turns with normal ones instead of going before them", async () => {
  await emptyQueue(home.store);
  for (let index = 0; index < 20; index++) await start("L", LOW, 2 * WAIT_MS);
  for (let index = 0; index < 5; index++) await start("N");
  expect(await promote()).toBe(20);
  await start("M");
  expect((await serve(12)).replaceAll("L", "")).toBe("NMNNNN");
  await emptyQueue(home.store);
});

test("nothing is promoted while nothing of a higher class waits, or it has not waited for long", async () => {
  await emptyQueue(home.store);
  await start("L", LOW, 2 * WAIT_MS);
  expect(await promote()).toBe(0);
  await start("N", NORMAL, 2 * WAIT_MS);
  expect(await promote()).toBe(1);
  await start("H", HIGH);
  await start("K", LOW);
  expect(await promote()).toBe(2);
  expect(await promote()).toBe(0);
  await emptyQueue(home.store);
});

test("more than one round's worth is promoted at once, in order", async () => {
  await emptyQueue(home.store);
  await Promise.all(Array.from({ length: 700 }, async () => start("L", LOW, 2 * WAIT_MS)));
  await start("N");
  expect(await promote()).toBe(700);
  const { claims } = await home.store.claim(request());
  const own = claims.filter(({ owner }) => owner.id === findOwner("L").id).map(({ id }) => id);
  expect(own).toHaveLength(700);
  const ranks = await home.database.query<{ rank: number }>({
    text: "select distinct rank::int as rank from execution where id = any ($1::uuid[])",
    values: [own],
  });
  expect(ranks).toHaveLength(700);
  await finishAll(home.store, claims);
});

test("the store itself promotes, with its sweeps", async () => {
  await emptyQueue(home.store);
  await start("L", LOW, 2 * WAIT_MS);
  await start("N");
  await home.store.sweep();
  const [row] = await home.database.query<{ low: number }>({
    text: "select count(*)::int as low from execution where status = 'PENDING' and priority < 0",
  });
  expect(row?.low).toBe(0);
  await emptyQueue(home.store);
});
