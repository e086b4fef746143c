import { expect, test } from "vitest";
import { SECOND } from "../base/time.ts";
import type { Owner } from "../store/owner.ts";
import {
  FAILED,
  SHORT_LEASE,
  SUCCEEDED,
  createExecution,
  createOwner,
  createUuidAt,
  finishAll,
  read,
  request,
} from "./execution-fixtures.ts";
import type { LimitedQueue } from "./limited-queue.ts";
import { waitUntil } from "./wait-until.ts";

type UseQueue = () => LimitedQueue;

const NONE = { running: 0, places: 0, held: 0 };
const BUSY = { status: "FAILED", code: "BUSY", detail: "The device is busy." } as const;

/** Runs all that is there, one place after the other; the owners in the order in which they got one. */
async function runAll(
  queue: LimitedQueue,
  limitKey: string,
  owners: Readonly<Record<string, Owner>>,
): Promise<string> {
  const names = new Map(Object.entries(owners).map(([name, { id }]) => [id, name]));
  let served = "";
  for (;;) {
    await queue.release();
    const [claim] = await queue.claim(1);
    if (claim === undefined) return served;
    served += names.get(claim.owner.id) ?? "?";
    expect((await queue.count(limitKey)).running).toBe(1);
    await finishAll(queue.store, [claim]);
  }
}

/** The promises about executions of services with limits; part of the conformance suite of stores. */
export function describeLimited(use: UseQueue): void {
  describePlaces(use);
  describeReturnedPlaces(use);
  describeTurns(use);
  describeChanges(use);
  describeWhatIsSaid(use);
}

function describePlaces(use: UseQueue): void {
  test("as many executions of a service get a place as its policy says, and the next when one has ended, in whatever way", async () => {
    const queue = use();
    await queue.empty();
    const key = await queue.createService({ service: 3 });
    const owner = createOwner();
    const ids = await queue.startMany(key, owner, 6);
    await queue.startMany(key, createOwner(), 2);
    expect(await queue.claim()).toEqual([]);
    expect(await queue.count(key)).toEqual({ running: 0, places: 0, held: 8 });
    expect(await queue.release()).toBe(3);
    const [first, second, third] = await queue.claim();
    if (first === undefined || second === undefined || third === undefined)
      throw new Error("There are not three.");
    expect(await queue.release()).toBe(0);
    expect(await queue.count(key)).toEqual({ running: 3, places: 3, held: 5 });
    await queue.store.finish(first, SUCCEEDED);
    await queue.store.finish(second, FAILED);
    expect(await queue.release()).toBe(2);
    // One that waits in the queue has a place as well; one that is held has none.
    await queue.store.giveBack(third, 0);
    expect(await queue.release()).toBe(0);
    await queue.store.cancel(third.id, third.owner.id);
    expect(await queue.release()).toBe(1);
    await queue.store.cancel(ids.at(-1) ?? "", owner.id);
    expect(await queue.release()).toBe(0);
    expect((await queue.count(key)).places).toBe(3);
    await queue.empty();
    expect(await queue.count(key)).toEqual(NONE);
  });

  test("an owner has as many places as the policy says, and no more than the service has", async () => {
    const queue = use();
    await queue.empty();
    const key = await queue.createService({ service: 5, subscription: 2 });
    const owners = [createOwner(), createOwner(), createOwner()];
    for (const owner of owners) await queue.startMany(key, owner, 4);
    expect(await queue.release()).toBe(5);
    const claims = await queue.claim();
    const counts = owners.map(({ id }) => claims.filter(({ owner }) => owner.id === id).length);
    expect(counts.sort((a, b) => a - b)).toEqual([1, 2, 2]);
    await queue.empty();
  });

  test("a limit of owners alone limits nothing else", async () => {
    const queue = use();
    await queue.empty();
    const key = await queue.createService({ subscription: 1 });
    for (let index = 0; index < 30; index++) await queue.startMany(key, createOwner(), 2);
    expect(await queue.release()).toBe(30);
    await finishAll(queue.store, await queue.claim());
    expect(await queue.release()).toBe(30);
    await queue.empty();
  });

  test("services do not share places, and what has no limits is not held", async () => {
    const queue = use();
    await queue.empty();
    const [key, another] = [
      await queue.createService({ service: 1 }),
      await queue.createService({ service: 2 }),
    ];
    const owner = createOwner();
    await queue.startMany(key, owner, 2);
    await queue.startMany(another, owner, 3);
    expect(await queue.release()).toBe(3);
    expect((await queue.count(key)).places).toBe(1);
    expect((await queue.count(another)).places).toBe(2);
    await queue.empty();
  });
}

function describeReturnedPlaces(use: UseQueue): void {
  test("a lost worker's place is given back when its lease is over", async () => {
    const queue = use();
    await queue.empty();
    const key = await queue.createService({ service: 1 });
    await queue.startMany(key, createOwner(), 2);
    await queue.release();
    const { claims } = await queue.store.claim(request({ leaseSeconds: SHORT_LEASE }));
    expect(claims).toHaveLength(1);
    await waitUntil(async () => (await queue.store.sweep()) > 0);
    expect(await queue.release()).toBe(1);
    await queue.empty();
  });

  test("between two attempts an execution keeps its place", async () => {
    const queue = use();
    await queue.empty();
    const key = await queue.createService({ service: 1 });
    const owner = createOwner();
    const retried = await queue.start(key, owner, { retries: { onError: { max: 1, backoffSeconds: 0 } } });
    await queue.start(key, owner);
    await queue.release();
    const [claim] = await queue.claim();
    if (claim === undefined) throw new Error("There is none.");
    await queue.store.retry(claim, BUSY, 0);
    expect(await queue.release()).toBe(0);
    expect((await queue.claim()).map(({ id }) => id)).toEqual([retried.id]);
    await queue.store.cancel(retried.id, owner.id);
    await waitUntil(async () => {
      const { attempt, workerId } = { ...claim, attempt: claim.attempt + 1 };
      return await queue.store.finish({ id: retried.id, attempt, workerId }, FAILED);
    });
    expect(await queue.release()).toBe(1);
    await queue.empty();
  });

  test("one that is to begin later waits for its time, and then for a place, before those that were started after it", async () => {
    const queue = use();
    await queue.empty();
    const key = await queue.createService({ service: 1 });
    const owner = createOwner();
    await queue.start(key, owner);
    const later = await queue.start(key, owner, { startAt: Date.now() + 5 * SECOND });
    await queue.start(key, owner);
    expect(await queue.release()).toBe(1);
    const claims = await queue.claim();
    expect(claims).toHaveLength(1);
    await waitUntil(async () => {
      await queue.release();
      const { live } = await read(queue.store, later);
      return live !== undefined && "held" in live && live.held === "LIMIT";
    });
    expect(await queue.count(key)).toEqual({ running: 1, places: 1, held: 2 });
    await finishAll(queue.store, claims);
    expect(await queue.release()).toBe(1);
    expect((await queue.claim()).map(({ id }) => id)).toEqual([later.id]);
    await queue.empty();
  });
}

function describeTurns(use: UseQueue): void {
  test("owners take turns for the places, and the next one is of who has the fewest", async () => {
    const queue = use();
    await queue.empty();
    const key = await queue.createService({ service: 1 });
    const owners = { A: createOwner(), B: createOwner(), C: createOwner() };
    await queue.startMany(key, owners.A, 3);
    await queue.startMany(key, owners.B, 1);
    await queue.startMany(key, owners.C, 2);
    const served = await runAll(queue, key, owners);
    // Each in every turn while it has any.
    expect(new Set(served.slice(0, 3))).toEqual(new Set("ABC"));
    expect(new Set(served.slice(3, 5))).toEqual(new Set("AC"));
    expect(served.slice(5)).toBe("A");
    await queue.setLimits(key, { service: 2 });
    await queue.startMany(key, owners.A, 3);
    await queue.startMany(key, owners.B, 2);
    await queue.release();
    const claims = await queue.claim();
    expect(claims.map(({ owner }) => owner.id).sort()).toEqual([owners.A.id, owners.B.id].sort());
    await finishAll(
      queue.store,
      claims.filter(({ owner }) => owner.id === owners.B.id),
    );
    await queue.release();
    expect((await queue.claim()).map(({ owner }) => owner.id)).toEqual([owners.B.id]);
    await queue.empty();
  });

  test("a backlog of one owner, and owners who come one after another, keep nobody waiting for more than a turn of each", async () => {
    const queue = use();
    await queue.empty();
    const key = await queue.createService({ service: 1 });
    // Each is newer than the ones before, as subscriptions are.
    let made = 0;
    const createNewest = (digit: string) =>
      createOwner(`${createUuidAt(Date.now() + (made += 1)).slice(0, -1)}${digit}`);
    const [greedy, modest] = [createNewest("5"), createNewest("b")];
    await queue.startMany(key, greedy, 20);
    await queue.startMany(key, modest, 3);
    const served: string[] = [];
    for (const digit of "84c2a6e19d37") {
      await queue.release();
      const claims = await queue.claim();
      served.push(...claims.map(({ owner }) => owner.id));
      await queue.startMany(key, createNewest(digit), 1);
      await finishAll(queue.store, claims);
    }
    expect(served).toHaveLength(12);
    const findTurns = (id: string) => served.flatMap((ownerId, turn) => (ownerId === id ? [turn] : []));
    for (const { id } of [greedy, modest]) {
      const turns = findTurns(id);
      expect(turns.length).toBeGreaterThanOrEqual(2);
      expect(turns[0]).toBeLessThan(4);
    }
    await queue.setLimits(key, null);
    await queue.empty();
  });
}

function describeChanges(use: UseQueue): void {
  test("limits are those of the policy of the moment: higher ones give places at once, lower ones wait for ends, none hold nothing", async () => {
    const queue = use();
    await queue.empty();
    const key = await queue.createService({ service: 1 });
    await queue.startMany(key, createOwner(), 9);
    expect(await queue.release()).toBe(1);
    await queue.setLimits(key, { service: 4 });
    expect(await queue.release()).toBe(3);
    await queue.setLimits(key, { service: 2 });
    const claims = await queue.claim();
    expect(claims).toHaveLength(4);
    await finishAll(queue.store, claims.slice(0, 2));
    expect(await queue.release()).toBe(0);
    await finishAll(queue.store, claims.slice(2, 3));
    expect(await queue.release()).toBe(1);
    await queue.setLimits(key, null);
    expect(await queue.release()).toBe(4);
    await queue.empty();
  });

  test("rounds go on until all places of a high limit are given", async () => {
    const queue = use();
    await queue.empty();
    const key = await queue.createService({ service: 300 });
    const owners = Array.from({ length: 5 }, () => createOwner());
    for (const owner of owners) await Promise.all(Array.from({ length: 61 }, () => queue.start(key, owner)));
    const first = await queue.store.releaseDue();
    // Who releases is told to go on at once.
    expect(first).toMatchObject({ released: 256, nextMs: 0, waitsForPlace: true });
    expect(await queue.release()).toBe(44);
    expect(await queue.store.releaseDue()).toMatchObject({ released: 0, waitsForPlace: true });
    expect(await queue.count(key)).toEqual({ running: 0, places: 300, held: 5 });
    await queue.empty();
  });
}

function describeWhatIsSaid(use: UseQueue): void {
  test("the record of one that is held by a limit says so, whoever reads it", async () => {
    const queue = use();
    await queue.empty();
    const key = await queue.createService({ service: 1 });
    const types: string[] = [];
    const stop = queue.store.subscribe(({ type }) => void types.push(type));
    const execution = await queue.start(key, createOwner());
    const live = { held: "LIMIT", startAt: null, limitKey: key };
    expect(await read(queue.store, execution)).toMatchObject({ status: "PENDING", live });
    await waitUntil(async () => types.includes("held"));
    expect(types).not.toContain("pending");
    await queue.release();
    expect(types).toContain("pending");
    expect((await read(queue.store, execution)).live).toMatchObject({ isPausing: false });
    stop();
    await queue.empty();
  });

  test("a start is foreseen with the places of its service as its owner finds them, though nothing is held", async () => {
    const queue = use();
    await queue.empty();
    const key = await queue.createService({ service: 5, subscription: 2 });
    const [owner, other] = [createOwner(), createOwner()];
    const foresee = async (by: Owner, limitKey = key) =>
      (await queue.store.foresee(createExecution({ owner: by, limitKey }))).places;
    const limits = { ofService: 5, ofOwner: 2 };
    expect(await foresee(owner)).toEqual({ ...limits, taken: 0, takenByOwner: 0, held: 0 });
    await queue.startMany(key, owner, 2);
    await queue.startMany(key, other, 1);
    await queue.release();
    // Those that run have a place as those in the queue have.
    await queue.claim(1);
    expect(await queue.count(key)).toEqual({ running: 1, places: 3, held: 0 });
    expect(await foresee(owner)).toEqual({ ...limits, taken: 3, takenByOwner: 2, held: 0 });
    await queue.startMany(key, owner, 4);
    expect(await foresee(owner)).toEqual({ ...limits, taken: 3, takenByOwner: 2, held: 4 });
    expect(await foresee(other)).toEqual({ ...limits, taken: 3, takenByOwner: 1, held: 0 });
    await queue.setLimits(key, { subscription: 7 });
    expect(await foresee(other)).toMatchObject({ ofService: null, ofOwner: 7 });
    expect(await foresee(owner, await queue.createService(null))).toBeUndefined();
    await queue.empty();
  });

  test("a survey says of each owner who waits which places there are and who is first", async () => {
    const queue = use();
    await queue.empty();
    const key = await queue.createService({ service: 3, subscription: 2 });
    const [owner, other] = [createOwner(), createOwner()];
    const ids = await queue.startMany(key, owner, 30);
    await queue.startMany(key, other, 1);
    await queue.release();
    await queue.startMany(key, other, 3);
    const lines = (await queue.store.surveyLimits()).filter(({ limitKey }) => limitKey === key);
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
    await queue.setLimits(key, { subscription: 40 });
    expect((await queue.store.surveyLimits()).find(({ ownerId }) => ownerId === owner.id)).toMatchObject({
      ofService: null,
      ofOwner: 40,
    });
    await queue.empty();
    expect(await queue.store.surveyLimits()).toEqual([]);
  });
}
