import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase } from "../../testing/test-database.ts";
import type { TestDatabase } from "../../testing/test-database.ts";
import { createAttemptStore } from "./sign-in-attempts.ts";

/** 10, 20 and 35 minutes: nothing takes so long that another minute is asked for. */
const LIMIT = { freeTries: 3, firstWaitSeconds: 600, longestWaitSeconds: 2100 };
const toMinutes = (seconds: number) => Math.ceil(seconds / 60);

let home: TestDatabase;

beforeAll(async () => {
  home = await createTestDatabase();
});
afterAll(() => home.close());

/** Tries of one subject, one after the other; the answers of all, in minutes. */
async function tryTimes(subject: string, count: number): Promise<readonly number[]> {
  const store = createAttemptStore(home.database);
  const waits: number[] = [];
  for (let tries = 0; tries < count; tries++)
    waits.push(toMinutes((await store.take(subject, randomUUID(), LIMIT)).waitSeconds));
  return waits;
}

function setBack(subject: string, interval: string) {
  return home.database.query({
    text: `update sign_in_attempt set tried_at = tried_at - interval '${interval}',
      blocked_until = blocked_until - interval '${interval}' where subject = $1`,
    values: [subject],
  });
}

test("waits grow to the longest, refused tries do not prolong them, and a day of quiet forgets all", async () => {
  const subject = randomUUID();
  expect(await tryTimes(subject, 6)).toEqual([0, 0, 0, 10, 10, 10]);
  for (const wait of [20, 35, 35]) {
    await setBack(subject, "36 minutes");
    expect(await tryTimes(subject, 3)).toEqual([0, wait, wait]);
  }
  await setBack(subject, "25 hours");
  expect(await tryTimes(subject, 4)).toEqual([0, 0, 0, 10]);
});

test("subjects are counted apart, and one can be forgotten", async () => {
  const [first, second] = [randomUUID(), randomUUID()];
  expect(await tryTimes(first, 4)).toEqual([0, 0, 0, 10]);
  expect(await tryTimes(second, 1)).toEqual([0]);
  await createAttemptStore(home.database).forget(first);
  expect(await tryTimes(first, 4)).toEqual([0, 0, 0, 10]);
});

test("a try that is given back lifts the wait that it began, and none that another try began meanwhile", async () => {
  const store = createAttemptStore(home.database);
  const subject = randomUUID();
  await tryTimes(subject, 2);
  const right = randomUUID();
  expect(await store.take(subject, right, LIMIT)).toEqual({ waitSeconds: 0, tries: 3 });
  expect(await tryTimes(subject, 1)).toEqual([10]);
  await store.giveBack(subject, right);
  expect(await tryTimes(subject, 2)).toEqual([0, 10]);

  const other = randomUUID();
  await tryTimes(other, 1);
  expect(await store.take(other, right, LIMIT)).toMatchObject({ waitSeconds: 0 });
  const guess = await tryTimes(other, 1);
  await store.giveBack(other, right);
  expect([...guess, ...(await tryTimes(other, 1))]).toEqual([0, 10]);
});

test("tries at the same time get no more than tries one after the other", async () => {
  const subject = randomUUID();
  const [here, there] = [createAttemptStore(home.database), createAttemptStore(home.connect())];
  const waits = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? here : there).take(subject, randomUUID(), LIMIT),
    ),
  );
  expect(waits.filter(({ waitSeconds }) => waitSeconds === 0)).toHaveLength(3);
});
