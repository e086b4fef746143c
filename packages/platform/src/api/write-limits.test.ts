import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { send } from "../testing/browser.ts";
import { createTestMember, createTestService, createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

/** At once are ten times as many, and of an organisation four times as many as of a user. */
const PER_SECOND = 0.3;
const USER = 3;
const ORGANISATION = 12;

let home: TestDatabase;
let here: TestInstance;
/** Another process. */
let there: TestInstance;
let user: TestUser;

beforeAll(async () => {
  home = await createTestDatabase();
  const limits = { writesPerSecond: PER_SECOND, startsPerSecond: PER_SECOND };
  here = await createTestInstance({ database: home.connect(), ...limits });
  there = await createTestInstance({ database: home.connect(), ...limits });
});
afterAll(async () => {
  await Promise.all([here?.close(), there?.close()]);
  await home?.close();
});
beforeEach(async () => {
  user = await createTestUser(here);
});

const headersOf = ({ token }: TestUser, organisationId = user.organisationId) => ({
  authorization: `Bearer ${token}`,
  "x-organizationid": organisationId,
});

const rename = (instance: TestInstance, who = user, organisationId = user.organisationId) =>
  send(instance, "PUT", "/me", { headers: headersOf(who, organisationId), payload: { name: "Ada" } });

type Answer = Awaited<ReturnType<typeof send>>;

/** Sends them one after the other, in turns to both processes. */
async function sendMany(
  count: number,
  start: (instance: TestInstance, index: number) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (let index = 0; index < count; index++)
    answers.push(await start(index % 2 === 0 ? here : there, index));
  return answers;
}

const countAllowed = (answers: readonly Answer[]) =>
  answers.filter(({ statusCode }) => statusCode !== 429).length;

/** The last one: what a slow machine refills may have been used since. */
const findRefused = (answers: readonly Answer[]) => answers.findLast(({ statusCode }) => statusCode === 429);

/** Of all that is allowed at once, a tenth comes back each second. */
const countRefilled = (atOnce: number, since: number) =>
  Math.floor(((performance.now() - since) / 10_000) * atOnce);

test("changes of a user are counted over all processes, and nothing that is read", async () => {
  const since = performance.now();
  const answers = await sendMany(USER * 3, (instance) => rename(instance));
  // Each process lets one go ahead while it asks for more.
  expect(countAllowed(answers)).toBeGreaterThanOrEqual(USER);
  expect(countAllowed(answers)).toBeLessThanOrEqual(USER + 2 + countRefilled(USER, since));
  const refused = findRefused(answers);
  expect(refused?.json()).toMatchObject({ code: "RATE_LIMITED" });
  expect(Number(refused?.headers["retry-after"])).toBeGreaterThan(0);
  expect(refused?.headers["ratelimit"]).toMatch(/^"user";r=0;t=\d+$/u);
  const reads = await sendMany(USER * 5, (instance) =>
    send(instance, "GET", "/me", { headers: headersOf(user) }),
  );
  expect(countAllowed(reads)).toBe(USER * 5);
  expect(reads.at(-1)?.headers["ratelimit"]).toBeUndefined();
  const other = await createTestUser(here);
  expect((await rename(here, other, other.organisationId)).statusCode).toBe(200);
});

test("an answer says what the limits are, and what is left of them", async () => {
  const { headers } = await rename(here);
  expect(headers["ratelimit-policy"]).toBe('"user";q=3;w=10, "organisation";q=12;w=10');
  expect(headers["ratelimit"]).toMatch(/^"user";r=2;t=\d+, "organisation";r=11;t=\d+$/u);
});

test("changes in an organisation are counted for all of its members together", async () => {
  const members = [user];
  while (members.length < 8) members.push(await createTestMember(here, user.organisationId, "maintainer"));
  const since = performance.now();
  const answers = await sendMany(USER * members.length, (instance, index) =>
    rename(instance, members[Math.floor(index / USER)]),
  );
  expect(countAllowed(answers)).toBeGreaterThanOrEqual(ORGANISATION);
  expect(countAllowed(answers)).toBeLessThanOrEqual(ORGANISATION + 2 + countRefilled(ORGANISATION, since));
  expect(findRefused(answers)?.json()).toMatchObject({
    detail: expect.stringContaining("in this organisation"),
  });
  // Elsewhere they go on.
  const last = members.at(-1) ?? user;
  await expect.poll(async () => (await rename(here, last, last.organisationId)).statusCode).toBe(200);
});

test("jobs are counted as starts of their organisation, apart from its changes", async () => {
  const { serviceKey } = await createTestService(here, user);
  const since = performance.now();
  const answers = await sendMany(USER * 3, (instance) =>
    send(instance, "POST", `/jobs?serviceKey=${serviceKey}`, {
      headers: { ...headersOf(user), "content-type": "application/json" },
      payload: "{}",
    }),
  );
  expect(answers[0]?.statusCode).toBe(201);
  expect(countAllowed(answers)).toBeLessThanOrEqual(USER + 2 + countRefilled(USER, since));
  expect((await rename(here)).statusCode).toBe(200);
});
