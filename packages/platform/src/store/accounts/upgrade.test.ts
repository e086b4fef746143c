import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createIdentity } from "../../accounts/identity.ts";
import { migrate } from "../../postgres/migrate.ts";
import { migrateTo } from "../../testing/former-schema.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import type { TestDatabase } from "../../testing/test-database.ts";
import { createMemberStore } from "./members.ts";
import { createTokenStore } from "./personal-access-tokens.ts";
import { createUserStore } from "./users.ts";

/** The last schema with the tables of better-auth. */
const FORMER = 14;

/** Written by better-auth 1.7.5, for the password "correct horse battery". */
const FORMER_HASH =
  "743103a4d6773ed250eca5c4f29220df:525d651b8157bc5b12e345371e0a723b696b9a4d9da6127e5cd03cfbd8bd7a6aade780df19049ffca926255394e0f8957c3d5810b8be04414a41c74eb362db16";
/** What it stored for plat_pat_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgHiJkL. */
const TOKEN_HASH = "u6mkkdRDtPDSKxoixlsXCouoHgHp28phZmNfgBssK2s";

const PAGE = { limit: 100, offset: 0 };
const [ADA, BOB] = [randomUUID(), randomUUID()];
const [ADAS, BOBS, LAB] = [randomUUID(), randomUUID(), randomUUID()];
const SERVICE = randomUUID();

let home: TestDatabase;

beforeEach(async () => {
  home = await createTestDatabase({ isEmpty: true });
  await migrateTo(home.database, FORMER);
});
afterEach(() => home.close());

const run = (text: string, ...values: unknown[]) => home.database.query({ text, values });

/** What the former release held, written with the columns of its library. */
async function insertFormerRows(): Promise<void> {
  for (const [id, name, email, days] of [
    [BOB, "Bob", "bob@example.org", 1],
    [ADA, "Ada", "ada@example.org", 9],
  ] as const)
    await run(
      `insert into "user" ("id", "name", "email", "emailVerified", "createdAt")
        values ($1, $2, $3, $1 = $4::uuid, now() - make_interval(days => $5))`,
      id,
      name,
      email,
      BOB,
      days,
    );
  await run(
    `insert into "account" ("accountId", "providerId", "userId", "password", "updatedAt")
      values ('x', 'credential', $1, $2, now()), ('y', 'other', $3, 'no password', now())`,
    ADA,
    FORMER_HASH,
    BOB,
  );
  for (const [id, name, slug] of [
    [ADAS, "Ada", `personal-${ADA}`],
    [BOBS, "Bob", `personal-${BOB}`],
    [LAB, "Lab", "lab"],
  ] as const)
    await run(
      `insert into "organization" ("id", "name", "slug", "createdAt") values ($1, $2, $3, now())`,
      id,
      name,
      slug,
    );
  for (const [organisation, user, role] of [
    [ADAS, ADA, "owner"],
    [BOBS, BOB, "owner"],
    [LAB, ADA, "maintainer"],
    [LAB, BOB, "captain"],
  ] as const)
    await run(
      `insert into "member" ("organizationId", "userId", "role", "createdAt") values ($1, $2, $3, now())`,
      organisation,
      user,
      role,
    );
  await run("insert into service (key, organisation_id, name) values ($1, $2, 'demo')", SERVICE, LAB);
  await run(
    `insert into "session" ("expiresAt", "token", "updatedAt", "userId") values (now() + interval '1 day', 't', now(), $1)`,
    ADA,
  );
}

interface FormerKey {
  readonly user: string;
  readonly name: string | null;
  readonly hash: string;
  readonly permissions: string | null;
  readonly isEnabled?: boolean;
}

let created = 0;
/** Each a second younger than the one before. */
const insertKey = ({ user, name, hash, permissions, isEnabled = true }: FormerKey) =>
  run(
    `insert into "apikey" ("configId", "name", "referenceId", "key", "permissions", "enabled", "lastRequest", "expiresAt",
        "createdAt", "updatedAt")
      values ('default', $1, $2, $3, $4, $5, '2026-11-01', now() + interval '9 days',
        now() - interval '1 hour' + make_interval(secs => $6), now())`,
    name,
    user,
    hash,
    permissions,
    isEnabled,
    (created += 1),
  );

test("users keep their passwords, and the first of them is the operator", async () => {
  await insertFormerRows();
  await migrate(home.database);
  const users = createUserStore(home.database);
  expect(await users.find(ADA)).toEqual({
    id: ADA,
    email: "ada@example.org",
    isEmailVerified: false,
    name: "Ada",
    isOperator: true,
  });
  expect(await users.find(BOB)).toMatchObject({ name: "Bob", isOperator: false });
  expect(await users.findSecret("ada@example.org")).toEqual({ userId: ADA, passwordHash: FORMER_HASH });
  expect(await users.findSecret("bob@example.org")).toEqual({ userId: BOB, passwordHash: null });
  const verified = await home.database.query({
    text: "select name from platform_user where email_verified_at is not null",
  });
  expect(verified).toEqual([{ name: "Bob" }]);
});

test("organisations keep members, roles and services; an unknown role becomes the least", async () => {
  await insertFormerRows();
  await migrate(home.database);
  const members = createMemberStore(home.database);
  expect(await members.listOfUser(ADA, PAGE)).toEqual([
    {
      organisationId: ADAS,
      organisationName: "Ada",
      slug: `personal-${ADA}`,
      role: "owner",
      isPersonal: true,
    },
    { organisationId: LAB, organisationName: "Lab", slug: "lab", role: "maintainer", isPersonal: false },
  ]);
  expect(await members.find(BOB, LAB)).toMatchObject({ role: "viewer" });
  expect(await members.find(BOB)).toMatchObject({ organisationId: BOBS });
  expect(await run("select organisation_id as id from service where key = $1", SERVICE)).toEqual([
    { id: LAB },
  ]);
  await expect(run("delete from organisation where id = $1", LAB)).rejects.toThrow(/service_organisation/u);
});

test("tokens go on opening what they opened: `api` is `admin` now, and a disabled one is revoked", async () => {
  await insertFormerRows();
  await insertKey({
    user: ADA,
    name: "both",
    hash: TOKEN_HASH,
    permissions: '{"platform":["api","quantum"]}',
  });
  await insertKey({ user: ADA, name: "sdk", hash: "h2", permissions: '{"platform":["quantum","else"]}' });
  await insertKey({ user: BOB, name: null, hash: "h3", permissions: null });
  await insertKey({
    user: BOB,
    name: "off",
    hash: "h4",
    permissions: '{"platform":["api"]}',
    isEnabled: false,
  });
  // Left behind by a first start that was killed.
  await insertKey({ user: randomUUID(), name: "bootstrap", hash: "h5", permissions: '{"platform":["api"]}' });
  await migrate(home.database);
  const tokens = createTokenStore(home.database);
  expect(await tokens.list(ADA, PAGE)).toMatchObject([
    { name: "sdk", scopes: ["quantum"] },
    { name: "both", scopes: ["admin", "quantum"], lastUsedAt: Date.UTC(2026, 10, 1) },
  ]);
  const token = `plat_pat_${"aBcDeFgHiJkLmNoPqRsTuVwXyZ".repeat(3).slice(0, 64)}`;
  expect(await createIdentity({ database: home.database }).verifyToken(token)).toMatchObject({
    userId: ADA,
    scopes: ["admin", "quantum"],
    isOperator: true,
    expiresAt: expect.any(Number),
  });
  expect(await tokens.use("h3")).toMatchObject({ userId: BOB, scopes: [] });
  expect([await tokens.use("h4"), await tokens.use("h5")]).toEqual([null, null]);
  expect(await tokens.list(BOB, PAGE)).toMatchObject([{ name: "" }]);
});

test("nothing of the library is left", async () => {
  await insertFormerRows();
  await migrate(home.database);
  const left = await home.database.query({
    text: `select table_name, column_name from information_schema.columns where table_schema = 'public'
      and (column_name <> lower(column_name) or table_name in ('user', 'account', 'apikey', 'verification', 'organization'))`,
  });
  expect(left).toEqual([]);
  expect(await run("select 1 from session")).toEqual([]);
});
