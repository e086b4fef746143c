import { expect, test } from "vitest";
import { HOUR, SECOND } from "../base/time.ts";
import type { ExecutionStore, NewExecution, StoreEvent } from "../store/execution-store.ts";
import { createExecution, createOwner, emptyQueue, finishAll, read, request } from "./execution-fixtures.ts";
import type { Use } from "./execution-fixtures.ts";
import { waitUntil } from "./wait-until.ts";

/** So near that a test can wait for it, and so far that it is not over before the execution is stored. */
const SOON_MS = 5 * SECOND;

async function claimIds(store: ExecutionStore): Promise<readonly string[]> {
  const { claims } = await store.claim(request());
  await finishAll(store, claims);
  return claims.map(({ id }) => id);
}

async function hold(
  store: ExecutionStore,
  delayMs: number,
  overrides: Partial<NewExecution> = {},
): Promise<NewExecution> {
  const execution = createExecution({ ...overrides, startAt: Date.now() + delayMs });
  await store.create(execution);
  return execution;
}

/** Rounds, until one has released what is due. */
async function releaseNext(store: ExecutionStore): Promise<void> {
  await waitUntil(async () => (await store.releaseDue()).released > 0);
}

/** The promises about executions that are to begin later. */
export function describeHeld(use: Use): void {
  test("what is to begin later is not in the queue, which counts as drained, until a round releases it", async () => {
    const store = use();
    await emptyQueue(store);
    const execution = await hold(store, HOUR);
    expect(await store.claim(request())).toEqual({ claims: [], isDrained: true });
    expect(await store.claim(request({ onlyId: execution.id }))).toMatchObject({ claims: [] });
    expect((await store.surveyQueue()).map(({ id }) => id)).not.toContain(execution.id);
    expect((await store.releaseDue()).released).toBe(0);
    expect(await claimIds(store)).toEqual([]);
    const { status, live } = await read(store, execution);
    expect({ status, live }).toEqual({
      status: "PENDING",
      live: { held: "START_AT", startAt: execution.startAt },
    });
    await store.cancel(execution.id, execution.owner.id);
  });

  test("what is due is released, announced, and can be claimed", async () => {
    const store = use();
    await emptyQueue(store);
    const events: StoreEvent["type"][] = [];
    const stop = store.subscribe(({ type }) => void events.push(type));
    const execution = await hold(store, SOON_MS);
    expect(events).toContain("held");
    expect(events).not.toContain("pending");
    await releaseNext(store);
    expect(Date.now()).toBeGreaterThanOrEqual(execution.startAt ?? Infinity);
    expect(events).toContain("pending");
    expect((await read(store, execution)).live).toMatchObject({ isPausing: false });
    expect(await claimIds(store)).toEqual([execution.id]);
    stop();
  });

  test("a time in the past is none", async () => {
    const store = use();
    await emptyQueue(store);
    const execution = await hold(store, -HOUR);
    expect(await claimIds(store)).toEqual([execution.id]);
  });

  test("a round says when the next one is due", async () => {
    const store = use();
    const later = await hold(store, 2 * HOUR);
    const sooner = await hold(store, HOUR);
    const { nextMs } = await store.releaseDue();
    expect(nextMs).toBeGreaterThan(0.9 * HOUR);
    expect(nextMs).toBeLessThanOrEqual(HOUR);
    for (const { id, owner } of [later, sooner]) await store.cancel(id, owner.id);
    expect((await store.releaseDue()).nextMs).toBe(null);
  });

  test("what is cancelled while it is held ends at once, and is never released", async () => {
    const store = use();
    await emptyQueue(store);
    const execution = await hold(store, SOON_MS);
    const cancelled = await store.cancel(execution.id, execution.owner.id);
    expect(cancelled).toMatchObject({ status: "FAILED", failure: { code: "CANCELLED" } });
    const other = await hold(store, SOON_MS);
    await releaseNext(store);
    expect(await claimIds(store)).toEqual([other.id]);
    expect((await read(store, execution)).status).toBe("FAILED");
  });

  test("what is to begin later is counted by itself, and takes no turn of its owner's", async () => {
    const store = use();
    await emptyQueue(store);
    const owner = createOwner();
    const held = await Promise.all(Array.from({ length: 5 }, () => hold(store, HOUR, { owner })));
    const [first, second] = [createExecution({ owner }), createExecution({ owner })];
    const alone = createExecution();
    await Promise.all([first, second].map((execution) => store.create(execution)));
    await store.create(alone);
    expect((await store.countPending()).get(owner.id)).toBe(2);
    expect((await store.countDelayed()).get(owner.id)).toBe(5);
    expect(await claimIds(store)).toEqual([first.id, alone.id, second.id]);
    for (const { id } of held) await store.cancel(id, owner.id);
  });

  test("of those that are created at the same moment, what is held takes no turn of those between which it comes", async () => {
    const store = use();
    await emptyQueue(store);
    const owner = createOwner();
    const [first, second, third] = [1, 2, 3].map(() => createExecution({ owner })) as [
      NewExecution,
      NewExecution,
      NewExecution,
    ];
    const held = Array.from({ length: 5 }, () => createExecution({ owner, startAt: Date.now() + HOUR }));
    // While the first one is stored, the others come together.
    const all = [first, second, ...held, third];
    await Promise.all(all.map((execution) => store.create(execution)));
    const ranks: number[] = [];
    for (const execution of [first, second, third]) {
      const { live } = await read(store, execution);
      if (live !== undefined && "rank" in live) ranks.push(live.rank);
    }
    const [lowest = 0] = ranks;
    expect(ranks.map((rank) => rank - lowest)).toEqual([0, 1, 2]);
    for (const { id } of held) await store.cancel(id, owner.id);
    await emptyQueue(store);
  });

  test("what is released comes behind those whose turn it is, and before their backlog", async () => {
    const store = use();
    await emptyQueue(store);
    const released = await hold(store, SOON_MS);
    const owner = createOwner();
    const backlog = Array.from({ length: 4 }, () => createExecution({ owner }));
    for (const execution of backlog) await store.create(execution);
    await releaseNext(store);
    const claimed = await claimIds(store);
    expect(claimed).toHaveLength(5);
    expect(claimed.indexOf(released.id)).toBeGreaterThan(0);
    expect(claimed.indexOf(released.id)).toBeLessThan(3);
  });
}
