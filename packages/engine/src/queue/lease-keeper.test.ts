import { afterEach, describe, expect, test, vi } from "vitest";
import { createUuidV7 } from "../base/uuid.ts";
import { SECOND, HOUR } from "../base/time.ts";
import { createLeaseKeeper } from "./lease-keeper.ts";
import type { Clocks, LeaseKeeper } from "./lease-keeper.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import { readMonotonic } from "../base/monotonic.ts";
import type { Claim, ClaimKey, ExecutionStore } from "../store/execution-store.ts";
import { createOwner } from "../testing/execution-fixtures.ts";

const WORKER = createUuidV7();
const OWNER = "owner";
const WITHIN = { interval: 10 };
/** Long enough for a slow machine to renew in time. */
const LEASE_SECONDS = 5;

let opened: LeaseKeeper<ClaimKey> | undefined;

afterEach(() => {
  opened?.close();
  vi.useRealTimers();
});

async function claimOne(store: ExecutionStore, leaseSeconds: number): Promise<Claim> {
  const resources = { cpu: 1, memory: 1 };
  await store.create({
    id: createUuidV7(),
    owner: createOwner(OWNER),
    versionId: createUuidV7(),
    resources,
    timeoutSeconds: 60,
    body: Buffer.from("{}"),
    references: {},
  });
  const request = {
    workerId: WORKER,
    sandboxLevel: "B" as const,
    limit: 1,
    free: resources,
    leaseSeconds,
    excludedVersionIds: [],
  };
  const [claim] = (await store.claim(request)).claims;
  if (claim === undefined) throw new Error("nothing to claim");
  return claim;
}

function watch(store: Pick<ExecutionStore, "renew">, leaseSeconds: number, clocks?: Clocks) {
  const seen = { lost: [] as string[], cancelled: [] as string[], deadlines: [] as (number | null)[] };
  const keeper = createLeaseKeeper<ClaimKey>({
    renew: (claims) => store.renew(WORKER, claims, leaseSeconds),
    leaseSeconds,
    onCancelled: (id) => seen.cancelled.push(id),
    onLost: (id) => seen.lost.push(id),
    onError: () => undefined,
    onDeadline: (giveUpAt) => seen.deadlines.push(giveUpAt),
    ...(clocks === undefined ? {} : { clocks }),
  });
  opened = keeper;
  return { keeper, seen };
}

const renewNothing: ExecutionStore["renew"] = async (_worker, claims) => ({
  lost: [],
  cancelled: [],
  busy: claims.map(({ id }) => id),
});

/** A store that renews whatever it is asked, on time that only the test moves. */
function watchOnFakeTime(leaseSeconds: number) {
  vi.useFakeTimers();
  const time = { monotonic: 1_000_000, wall: 2_000_000_000 };
  const asked: number[] = [];
  const renew: ExecutionStore["renew"] = async () => {
    asked.push(time.monotonic);
    return { lost: [], cancelled: [], busy: [] };
  };
  const { keeper, seen } = watch({ renew }, leaseSeconds, {
    monotonic: () => time.monotonic,
    wall: () => time.wall,
  });
  const pass = async (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += 100) {
      time.monotonic += 100;
      time.wall += 100;
      await vi.advanceTimersByTimeAsync(100);
    }
  };
  return { keeper, seen, time, asked, pass };
}

const KEY = { id: createUuidV7(), attempt: 1, workerId: WORKER };

describe("the lease keeper", () => {
  test("keeps a lease past its length, so that nobody settles the execution", async () => {
    const store = createMemoryStore();
    const { seen, keeper } = watch(store, LEASE_SECONDS);
    const claim = await claimOne(store, LEASE_SECONDS);
    keeper.hold(claim, readMonotonic());
    const end = readMonotonic() + 2 * LEASE_SECONDS * SECOND;
    await expect.poll(async () => (await store.sweep()) === 0 && readMonotonic() > end, WITHIN).toBe(true);
    expect([seen.lost, (await store.find(claim.id, OWNER))?.status]).toEqual([[], "RUNNING"]);
  });

  test("gives a claim up before its lease is over when it cannot be renewed, and says by when nothing may run", async () => {
    const store = createMemoryStore();
    const { seen, keeper } = watch({ renew: () => Promise.reject(new Error("the store is away")) }, 0.5);
    const claim = await claimOne(store, 0.5);
    const since = readMonotonic();
    keeper.hold(claim, since);
    await expect.poll(() => seen.lost, WITHIN).toEqual([claim.id]);
    const [first] = seen.deadlines;
    expect(first).toBeGreaterThan(since);
    expect(first).toBeLessThan(since + 500);
    expect(seen.deadlines.at(-1)).toBeNull();
  });

  test("tells of a claim that somebody else settled, and of one that was cancelled", async () => {
    const store = createMemoryStore();
    const { seen, keeper } = watch(store, LEASE_SECONDS);
    const [taken, cancelled] = [await claimOne(store, LEASE_SECONDS), await claimOne(store, LEASE_SECONDS)];
    await store.finish(taken, { status: "FAILED", code: "CANCELLED", detail: "by somebody else" });
    await store.cancel(cancelled.id, OWNER);
    for (const claim of [taken, cancelled]) keeper.hold(claim, readMonotonic());
    await expect
      .poll(() => [seen.lost, seen.cancelled.slice(0, 1)], WITHIN)
      .toEqual([[taken.id], [cancelled.id]]);
  });

  test("says nothing of a claim that was let go while the store was asked, nor of its next attempt", async () => {
    const answer: { give?: () => void } = {};
    const renew: ExecutionStore["renew"] = (_worker, claims) =>
      new Promise((resolve) => {
        answer.give ??= () => resolve({ lost: claims.map(({ id }) => id), cancelled: [KEY.id], busy: [] });
      });
    const { seen, keeper } = watch({ renew }, LEASE_SECONDS);
    const release = keeper.hold(KEY, readMonotonic());
    await expect.poll(() => answer.give !== undefined, WITHIN).toBe(true);
    release();
    answer.give?.();
    await expect.poll(() => seen.deadlines.at(-1), WITHIN).toBeNull();
    keeper.hold({ ...KEY, attempt: 2 }, readMonotonic());
    expect(seen.lost).toEqual([]);
    expect(seen.cancelled).toEqual([]);
  });

  test.each([
    ["an hour ahead", HOUR],
    ["an hour back", -HOUR],
  ])("keeps what it holds when the host's clock is set %s", async (_where, step) => {
    const { keeper, seen, time, pass } = watchOnFakeTime(30);
    keeper.hold(KEY, time.monotonic);
    await pass(5_000);
    time.wall += step;
    await pass(60_000);
    expect(seen.lost).toEqual([]);
  });

  test("asks the store at once after the machine was suspended, since the leases there went on", async () => {
    const { keeper, time, asked, pass } = watchOnFakeTime(30);
    keeper.hold(KEY, time.monotonic);
    await pass(11_000);
    const before = asked.length;
    // Suspended: our clock stood still, and so did the timers.
    time.wall += HOUR;
    await pass(3_000);
    expect(asked).toHaveLength(before + 1);
  });

  test("counts no renewal where the store was writing at that moment", async () => {
    const { keeper, seen } = watch({ renew: renewNothing }, 0.5);
    keeper.hold(KEY, readMonotonic());
    await expect.poll(() => seen.lost, WITHIN).toEqual([KEY.id]);
  });

  test("renews at once what was claimed by an answer that took long", async () => {
    const { keeper, seen, time, asked, pass } = watchOnFakeTime(30);
    const since = time.monotonic - 17_000;
    keeper.hold(KEY, since);
    keeper.hold({ ...KEY, id: createUuidV7() }, since);
    await pass(100);
    expect(asked).toHaveLength(1);
    await pass(30_000);
    expect(seen.lost).toEqual([]);
  });

  test("gives up after a pause longer than the lease before it renews anything", async () => {
    const { keeper, seen, time, asked, pass } = watchOnFakeTime(30);
    keeper.hold(KEY, time.monotonic);
    // The renewal is the next timer that is due.
    await pass(9_900);
    // Stopped and continued: the clocks went on, the timers did not.
    time.monotonic += 60_000;
    time.wall += 60_000;
    await pass(12_000);
    expect([seen.lost, asked]).toEqual([[KEY.id], []]);
  });
});
