import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createAttemptStore } from "../store/accounts/sign-in-attempts.ts";
import { createRateBucketStore } from "../store/rate-buckets.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { createAttempts } from "./attempts.ts";
import type { Attempts } from "./attempts.ts";

let home: TestDatabase;
/** Two processes. */
let both: readonly [Attempts, Attempts];
let email: string;

beforeAll(async () => {
  home = await createTestDatabase();
  const [here, there] = [home.database, home.connect()].map((database) =>
    createAttempts(createAttemptStore(database), createRateBucketStore(database)),
  );
  if (here === undefined || there === undefined) throw new Error("There are two.");
  both = [here, there];
});
afterAll(() => home.close());
beforeEach(async () => {
  email = `${randomUUID()}@example.org`;
  await home.database.query({ text: "delete from start_bucket" });
});

let tries = 0;
const pick = () => both[(tries += 1) % 2 === 0 ? 0 : 1];

/** How many of so many wrong passwords, one after the other at two processes, are let through. */
async function guess(
  count: number,
  ofTry: (index: number) => { email?: string; ip: string; isKnown?: boolean },
) {
  let passed = 0;
  for (let index = 0; index < count; index++)
    passed += await pick()
      .takeGuess({ email, isKnown: false, ...ofTry(index) })
      .then(
        () => 1,
        () => 0,
      );
  return passed;
}

const network = (index: number) => `198.51.${Math.floor(index / 250)}.${index % 250}`;

describe("wrong passwords", () => {
  test("for one address are five from one network, and hold up neither others there nor the address elsewhere", async () => {
    const ip = "203.0.113.1";
    // Those that are refused unseen do not count for the network.
    expect(await guess(120, () => ({ ip }))).toBe(5);
    expect(await guess(1, () => ({ ip, email: "somebody.else@example.org" }))).toBe(1);
    expect(await guess(1, () => ({ ip: "203.0.113.2" }))).toBe(1);
  });

  test("for one address are a hundred from all networks together, and hold up nobody where they have signed in before", async () => {
    expect(await guess(110, (index) => ({ ip: network(index) }))).toBe(100);
    expect(await guess(7, () => ({ ip: network(1), isKnown: true }))).toBe(4);
    expect(await guess(7, () => ({ ip: "203.0.113.3", isKnown: true }))).toBe(5);
  });

  test("for many addresses are a hundred from one network, and hold up nobody who has signed in there before", async () => {
    const ip = "203.0.113.4";
    expect(await guess(110, (index) => ({ ip, email: `u${index}@example.org` }))).toBe(100);
    expect(await guess(1, () => ({ ip, isKnown: true }))).toBe(1);
    const refused = pick().takeGuess({ email, ip, isKnown: false });
    await expect(refused).rejects.toMatchObject({
      code: "RATE_LIMITED",
      headers: { "retry-after": expect.any(String) },
    });
  });

  test("that were right do not count, and forget only the wrong ones before them in that network", async () => {
    expect(await guess(99, (index) => ({ ip: network(index) }))).toBe(99);
    const ip = "203.0.113.5";
    for (let index = 0; index < 3; index++)
      await (await pick().takeGuess({ email, ip, isKnown: false })).wasRight();
    expect(await guess(3, () => ({ ip }))).toBe(1);
  });
});

/** How many of so many invitations of one user go. */
async function inviteTimes(count: number, invitedBy: string = randomUUID(), nameAddress = () => email) {
  let sent = 0;
  for (let index = 0; index < count; index++)
    sent += await pick()
      .takeInvitation(nameAddress(), invitedBy)
      .then(
        () => 1,
        () => 0,
      );
  return sent;
}

describe("invitations by mail to one address", () => {
  test("are five of a user, who keeps no other user from five of their own", async () => {
    expect(await inviteTimes(7)).toBe(5);
    expect(await inviteTimes(7)).toBe(5);
  });

  test("are bounded over all users, but for the first one of each", async () => {
    for (let index = 0; index < 5; index++) expect(await inviteTimes(5)).toBe(5);
    expect(await inviteTimes(5)).toBe(1);
    expect(await inviteTimes(5)).toBe(1);
  });
});

test("invitations by mail of one user are as many as an organisation has open, to whomever; refused ones do not count", async () => {
  const [invitedBy, anybody] = [randomUUID(), () => `${randomUUID()}@example.org`];
  expect(await inviteTimes(50, invitedBy)).toBe(5);
  expect(await inviteTimes(200, invitedBy, anybody)).toBe(195);
  await expect(pick().takeInvitation(anybody(), invitedBy)).rejects.toMatchObject({
    code: "RATE_LIMITED",
    message: expect.stringContaining("of this user"),
  });
  expect(await inviteTimes(1)).toBe(1);
});
