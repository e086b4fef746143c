import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRateBucketStore } from "../store/rate-buckets.ts";
import type { RateAllowance, RateBucketStore } from "../store/rate-buckets.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { createRateReserve } from "./rate-reserve.ts";

let home: TestDatabase;

beforeAll(async () => {
  home = await createTestDatabase();
});
afterAll(() => home.close());

/** A gateway whose time stands still until it is moved; counts what it asks the database. */
function createGateway() {
  const store = createRateBucketStore(home.database);
  const clock = { ms: 1_000_000, queries: 0 };
  const counted: RateBucketStore = {
    read: store.read,
    withdraw: async (allowance, withdrawal) => {
      const state = await store.withdraw(allowance, withdrawal);
      clock.queries += 1;
      return state;
    },
  };
  const reserve = createRateReserve({ store: counted, now: () => clock.ms, draw: () => 0 });
  return { ...reserve, clock };
}

function createAllowance(burst: number, perSecond: number): RateAllowance {
  return { subject: `application:${randomUUID()}`, burst, perSecond };
}

async function countStarted(
  gateway: ReturnType<typeof createGateway>,
  allowance: RateAllowance,
  tries: number,
) {
  let started = 0;
  for (let index = 0; index < tries; index++)
    if ((await gateway.take(allowance)).refusedSeconds === 0) started += 1;
  return started;
}

test("starts of several gateways are counted together, but for one of each", async () => {
  const [first, second] = [createGateway(), createGateway()];
  const allowance = createAllowance(40, 0.001);
  const started = (await countStarted(first, allowance, 30)) + (await countStarted(second, allowance, 30));
  expect(started).toBeGreaterThanOrEqual(40);
  expect(started).toBeLessThanOrEqual(42);
  expect(await countStarted(first, allowance, 5)).toBe(0);
});

test("starts share reservations, and refused ones ask nothing of the database", async () => {
  const gateway = createGateway();
  const allowance = createAllowance(400, 200);
  expect(await countStarted(gateway, allowance, 300)).toBe(300);
  expect(gateway.clock.queries).toBeLessThanOrEqual(16);
  await countStarted(gateway, { ...allowance, perSecond: 0.001 }, 1_000);
  const asked = gateway.clock.queries;
  expect(await countStarted(gateway, { ...allowance, perSecond: 0.001 }, 1_000)).toBe(0);
  expect(gateway.clock.queries).toBe(asked);
});

test("a start after a second of quiet does not wait for the database, and costs one token in the long run", async () => {
  const gateway = createGateway();
  const allowance = createAllowance(10, 0.001);
  for (let index = 0; index < 10; index++) {
    expect(gateway.take(allowance)).toMatchObject({ refusedSeconds: 0 });
    // The reservation that it began.
    await expect.poll(() => gateway.clock.queries).toBe(index + 1);
    gateway.clock.ms += 1_500;
  }
  expect(await readLevel(allowance)).toBeLessThan(1);
  expect(await countStarted(createGateway(), allowance, 5)).toBeLessThanOrEqual(1);
});

test("no start is told that more is left than the limit has, also where a part of the last reservation was", async () => {
  const gateway = createGateway();
  const allowance = createAllowance(400, 200);
  for (let tries = 1; tries <= 2; tries++) {
    expect(gateway.take(allowance)).toEqual({ refusedSeconds: 0, left: 399, fullSeconds: 1 });
    await expect.poll(() => gateway.clock.queries).toBe(tries);
    gateway.clock.ms += 5_000;
  }
});

async function readLevel({ subject }: RateAllowance): Promise<number> {
  const rows = await home.database.query<{ level: number }>({
    text: "select level from start_bucket where subject = $1",
    values: [subject],
  });
  return rows[0]?.level ?? Infinity;
}

test("starts that come at once wait for one reservation, which is large enough for all of them", async () => {
  const gateway = createGateway();
  const allowance = createAllowance(100, 1);
  const standings = await Promise.all(Array.from({ length: 60 }, async () => await gateway.take(allowance)));
  expect(standings.filter(({ refusedSeconds }) => refusedSeconds === 0)).toHaveLength(60);
  expect(gateway.clock.queries).toBeLessThanOrEqual(3);
});

test("whoever is refused may start again after the seconds that the refusal names", async () => {
  const gateway = createGateway();
  const allowance = createAllowance(2, 0.005);
  const since = performance.now();
  await countStarted(gateway, allowance, 3);
  const refused = await gateway.take(allowance);
  expect(refused.left).toBe(0);
  // Less by what has passed.
  expect(refused.refusedSeconds).toBeGreaterThanOrEqual(Math.floor(200 - (performance.now() - since) / 1000));
  expect(refused.refusedSeconds).toBeLessThanOrEqual(200);
  gateway.clock.ms += refused.refusedSeconds * 1_000;
  await home.database.query({
    text: "update start_bucket set at = at - make_interval(secs => $2) where subject = $1",
    values: [allowance.subject, refused.refusedSeconds],
  });
  expect(await countStarted(gateway, allowance, 3)).toBe(1);
});

test("a start that was let through without the database is paid by a later one when the database was away", async () => {
  const store = createRateBucketStore(home.database);
  const fate: { isAway: boolean } = { isAway: true };
  const reserve = createRateReserve({
    store: {
      read: store.read,
      withdraw: async (allowance, withdrawal) => {
        if (fate.isAway) throw new Error("The database is away.");
        return await store.withdraw(allowance, withdrawal);
      },
    },
  });
  const allowance = createAllowance(10, 0.001);
  expect(await reserve.take(allowance)).toMatchObject({ refusedSeconds: 0 });
  await expect(async () => await reserve.take(allowance)).rejects.toThrow("The database is away.");
  fate.isAway = false;
  await reserve.take(allowance);
  // One start is owed; the second and what is reserved with it come on top.
  expect(await readLevel(allowance)).toBeLessThanOrEqual(8);
});

test("a look says what the next request would be told, and takes nothing", async () => {
  const gateway = createGateway();
  const allowance = createAllowance(4, 0.001);
  const other = createGateway();
  await countStarted(gateway, allowance, 1);
  for (let index = 0; index < 20; index++)
    expect(await gateway.peek(allowance)).toMatchObject({ refusedSeconds: 0, left: 3 });
  expect(await countStarted(gateway, allowance, 10)).toBe(3);
  expect(await gateway.peek(allowance)).toMatchObject({ left: 0 });
  expect((await gateway.peek(allowance)).refusedSeconds).toBeGreaterThan(0);
  // Which has taken of the bucket before, and has nothing of it.
  await countStarted(other, allowance, 1);
  expect((await other.peek(allowance)).refusedSeconds).toBeGreaterThan(0);
});
