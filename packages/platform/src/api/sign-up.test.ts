import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createMailer } from "../accounts/mailer.ts";
import { COOKIE, PROOF, getMe, send } from "../testing/browser.ts";
import { createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { startAtOnce } from "../testing/held-lock.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { startMailServer } from "../testing/mail-server.ts";
import type { MailServer } from "../testing/mail-server.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
let mail: MailServer;
/** Everybody can sign up, and links go by mail. */
let open: TestInstance;
/** Who is invited can sign up, and links go to the log. */
let invited: TestInstance;
let closed: TestInstance;
let owner: TestUser;

beforeAll(async () => {
  [home, mail] = await Promise.all([createTestDatabase(), startMailServer()]);
  const { database, logger } = home;
  const byMail = createMailer({ smtpUrl: mail.url, from: "platform@example.org" }, logger);
  open = await createTestInstance({ database, signUpMode: "open", mailer: byMail });
  const byLog = createMailer(null, logger);
  invited = await createTestInstance({ database, signUpMode: "invitation", mailer: byLog });
  closed = await createTestInstance({ database, signUpMode: "closed" });
});
afterAll(async () => {
  await Promise.all([open?.close(), invited?.close(), closed?.close(), mail?.close()]);
  await home?.close();
});
beforeEach(async () => {
  owner = await createTestUser(open);
  await home.database.query({ text: "delete from sign_in_attempt" });
  await home.database.query({ text: "delete from start_bucket" });
});

const newEmail = () => `${randomUUID()}@example.org`;
const PASSWORD = "a long password";

function signUp(instance: TestInstance, more: object = {}, headers: Record<string, string> = PROOF) {
  const payload = { name: "Ada Lovelace", email: newEmail(), password: PASSWORD, ...more };
  return send(instance, "POST", "/users", { headers, payload });
}

async function invite(wish: { email?: string; role?: "viewer" | "owner" } = {}) {
  const { organisationId, userId: invitedBy } = owner;
  const made = await open.identity.createInvitation({ role: "viewer", ...wish, organisationId, invitedBy });
  return made.token;
}

async function countUsers(): Promise<number> {
  return (await home.database.query({ text: "select 1 from platform_user" })).length;
}

function signIn(email: string, password: string) {
  return send(open, "POST", "/session", { headers: PROOF, payload: { email, password } });
}

const requestReset = (email: string, instance = open) =>
  send(instance, "POST", "/password-resets", { payload: { email } });
const reset = (token: string, password: string) =>
  send(open, "PUT", `/password-resets/${token}`, { payload: { password } });

describe("sign-up", () => {
  test("makes a user with an organisation of their own and a session", async () => {
    const email = newEmail();
    const created = await signUp(open, { email: email.toUpperCase() });
    expect([created.statusCode, created.json()]).toMatchObject([
      201,
      {
        email,
        emailVerified: false,
        name: "Ada Lovelace",
        operator: false,
        organization: { role: "owner", isPersonal: true, slug: expect.stringMatching(/^ada-lovelace-/u) },
      },
    ]);
    const [, value] = COOKIE.exec(String(created.headers["set-cookie"])) ?? [];
    expect((await getMe(open, `platform_session=${value}`)).json()).toEqual(created.json());
    expect((await signIn(email, PASSWORD)).statusCode).toBe(200);
    const taken = await signUp(open, { email });
    expect(taken.json().code).toBe("CONFLICT");
  });

  test("is in the configuration, and is for nobody where it is closed, not even for who is invited", async () => {
    const before = await countUsers();
    const refused = await signUp(closed, { invitation: await invite() });
    expect([refused.statusCode, refused.json().code]).toEqual([403, "FORBIDDEN"]);
    expect(await countUsers()).toBe(before);
    for (const [instance, expected] of [
      [open, { signUp: "open", mail: true }],
      [invited, { signUp: "invitation", mail: false }],
      [closed, { signUp: "closed", mail: false }],
    ] as const)
      expect((await send(instance, "GET", "/configuration")).json()).toMatchObject(expected);
  });

  test("makes a user also where no further mail may go to the address now", async () => {
    const email = newEmail();
    const { userId } = owner;
    const verify = () => open.identity.sendVerification({ userId, email });
    for (let tries = 0; tries < 5; tries++) await verify();
    expect((await signUp(open, { email })).statusCode).toBe(201);
  });

  test("with an invitation makes a member as well, once", async () => {
    const invitation = await invite({ role: "owner" });
    const created = await signUp(invited, { invitation });
    expect(created.statusCode).toBe(201);
    expect(created.json().organizations).toMatchObject([
      { isPersonal: true },
      { id: owner.organisationId, role: "owner", isPersonal: false },
    ]);
    expect((await signUp(invited, { invitation })).json().code).toBe("LINK_EXPIRED");
  });

  test("makes nobody where the invitation is needed, unknown or for another address", async () => {
    const before = await countUsers();
    const answers = [
      await signUp(invited),
      await signUp(invited, { invitation: "x".repeat(43) }),
      await signUp(invited, { invitation: "x" }),
      await signUp(invited, { invitation: await invite({ email: newEmail() }) }),
    ];
    expect(answers.map((answer) => answer.json().code)).toEqual([
      "FORBIDDEN",
      "NOT_FOUND",
      "NOT_FOUND",
      "FORBIDDEN",
    ]);
    expect(await countUsers()).toBe(before);
  });

  test("of two with one invitation at once makes one user", async () => {
    const before = await countUsers();
    const invitation = await invite();
    const row = {
      text: "select 1 from invitation where organisation_id = $1 for update",
      values: [owner.organisationId],
    };
    const both = await startAtOnce(home, row, () => [
      signUp(open, { invitation }),
      signUp(open, { invitation }),
    ]);
    expect(both.filter(({ statusCode }) => statusCode === 201)).toHaveLength(1);
    expect(await countUsers()).toBe(before + 1);
  });

  test.each([
    ["operator", { operator: true }],
    ["verified", { emailVerified: true }],
    ["of an organisation", { organisationId: randomUUID() }],
    ["of a chosen id", { id: randomUUID() }],
    ["with a short password", { password: "eleven char" }],
    ["with an address that looks like another one", { email: "ada\u200b@example.org" }],
    ["with two addresses", { email: "a@example.org, b@example.org" }],
  ])("makes nobody %s", async (_what, more) => {
    expect((await signUp(open, more)).json().code).toBe("INVALID_INPUT");
  });

  test("needs proof that the console asks", async () => {
    const before = await countUsers();
    expect((await signUp(open, {}, {})).json().code).toBe("FORBIDDEN");
    expect(await countUsers()).toBe(before);
  });

  test("is slowed down for one client", async () => {
    const codes: string[] = [];
    for (let tries = 0; tries < 21; tries++)
      codes.push((await signUp(invited, { invitation: "x".repeat(43) })).json().code);
    expect(codes.filter((code) => code === "RATE_LIMITED")).toHaveLength(1);
    expect(codes.at(-1)).toBe("RATE_LIMITED");
  });
});

/** The headers of requests with the session of an answer. */
function readSession({ headers }: Awaited<ReturnType<typeof send>>): Record<string, string> {
  return { ...PROOF, cookie: String(headers["set-cookie"]).split(";")[0] ?? "" };
}

const verifyEmail = (token: string, headers: Record<string, string>) =>
  send(open, "PUT", `/email-verifications/${token}`, { headers });

describe("an address", () => {
  test("is verified by the link that was sent to it, once", async () => {
    const email = newEmail();
    const created = await signUp(open, { email });
    const token = await mail.readLink(email);
    const verify = (headers = readSession(created)) => verifyEmail(token, headers);
    // Who reads the mail need not be who made the account: the link alone, or with another account, verifies nothing.
    expect((await verify({})).statusCode).toBe(401);
    expect((await verify({ "x-auth-token": owner.token })).json().code).toBe("LINK_EXPIRED");
    expect((await verify()).statusCode).toBe(204);
    expect(await open.identity.findUser(created.json().id)).toMatchObject({ isEmailVerified: true });
    expect((await verify()).json().code).toBe("LINK_EXPIRED");
  });

  test("is verified by no link of another purpose, of another address, or an old one", async () => {
    const email = newEmail();
    const created = await signUp(open, { email });
    const userId: string = created.json().id;
    const headers = readSession(created);
    const first = await mail.readLink(email);
    const change = (text: string) =>
      home.database.query({ text: `update one_time_token ${text} where user_id = $1`, values: [userId] });
    for (const [away, back] of [
      ["set purpose = 'reset'", "set purpose = 'verify'"],
      [
        `set data = '{"email": "x@example.org"}'`,
        `set data = jsonb_build_object('email', '${email}'::text), used_at = null`,
      ],
      ["set expires_at = now()", "set expires_at = now() + interval '1 day'"],
    ] as const) {
      await change(away);
      expect((await verifyEmail(first, headers)).json().code).toBe("LINK_EXPIRED");
      await change(back);
    }
    expect((await verifyEmail(first, headers)).statusCode).toBe(204);
  });

  test("gets another link when its user asks, which replaces the former, until it is verified", async () => {
    const headers = { "x-auth-token": owner.token };
    const ask = () => send(open, "POST", "/email-verifications", { headers });
    expect((await ask()).statusCode).toBe(202);
    const first = await mail.readLink(owner.email);
    expect((await ask()).statusCode).toBe(202);
    expect((await verifyEmail(first, headers)).json().code).toBe("LINK_EXPIRED");
  });

  test("gets the link of its invitation", async () => {
    const email = newEmail();
    const headers = { "x-auth-token": owner.token };
    const made = await send(open, "POST", "/invitations", { headers, payload: { email, role: "viewer" } });
    expect(made.json().url).toContain(await mail.readLink(email));
  });
});

/** What the user's own organisation has in its log, newest first. */
async function listActions(userId: string): Promise<readonly string[]> {
  const { token } = await open.identity.createPersonalAccessToken(userId, {
    name: "reader",
    scopes: ["admin"],
  });
  const listed = await send(open, "GET", "/audit-events", { headers: { "x-auth-token": token } });
  const { items }: { items: { action: string; actor: { id: string }; outcome: string }[] } = listed.json();
  return items.map(({ action, actor, outcome }) => `${action} ${actor.id === userId} ${outcome}`);
}

test("an account, a verified address and a new password are in the log of the user's organisation", async () => {
  const email = newEmail();
  const created = await signUp(open, { email });
  const userId: string = created.json().id;
  await verifyEmail(await mail.readLink(email), readSession(created));
  const before = mail.mails.length;
  await requestReset(email);
  await expect.poll(() => mail.mails.length).toBe(before + 1);
  expect((await reset(await mail.readLink(email), "another long password")).statusCode).toBe(204);
  expect(await listActions(userId)).toEqual([
    "password.reset true done",
    "email.verify true done",
    "user.create true done",
  ]);
});

test("none of them is done when it cannot be written in the log", async () => {
  await requestReset(owner.email);
  const token = await mail.readLink(owner.email);
  const before = await countUsers();
  await home.database.query({ text: "alter function append_audit_entry rename to hidden" });
  try {
    expect((await signUp(open)).statusCode).toBe(500);
    expect((await reset(token, "another long password")).statusCode).toBe(500);
  } finally {
    await home.database.query({ text: "alter function hidden rename to append_audit_entry" });
  }
  expect(await countUsers()).toBe(before);
  expect((await signIn(owner.email, owner.password)).statusCode).toBe(200);
  expect((await reset(token, "another long password")).statusCode).toBe(204);
});

describe("a forgotten password", () => {
  test("is replaced by a link, once, and all sessions end", async () => {
    const cookie = await open.identity.createSession(owner.userId, { userAgent: "old", ip: "192.0.2.1" });
    expect((await requestReset(owner.email.toUpperCase())).statusCode).toBe(202);
    const token = await mail.readLink(owner.email);
    expect((await reset(token, "another long password")).statusCode).toBe(204);
    expect((await signIn(owner.email, owner.password)).json().code).toBe("INVALID_CREDENTIALS");
    expect((await signIn(owner.email, "another long password")).json()).toMatchObject({
      emailVerified: true,
    });
    expect((await getMe(open, `platform_session=${cookie}`)).statusCode).toBe(401);
    expect((await reset(token, "a third long password")).json().code).toBe("LINK_EXPIRED");
  });

  test("of an address that nobody had verified ends the tokens, too: somebody else may have signed up with it", async () => {
    const email = newEmail();
    const { id }: { id: string } = (await signUp(open, { email })).json();
    const make = () => open.identity.createPersonalAccessToken(id, { name: "waiting" });
    const readStatus = async ({ token }: { readonly token: string }) =>
      (await send(open, "GET", "/me", { headers: { "x-auth-token": token } })).statusCode;
    const early = await make();
    const change = async (password: string) => {
      const before = mail.mails.length;
      await requestReset(email);
      await expect
        .poll(() => mail.mails.slice(before).some(({ message }) => message.includes("/reset-password/")))
        .toBe(true);
      expect((await reset(await mail.readLink(email), password)).statusCode).toBe(204);
    };
    expect(await readStatus(early)).toBe(200);
    await change("another long password");
    expect(await readStatus(early)).toBe(401);
    const kept = await make();
    await change("a third long password");
    expect(await readStatus(kept)).toBe(200);
  });

  test("gets the same answer whether or not there is such a user, and no mail for nobody", async () => {
    const [known, unknown] = [await requestReset(owner.email), await requestReset("nobody@example.org")];
    expect([unknown.statusCode, unknown.body]).toEqual([known.statusCode, known.body]);
    await mail.readLink(owner.email);
    expect(mail.mails.some(({ to }) => to.includes("nobody@example.org"))).toBe(false);
  });

  test("is answered before it is known whether there is such a user: the time of the answer does not tell", async () => {
    const client = await home.database.pool.connect();
    try {
      await client.query("begin");
      await client.query("lock table one_time_token in exclusive mode");
      let status = 0;
      const ask = async () => {
        status = (await requestReset(owner.email)).statusCode;
      };
      const asked = ask();
      await expect.poll(() => status).toBe(202);
      await client.query("commit");
      await asked;
    } finally {
      client.release(true);
    }
    expect(await mail.readLink(owner.email)).not.toBe("");
  });

  test("is sent to the stored address, also when another one is the same in lower case", async () => {
    const email = `kim-${randomUUID()}@example.org`;
    await signUp(open, { email });
    const before = mail.mails.length;
    await requestReset(`\u212Aim${email.slice(3)}`);
    await expect
      .poll(() => mail.mails.slice(before).some(({ message }) => message.includes("reset-password")))
      .toBe(true);
    expect([...new Set(mail.mails.slice(before).flatMap(({ to }) => to))]).toEqual([email]);
  });

  test("names the platform's own address in its link, whatever the request's Host", async () => {
    const headers = { host: "evil.example.org", "x-forwarded-host": "evil.example.org" };
    await send(open, "POST", "/password-resets", { headers, payload: { email: owner.email } });
    await mail.readLink(owner.email);
    const { message = "" } = mail.mails.findLast(({ to }) => to.includes(owner.email)) ?? {};
    expect(message).toContain("http://api.test:8090/reset-password/");
    expect(message).not.toContain("evil");
  });

  test.each([
    ["has expired", "update one_time_token set expires_at = now() where user_id = $1"],
    ["is for another purpose", "update one_time_token set purpose = 'verify' where user_id = $1"],
    ["is of a disabled user", "update platform_user set disabled_at = now() where id = $1"],
  ])("is not replaced by a link that %s", async (_what, text) => {
    await requestReset(owner.email);
    const token = await mail.readLink(owner.email);
    await home.database.query({ text, values: [owner.userId] });
    expect((await reset(token, "another long password")).json().code).toBe("LINK_EXPIRED");
  });

  test("is limited by address and by client, alike for addresses without a user", async () => {
    const codes: number[] = [];
    for (let tries = 0; tries < 6; tries++)
      codes.push((await requestReset("flooded@example.org")).statusCode);
    expect(codes).toEqual([202, 202, 202, 202, 202, 429]);
  });

  test("without a mail server has its link in the operator's log, and verifies no address", async () => {
    await requestReset(owner.email, invited);
    const find = () =>
      home.logger.entries.findLast(({ fields }) => JSON.stringify(fields).includes(owner.email));
    await expect.poll(find).toBeDefined();
    const entry = find();
    expect(entry).toMatchObject({ level: "warn", fields: { user: owner.email } });
    const [, token = ""] = /reset-password\/([\w-]{43})/u.exec(JSON.stringify(entry)) ?? [];
    const done = await send(invited, "PUT", `/password-resets/${token}`, { payload: { password: PASSWORD } });
    expect(done.statusCode).toBe(204);
    expect((await signIn(owner.email, PASSWORD)).json()).toMatchObject({ emailVerified: false });
  });
});
