import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { createExternalLoginStore } from "../store/accounts/external-logins.ts";
import { createLinkStore } from "../store/accounts/one-time-tokens.ts";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import { PROOF, send } from "../testing/browser.ts";
import { createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { startAtOnce } from "../testing/held-lock.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
let here: TestInstance;
let call: CallApi;
/** Made with an address that somebody else has. */
let account: TestUser;
/** Another account of whoever made it. */
let accomplice: TestUser;

beforeAll(async () => {
  home = await createTestDatabase();
  here = await createTestInstance({ database: home.database });
  call = createApiCaller(here);
});
afterAll(async () => {
  await here?.close();
  await home?.close();
});
beforeEach(async () => {
  account = await createTestUser(here);
  accomplice = await createTestUser(here);
});

const run = <Row extends object>(text: string, ...values: readonly unknown[]) =>
  home.database.query<Row>({ text, values });

async function readPasswordHash({ userId }: TestUser): Promise<string> {
  const [row] = await run<{ hash: string }>(
    "select password_hash as hash from platform_user where id = $1",
    userId,
  );
  return row?.hash ?? "";
}

const createSession = () =>
  here.identity.createSession(account.userId, { userAgent: "old", ip: "192.0.2.1" });

/** The ways in which the owner of the address proves that it is theirs. */
const PROOFS: readonly (readonly [string, () => Promise<unknown>])[] = [
  [
    "by a link that came by mail",
    async () => {
      const links = createLinkStore(home.database);
      const { userId, email } = account;
      const tokenHash = randomUUID();
      await links.create({ purpose: "reset", userId, email, tokenHash, expiresInMinutes: 5 });
      return await links.resetPassword({ tokenHash, passwordHash: "another", verifies: true });
    },
  ],
  [
    "at an identity provider",
    () =>
      createExternalLoginStore(home.database).takeOver(
        { issuer: "https://id.example.org", subject: account.userId },
        account.userId,
      ),
  ],
];

/** A login of a program that the account has approved, and one that it is asked about; what the programs ask with. */
async function startLogins() {
  const passwordHash = await readPasswordHash(account);
  const begin = async () => {
    const login = await here.identity.startDeviceLogin({ name: "cli", ip: "192.0.2.1", scopes: ["admin"] });
    const asked = await here.identity.askDeviceLogin(login.userCode, { ...account, passwordHash });
    return { ...login, ticket: asked?.ticket ?? "" };
  };
  const [approved, asked] = [await begin(), await begin()];
  expect(await here.identity.decideDeviceLogin(approved.ticket, "approved")).toBe(true);
  return { approved, asked };
}

async function createKey(): Promise<string> {
  const { body } = await call(account, "POST /applications", { name: "shop" });
  return String((await call(account, `POST /applications/${String(body["id"])}/access-keys`)).body["keyId"]);
}

/** An organisation of the account, of which the accomplice is a member, too. */
async function share(role: "owner" | "viewer"): Promise<string> {
  const id = await here.identity.createOrganisation(account.userId, { name: "Lab" });
  await here.identity.addMember(id, accomplice.userId, role);
  return id;
}

/** A data pool of the account that the accomplice's organisation and application may write to. */
async function sharePool(): Promise<string> {
  const { body: pool } = await call(account, "POST /data-pools", { name: `pool-${randomUUID()}` });
  const path = `/data-pools/${String(pool["id"])}`;
  const { body: application } = await call(accomplice, "POST /applications", { name: "reader" });
  await call(account, `PUT ${path}/shares/${accomplice.organisationId}`, { role: "maintainer" });
  const granted = await call(account, `PUT ${path}/grants/${String(application["id"])}`, { access: "write" });
  expect(granted.status).toBe(200);
  expect((await call(accomplice, `GET ${path}`)).status).toBe(200);
  return path;
}

const listMembers = async (organisationId: string) =>
  (await here.identity.listMembers(organisationId, { limit: 10, offset: 0 })).map(({ userId }) => userId);

describe.each(PROOFS)("an account whose address is first proven %s", (_how, prove) => {
  test("shares no data pool with the organisations or applications of who made it", async () => {
    const path = await sharePool();
    await prove();
    expect((await call(accomplice, `GET ${path}`)).status).toBe(404);
    const pool = path.split("/").at(-1);
    expect(await run("select 1 from data_pool_grant where pool_id = $1", pool)).toEqual([]);
  });

  test("keeps nothing that opens it or what is its own to who made it", async () => {
    const cookie = await createSession();
    const keyId = await createKey();
    const { approved, asked } = await startLogins();
    const { body: invitation } = await call(account, "POST /invitations", { role: "owner" });
    await here.identity.addMember(account.organisationId, accomplice.userId, "owner");
    const [joint, own] = [await share("owner"), await share("viewer")];
    await prove();

    expect(await here.stores.accessKeys.findActive(keyId)).toBeNull();
    expect(
      await run("select 1 from session where user_id = $1 and revoked_at is null", account.userId),
    ).toEqual([]);
    expect(cookie).not.toBeNull();
    expect(
      await run(
        "select 1 from personal_access_token where user_id = $1 and revoked_at is null",
        account.userId,
      ),
    ).toEqual([]);
    await expect(here.identity.finishDeviceLogin(approved.deviceCode)).rejects.toMatchObject({
      code: "EXPIRED_TOKEN",
    });
    expect(await here.identity.decideDeviceLogin(asked.ticket, "approved")).toBe(false);
    const link = String(invitation["url"]).split("/").at(-1) ?? "";
    await expect(here.identity.acceptInvitation(link, await createTestUser(here))).rejects.toMatchObject({
      code: "LINK_EXPIRED",
    });
    expect(await listMembers(account.organisationId)).toEqual([account.userId]);
    expect(await listMembers(own)).toEqual([account.userId]);
    expect(await listMembers(joint)).toEqual([accomplice.userId]);
    expect(await readPasswordHash(account)).not.toBe(await readPasswordHash(accomplice));
  });

  test("and proven again keeps all of it", async () => {
    await run("update platform_user set email_verified_at = now() where id = $1", account.userId);
    const keyId = await createKey();
    await here.identity.addMember(account.organisationId, accomplice.userId, "owner");
    await prove();
    expect(await here.stores.accessKeys.findActive(keyId)).not.toBeNull();
    expect(await listMembers(account.organisationId)).toHaveLength(2);
    expect((await call(account, "GET /me")).status).toBe(200);
  });
});

// The one holds the session or token and waits for the organisation, the other the reverse: PostgreSQL ends one, which is tried again.
test.each(PROOFS)(
  "an address that is proven %s while its account changes something ends it all, and neither fails",
  async (_, prove) => {
    const { organisationId } = account;
    const lock = { text: "select 1 from organisation where id = $1 for update", values: [organisationId] };
    const create = async () => {
      const { status } = await call(account, "POST /services", { name: "demo" });
      return status;
    };
    const isOneWaiting = async () =>
      (
        await run(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        )
      ).length >= 1;
    const [made, proven] = await startAtOnce<unknown>(home, lock, () => [
      create(),
      waitUntil(isOneWaiting).then(prove),
    ]);
    expect(proven).not.toBeNull();
    expect([201, 401]).toContain(made);
    const open = "select 1 from personal_access_token where user_id = $1 and revoked_at is null";
    expect(await run(open, account.userId)).toEqual([]);
  },
);

test("no identity provider gives an operator's account to anybody", async () => {
  await run("update platform_user set is_operator = true where id = $1", account.userId);
  const login = { issuer: "https://id.example.org", subject: account.userId };
  expect(await createExternalLoginStore(home.database).takeOver(login, account.userId)).toBe(false);
  expect((await call(account, "GET /me")).status).toBe(200);
});

test("a program is not logged in with a password that was changed since it was checked", async () => {
  const login = await here.identity.startDeviceLogin({ name: "cli", ip: "192.0.2.1", scopes: ["admin"] });
  const former = { ...account, passwordHash: await readPasswordHash(account) };
  await run("update platform_user set password_hash = 'another' where id = $1", account.userId);
  expect(await here.identity.askDeviceLogin(login.userCode, former)).toBeNull();
});

test("a new password ends a login that was confirmed with the former one, and the link to set one that was sent before", async () => {
  const { approved } = await startLogins();
  const links = createLinkStore(home.database);
  const { userId, email } = account;
  await links.create({ purpose: "reset", userId, email, tokenHash: "sent-before", expiresInMinutes: 5 });
  await here.identity.changePassword({
    userId: account.userId,
    current: account.password,
    next: "another long password",
    keptSessionId: null,
  });
  await expect(here.identity.finishDeviceLogin(approved.deviceCode)).rejects.toMatchObject({
    code: "EXPIRED_TOKEN",
  });
  expect(await links.isOpen("sent-before", "reset")).toBe(false);
});

test.each([
  ["session", async () => ({ ...PROOF, cookie: `platform_session=${await createSession()}` })],
  ["personal access token", async () => ({ authorization: `Bearer ${account.token}` })],
])("a %s that is revoked changes nothing, also where that is not known yet", async (_what, authorize) => {
  const headers = await authorize();
  // It hears of no change, and its clock stands still: it forgets nothing.
  const deaf = await createTestInstance({
    database: { ...home.database, listen: () => () => undefined },
    elapsed: () => 0,
  });
  try {
    expect((await send(deaf, "GET", "/me", { headers })).statusCode).toBe(200);
    for (const table of ["session", "personal_access_token"])
      await run(`update ${table} set revoked_at = now() where user_id = $1`, account.userId);
    expect((await send(deaf, "GET", "/me", { headers })).statusCode).toBe(200);
    const made = await send(deaf, "POST", "/applications", { headers, payload: { name: "late" } });
    expect([made.statusCode, made.json()]).toMatchObject([401, { code: "UNAUTHENTICATED" }]);
  } finally {
    await deaf.close();
  }
  expect(await run("select 1 from application where organisation_id = $1", account.organisationId)).toEqual(
    [],
  );
});
