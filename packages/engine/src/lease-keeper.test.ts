import { v7 as createUuid } from "uuid";
import { afterEach, describe, expect, test } from "vitest";
import { createLeaseKeeper } from "./lease-keeper.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import { createMemoryStore } from "./memory-store.ts";
import type { Claim, ExecutionStore } from "./ports.ts";

const WORKER = createUuid();
const OWNER = "owner";
const WITHIN = { timeout: 5_000, interval: 10 };

let keeper: LeaseKeeper | undefined;

afterEach(() => keeper?.close());

async function claimOne(store: ExecutionStore, leaseSeconds: number): Promise<Claim> {
  const resources = { cpu: 1, memory: 1 };
  await store.create({
    id: createUuid(),
    ownerId: OWNER,
    versionId: createUuid(),
    resources,
    timeoutSeconds: 60,
    body: Buffer.from("{}"),
    references: {},
  });
  const request = { workerId: WORKER, limit: 1, free: resources, leaseSeconds, excludedVersionIds: [] };
  const [claim] = (await store.claim(request)).claims;
  if (claim === undefined) throw new Error("nothing to claim");
  return claim;
}

function watch(store: Pick<ExecutionStore, "renew">, leaseSeconds: number) {
  const seen = { lost: [] as string[], cancelled: [] as string[], deadlines: [] as (number | null)[] };
  keeper = createLeaseKeeper({
    store,
    workerId: WORKER,
    leaseSeconds,
    onCancelled: (id) => seen.cancelled.push(id),
    onLost: (id) => seen.lost.push(id),
    onError: () => undefined,
    onDeadline: (giveUpAt) => seen.deadlines.push(giveUpAt),
  });
  return seen;
}

describe("the lease keeper", () => {
  test("keeps a lease past its length, so that nobody settles the execution", async () => {
    const store = createMemoryStore();
    const seen = watch(store, 0.3);
    const claim = await claimOne(store, 0.3);
    keeper?.hold(claim, Date.now());
    const end = Date.now() + 900;
    await expect.poll(async () => (await store.sweep()) === 0 && Date.now() > end, WITHIN).toBe(true);
    expect([seen.lost, (await store.find(claim.id, OWNER))?.status]).toEqual([[], "RUNNING"]);
  });

  test("gives a claim up before its lease is over when it cannot be renewed", async () => {
    const store = createMemoryStore();
    const seen = watch({ renew: () => Promise.reject(new Error("the store is away")) }, 0.5);
    const claim = await claimOne(store, 0.5);
    const since = Date.now();
    keeper?.hold(claim, since);
    await expect.poll(() => seen.lost, WITHIN).toEqual([claim.id]);
    expect(seen.deadlines[0]).toBe(since + 400);
    expect(seen.deadlines.at(-1)).toBeNull();
  });

  test("tells of a claim that somebody else settled, and of one that was cancelled", async () => {
    const store = createMemoryStore();
    const seen = watch(store, 0.3);
    const [taken, cancelled] = [await claimOne(store, 0.3), await claimOne(store, 0.3)];
    await store.finish(taken, { status: "FAILED", code: "CANCELLED", detail: "by somebody else" });
    await store.cancel(cancelled.id, OWNER);
    for (const claim of [taken, cancelled]) keeper?.hold(claim, Date.now());
    await expect
      .poll(() => [seen.lost, seen.cancelled.slice(0, 1)], WITHIN)
      .toEqual([[taken.id], [cancelled.id]]);
  });
});
