import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { createRateBucketStore } from "./rate-buckets.ts";
import type { RateBucketStore } from "./rate-buckets.ts";

let home: TestDatabase;
let store: RateBucketStore;

beforeAll(async () => {
  home = await createTestDatabase();
  store = createRateBucketStore(home.database);
});
afterAll(() => home.close());

/** So slow that nothing is refilled while a test runs. */
function slowly(burst: number) {
  return { subject: `application:${randomUUID()}`, burst, perSecond: 0.001 };
}

function setBack(subject: string, seconds: number) {
  return home.database.query({
    text: "update start_bucket set at = at - make_interval(secs => $2) where subject = $1",
    values: [subject, seconds],
  });
}

test("a bucket gives what it has and no more, is refilled by time, and never holds more than its burst", async () => {
  const allowance = slowly(10);
  expect(await store.withdraw(allowance, { owed: 0, wanted: 6 })).toMatchObject({ granted: 6 });
  expect(await store.withdraw(allowance, { owed: 0, wanted: 6 })).toMatchObject({ granted: 4 });
  expect(await store.withdraw(allowance, { owed: 0, wanted: 6 })).toMatchObject({ granted: 0 });
  await setBack(allowance.subject, 3_001);
  expect(await store.withdraw(allowance, { owed: 0, wanted: 6 })).toMatchObject({ granted: 3 });
  await setBack(allowance.subject, 1_000_000);
  expect(await store.withdraw(allowance, { owed: 0, wanted: 20 })).toMatchObject({ granted: 10 });
});

test("what is owed is taken from an empty bucket, and what is put back comes again, up to the burst", async () => {
  const allowance = slowly(2);
  await store.withdraw(allowance, { owed: 1, wanted: 1 });
  const { granted, level } = await store.withdraw(allowance, { owed: 1, wanted: 1 });
  expect([granted, Math.round(level)]).toEqual([0, -1]);
  expect(await store.withdraw(allowance, { owed: -2, wanted: 5 })).toMatchObject({ granted: 1 });
  expect(await store.withdraw(allowance, { owed: -50, wanted: 5 })).toMatchObject({ granted: 2 });
});

test("a clock that is set back by an hour refills nothing, and the bucket goes on from then", async () => {
  const allowance = slowly(4);
  await store.withdraw(allowance, { owed: 0, wanted: 4 });
  await setBack(allowance.subject, -3_600);
  expect(await store.withdraw(allowance, { owed: 0, wanted: 4 })).toMatchObject({ granted: 0 });
  await setBack(allowance.subject, 1_001);
  expect(await store.withdraw(allowance, { owed: 0, wanted: 4 })).toMatchObject({ granted: 1 });
});

test("many withdrawals at the same time get together what the bucket has", async () => {
  const allowance = slowly(50);
  const states = await Promise.all(
    Array.from({ length: 20 }, () => store.withdraw(allowance, { owed: 0, wanted: 7 })),
  );
  expect(states.reduce((sum, { granted }) => sum + granted, 0)).toBe(50);
});
