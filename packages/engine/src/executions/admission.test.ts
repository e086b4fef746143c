import { expect, test } from "vitest";
import { createUuidV7 } from "../base/uuid.ts";
import { HOUR, SECOND } from "../base/time.ts";
import { createAdmission } from "./admission.ts";
import type { QueueLimits } from "./admission.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import { createOwner } from "../testing/execution-fixtures.ts";
import type { ExecutionStore } from "../store/execution-store.ts";

const CLAIM = {
  workerId: "worker",
  sandboxLevel: "B" as const,
  free: { cpu: 1e6, memory: 1e6 },
  leaseSeconds: 60,
  excludedVersionIds: [],
};

function open(limits: Partial<QueueLimits>, store = createMemoryStore()) {
  const clock = { now: 0 };
  const admission = createAdmission({
    store,
    limits: { perOwner: 1_000, total: 1_000, ...limits },
    now: () => clock.now,
  });
  return {
    clock,
    store,
    check: (ownerId: string, isDelayed = false) => admission.check({ ownerId, isDelayed }),
    start: (ownerId: string) => admission.admit({ ownerId, isDelayed: false }, () => create(store, ownerId)),
    delay: (ownerId: string) =>
      admission.admit({ ownerId, isDelayed: true }, () => create(store, ownerId, Date.now() + HOUR)),
  };
}

async function create(store: ExecutionStore, ownerId: string, startAt?: number): Promise<string> {
  const { id } = await store.create({
    id: createUuidV7(),
    owner: createOwner(ownerId),
    versionId: "version",
    resources: { cpu: 1, memory: 1 },
    timeoutSeconds: 60,
    body: Buffer.from("{}"),
    references: {},
    ...(startAt === undefined ? {} : { startAt }),
  });
  return id;
}

/** So many run and end. */
async function work(store: ExecutionStore, limit: number): Promise<void> {
  const { claims } = await store.claim({ ...CLAIM, limit });
  for (const claim of claims)
    await store.finish(claim, { status: "SUCCEEDED", result: Buffer.from("{}"), metadata: null });
}

async function refuse(starting: Promise<unknown>): Promise<unknown> {
  return starting.then(
    () => "accepted",
    ({ code, headers }: { code: string; headers: Record<string, string> }) => [
      code,
      Number(headers["retry-after"]),
    ],
  );
}

test("an owner who has too many waiting is refused, and no other owner", async () => {
  const { store, start } = open({ perOwner: 3 });
  for (let index = 0; index < 3; index++) await start("A");
  expect(await refuse(start("A"))).toEqual(["RATE_LIMITED", 5]);
  await start("B");
  expect(await store.countPending()).toEqual(
    new Map([
      ["A", 3],
      ["B", 1],
    ]),
  );
});

test("a check is refused as a start is, and takes no place", async () => {
  const { store, check, start } = open({ perOwner: 2 });
  for (let index = 0; index < 5; index++) await check("A");
  for (let index = 0; index < 2; index++) await start("A");
  for (let index = 0; index < 5; index++) expect(await refuse(check("A"))).toEqual(["RATE_LIMITED", 5]);
  await check("B");
  expect(await store.countPending()).toEqual(new Map([["A", 2]]));
});

test("when too many wait in all, everybody is refused", async () => {
  const { start } = open({ total: 3 });
  for (const owner of ["A", "B", "C"]) await start(owner);
  expect(await refuse(start("D"))).toEqual(["UNAVAILABLE", 5]);
});

test("of many starts at the same moment, no more are accepted than there are places", async () => {
  const { store, start } = open({ perOwner: 10 });
  const answers = await Promise.all(Array.from({ length: 100 }, () => refuse(start("A"))));
  expect(answers.filter((answer) => answer === "accepted")).toHaveLength(10);
  expect((await store.countPending()).get("A")).toBe(10);
});

test("nobody is refused by a count of long ago", async () => {
  const { clock, store, start } = open({ perOwner: 2 });
  await start("A");
  await start("A");
  expect(await refuse(start("A"))).toEqual(["RATE_LIMITED", 5]);
  await work(store, 2);
  clock.now += 2 * SECOND;
  await start("A");
});

test("what another process has queued counts within about a second", async () => {
  const { clock, store, start } = open({ perOwner: 3 });
  await start("A");
  for (let index = 0; index < 2; index++) await create(store, "A");
  clock.now += 2 * SECOND;
  // The count is asked for in the background of this one, and says 3 or 4.
  await refuse(start("A"));
  expect(await refuse(start("A"))).toEqual(["RATE_LIMITED", 5]);
});

test("a start that could not be stored leaves its place to others", async () => {
  const store = createMemoryStore();
  let isBroken = true;
  const { start } = open(
    { perOwner: 1 },
    {
      ...store,
      create: (execution) => (isBroken ? Promise.reject(new Error("no")) : store.create(execution)),
    },
  );
  await expect(start("A")).rejects.toThrow("no");
  isBroken = false;
  await start("A");
});

test("while the store cannot be counted, the queue still has an end", async () => {
  const store = createMemoryStore();
  const { clock, start } = open(
    { perOwner: 5 },
    { ...store, countPending: () => Promise.reject(new Error("too slow")) },
  );
  const answers: unknown[] = [];
  for (let index = 0; index < 8; index++) {
    answers.push(await refuse(start("A")));
    clock.now += 2 * SECOND;
  }
  expect(answers.filter((answer) => answer === "accepted")).toHaveLength(5);
});

test("Retry-After says when there will be a place: by what ends, the owners who share it, and who else waits for one", async () => {
  const { clock, store, start } = open({ perOwner: 400 });
  for (let index = 0; index < 400; index++) await start("A");
  // Two a second end, for a minute.
  for (let second = 0; second < 60; second++) {
    clock.now += SECOND;
    await work(store, 2);
    await start("A");
    await start("A");
  }
  clock.now += 2 * SECOND;
  await refuse(start("A"));
  const [, alone] = (await refuse(start("A"))) as [string, number];
  expect(alone).toBeGreaterThanOrEqual(1);
  expect(alone).toBeLessThanOrEqual(2);
  for (let index = 0; index < 40; index++) await refuse(start("A"));
  const [, behindOthers] = (await refuse(start("A"))) as [string, number];
  expect(behindOthers).toBeGreaterThanOrEqual(20);
  expect(behindOthers).toBeLessThanOrEqual(25);
  await start("B");
  clock.now += 2 * SECOND;
  await refuse(start("A"));
  for (let index = 0; index < 20; index++) await refuse(start("A"));
  const [, shared] = (await refuse(start("A"))) as [string, number];
  expect(shared).toBeGreaterThanOrEqual(20);
  clock.now += 3_600 * SECOND;
  await refuse(start("A"));
  expect(await refuse(start("A"))).toEqual(["RATE_LIMITED", 300]);
});

test("what is to begin later counts by owner alone: no number of it keeps others, or what its owner starts at once, from starting", async () => {
  const { clock, start, delay, check, store } = open({ perOwner: 3, total: 4 });
  const delayed: string[] = [];
  for (const owner of ["A", "B", "C"])
    for (let index = 0; index < 3; index++) delayed.push(await delay(owner));
  clock.now += 2 * SECOND;
  expect(await refuse(start("D"))).toBe("accepted");
  expect(await refuse(start("A"))).toBe("accepted");
  expect(await refuse(delay("A"))).toEqual(["RATE_LIMITED", 60]);
  expect(await refuse(check("A", true))).toEqual(["RATE_LIMITED", 60]);
  await check("A");
  expect(await refuse(delay("D"))).toBe("accepted");
  await store.cancel(delayed[0] ?? "", "A");
  clock.now += 2 * SECOND;
  expect(await refuse(delay("A"))).toBe("accepted");
  expect(await refuse(delay("A"))).toEqual(["RATE_LIMITED", 60]);
});

test("starts for later at the same moment are no more than their owner may have", async () => {
  const { delay } = open({ perOwner: 5 });
  const answers = await Promise.all(Array.from({ length: 20 }, () => refuse(delay("A"))));
  expect(answers.filter((answer) => !Array.isArray(answer))).toHaveLength(5);
});
