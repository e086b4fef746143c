import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase } from "../../testing/test-database.ts";
import type { TestDatabase } from "../../testing/test-database.ts";
import { createTokenStore } from "./personal-access-tokens.ts";
import { createSessionStore } from "./sessions.ts";
import { createUserStore } from "./users.ts";

let home: TestDatabase;

beforeAll(async () => {
  home = await createTestDatabase();
});
afterAll(() => home.close());

/** A user with a token and a session; `use` answers whose they are. */
async function createUser() {
  const id = randomUUID();
  const tokenHash = randomUUID();
  const name = "Ada";
  await createUserStore(home.database).create({
    id,
    email: `${id}@example.org`,
    name,
    passwordHash: "x",
    isOperator: false,
    organisation: { id: randomUUID(), slug: id },
  });
  const tokens = createTokenStore(home.database);
  const token = { id: randomUUID(), userId: id, name, tokenHash, scopes: ["read"], parentId: null };
  await tokens.create({ ...token, expiresAt: Date.now() + 60_000 });
  const sessions = createSessionStore(home.database);
  const session = { id: randomUUID(), userId: id, tokenHash, device: "", ip: "", passwordHash: "x" };
  expect(await sessions.create(session)).toBe(true);
  return {
    id,
    use: async () => [(await tokens.use(tokenHash))?.userId, (await sessions.use(tokenHash))?.userId],
  };
}

test.each([
  ["of a disabled user", "update platform_user set disabled_at = now() where id = $1", "both"],
  [
    "that expired",
    "update personal_access_token set expires_at = now() - interval '1 second' where user_id = $1",
    "token",
  ],
  ["that was revoked", "update personal_access_token set revoked_at = now() where user_id = $1", "token"],
  [
    "that expired",
    "update session set expires_at = now() - interval '1 second' where user_id = $1",
    "session",
  ],
  ["that was revoked", "update session set revoked_at = now() where user_id = $1", "session"],
])("what is %s belongs to nobody: %s (%s)", async (_what, change, concerned) => {
  const { id, use } = await createUser();
  expect(await use()).toEqual([id, id]);
  await home.database.query({ text: change, values: [id] });
  expect(await use()).toEqual([
    concerned === "session" ? id : undefined,
    concerned === "token" ? id : undefined,
  ]);
});
