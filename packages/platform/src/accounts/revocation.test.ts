import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { SECOND } from "@platform/engine/base/time";
import type { Database } from "../postgres/database.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { createIdentity } from "./identity.ts";
import type { Identity } from "./identity.ts";

let home: TestDatabase;
let here: Identity;
let userId: string;

beforeAll(async () => {
  home = await createTestDatabase();
  here = createIdentity({ database: home.database });
});
afterAll(() => home.close());
beforeEach(async () => {
  const email = `${randomUUID()}@example.org`;
  ({ userId } = await here.createUser({ email, name: "Ada", password: "a long password" }));
});

/** The identity of another process, whose clocks the test sets, and whose statements it counts. */
function openElsewhere() {
  const database = home.connect();
  const clock = { now: Date.now(), elapsed: 0, statements: 0 };
  const counting: Database = {
    ...database,
    query: (statement) => {
      clock.statements += 1;
      return database.query(statement);
    },
  };
  const identity = createIdentity({
    database: counting,
    now: () => clock.now,
    elapsed: () => clock.elapsed,
  });
  return { clock, identity };
}

/** Has it watch; resolves when it hears, and what it remembered before is forgotten. `probe` costs a statement when nothing is remembered. */
async function watch({ clock, identity }: ReturnType<typeof openElsewhere>, probe: () => Promise<unknown>) {
  await probe();
  const before = clock.statements;
  const unwatch = identity.watch();
  await waitUntil(async () => {
    await probe();
    return clock.statements > before;
  });
  return unwatch;
}

async function signInElsewhere(): Promise<string> {
  const cookie = await here.createSession(userId, { userAgent: "test", ip: "192.0.2.1" });
  if (cookie === null) throw new Error("There is no session.");
  return cookie;
}

test("a token and a membership that are not remembered cost one statement each, and remembered ones none", async () => {
  const { token } = await here.createPersonalAccessToken(userId, { name: "busy" });
  const { clock, identity } = openElsewhere();
  for (let use = 0; use < 20; use++) {
    expect(await identity.verifyToken(token)).toMatchObject({ userId, scopes: ["read"] });
    expect(await identity.findMembership(userId)).toMatchObject({ role: "owner" });
  }
  expect(clock.statements).toBe(2);
});

test("a session that is not remembered costs one statement, and a remembered one none", async () => {
  const cookie = await signInElsewhere();
  const { clock, identity } = openElsewhere();
  for (let use = 0; use < 20; use++) expect(await identity.verifySession(cookie)).toMatchObject({ userId });
  expect(clock.statements).toBe(1);
});

test("the last use is noted to the minute: not at each check", async () => {
  const { token, id } = await here.createPersonalAccessToken(userId, { name: "busy" });
  const read = async () => {
    const [row] = await home.database.query<{ writer: string; used: number }>({
      text: "select xmin::text as writer, extract(epoch from now() - last_used_at)::float8 as used from personal_access_token where id = $1",
      values: [id],
    });
    return row;
  };
  const { clock, identity } = openElsewhere();
  await identity.verifyToken(token);
  const first = await read();
  expect(first?.used).toBeLessThan(60);
  clock.elapsed += 6 * SECOND;
  await identity.verifyToken(token);
  expect(clock.statements).toBe(2);
  expect((await read())?.writer).toBe(first?.writer);
  await home.database.query({
    text: "update personal_access_token set last_used_at = now() - interval '61 seconds' where id = $1",
    values: [id],
  });
  clock.elapsed += 6 * SECOND;
  await identity.verifyToken(token);
  expect((await read())?.used).toBeLessThan(60);
});

test("what is revoked is refused elsewhere at once by the notification, whatever the clock there says", async () => {
  const { token, id } = await here.createPersonalAccessToken(userId, { name: "lost" });
  const cookie = await signInElsewhere();
  const elsewhere = openElsewhere();
  const { identity } = elsewhere;
  const unwatch = await watch(elsewhere, () => identity.verifyToken(token));
  expect(await identity.verifyToken(token)).not.toBeNull();
  expect(await identity.verifySession(cookie)).not.toBeNull();
  await here.revokePersonalAccessToken(userId, id);
  await waitUntil(async () => (await identity.verifyToken(token)) === null);
  const session = await identity.verifySession(cookie);
  await here.revokeSession(userId, session?.sessionId ?? "");
  await waitUntil(async () => (await identity.verifySession(cookie)) === null);
  unwatch();
});

test("without the notification it is refused five seconds later, though the time of day was set back", async () => {
  const { token, id } = await here.createPersonalAccessToken(userId, { name: "lost" });
  const cookie = await signInElsewhere();
  const { clock, identity } = openElsewhere();
  expect(await identity.verifyToken(token)).not.toBeNull();
  const session = await identity.verifySession(cookie);
  await here.revokePersonalAccessToken(userId, id);
  await here.revokeSession(userId, session?.sessionId ?? "");
  clock.now -= 5 * SECOND;
  clock.elapsed += 5 * SECOND;
  expect(await identity.verifyToken(token)).toBeNull();
  expect(await identity.verifySession(cookie)).toBeNull();
});

test("a membership that was just made is seen elsewhere at once, though its absence was remembered", async () => {
  const friend = await here.createUser({
    email: `${randomUUID()}@example.org`,
    name: "Bob",
    password: "a long password",
  });
  const elsewhere = openElsewhere();
  const { identity } = elsewhere;
  const unwatch = await watch(elsewhere, () => identity.findMembership(userId, friend.organisationId));
  expect(await identity.findMembership(userId, friend.organisationId)).toBeNull();
  await here.addMember(friend.organisationId, userId, "viewer");
  await waitUntil(async () => (await identity.findMembership(userId, friend.organisationId)) !== null);
  unwatch();
});

test("a token that ends while it is remembered is refused from that moment on", async () => {
  const { clock, identity } = openElsewhere();
  const parent = { id: (await here.createPersonalAccessToken(userId, { name: "parent" })).id };
  const expiresAt = clock.now + 2 * SECOND;
  const { token } = await here.createPersonalAccessToken(userId, {
    name: "short",
    parent: { ...parent, expiresAt },
  });
  expect(await identity.verifyToken(token)).toMatchObject({ userId });
  clock.now = expiresAt;
  expect(await identity.verifyToken(token)).toBeNull();
  expect(clock.statements).toBe(1);
});

test("nobody is a member of an organisation that was deleted, and no list shows it", async () => {
  const friend = await here.createUser({
    email: `${randomUUID()}@example.org`,
    name: "Bob",
    password: "a long password",
  });
  await here.addMember(friend.organisationId, userId, "owner");
  await home.database.query({
    text: "update organisation set deleted_at = now() where id = $1",
    values: [friend.organisationId],
  });
  expect(await here.findMembership(userId, friend.organisationId)).toBeNull();
  expect(await here.findMembership(friend.userId)).toBeNull();
  expect(await here.listOrganisations(userId, { limit: 10, offset: 0 })).toMatchObject([
    { isPersonal: true },
  ]);
});

test("nobody lists or ends the tokens and sessions of another user", async () => {
  const { id } = await here.createPersonalAccessToken(userId, { name: "mine" });
  const cookie = await signInElsewhere();
  const session = await here.verifySession(cookie);
  const page = { limit: 10, offset: 0 };
  const eve = await here.createUser({
    email: `${randomUUID()}@example.org`,
    name: "Eve",
    password: "a long password",
  });
  expect(await here.listPersonalAccessTokens(eve.userId, page)).toEqual([]);
  expect(await here.listSessions(eve.userId, page)).toEqual([]);
  expect(await here.revokePersonalAccessToken(eve.userId, id)).toBe(false);
  expect(await here.revokeSession(eve.userId, session?.sessionId ?? "")).toBe(false);
  expect(await here.listPersonalAccessTokens(userId, page)).toMatchObject([{ id }]);
  expect(await here.listSessions(userId, page)).toHaveLength(1);
});
