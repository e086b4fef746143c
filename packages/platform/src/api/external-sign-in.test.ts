import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { PROOF, getMe, send } from "../testing/browser.ts";
import { createTestUser } from "../testing/fixtures.ts";
import { TEST_API_URL, createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { startOpenIdProvider } from "../testing/openid-provider.ts";
import type { OpenIdProvider } from "../testing/openid-provider.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
let provider: OpenIdProvider;
let open: TestInstance;
let invited: TestInstance;
let plain: TestInstance;
/** As the provider names the user, and the address that it has verified. */
let subject: string;
let email: string;

const CLIENT = {
  id: "platform",
  secret: "a secret for tests",
  redirectUrl: `${TEST_API_URL}/sign-in/callback`,
};

beforeAll(async () => {
  [home, provider] = await Promise.all([createTestDatabase(), startOpenIdProvider(CLIENT)]);
  const { database } = home;
  const { issuer } = provider;
  const oidc = { issuer, clientId: CLIENT.id, clientSecret: CLIENT.secret, name: "Lab" };
  open = await createTestInstance({ database, oidc, signUpMode: "open" });
  invited = await createTestInstance({ database, oidc, signUpMode: "invitation" });
  plain = await createTestInstance({ database });
});
afterAll(async () => {
  await Promise.all([open?.close(), invited?.close(), plain?.close(), provider?.close()]);
  await home?.close();
});
beforeEach(() => {
  subject = randomUUID();
  email = `${subject}@example.org`;
  provider.users.set(subject, { email, email_verified: true, name: "Ada Lovelace" });
});

const readCookie = (response: { readonly headers: Record<string, unknown> }, name: string) =>
  [response.headers["set-cookie"]]
    .flat()
    .map((text) => new RegExp(`^${name}=([^;]+)`, "u").exec(String(text))?.[0])
    .find((text) => text !== undefined) ?? "";

/** Begins in a browser; its cookie, and where it is sent. */
async function start(instance = open) {
  const response = await send(instance, "POST", "/session/external", { headers: PROOF });
  const { url }: { url: string } = response.json();
  return { cookie: readCookie(response, "platform_external_sign_in"), url };
}

const finish = (cookie: string, parameters: string, instance = open) =>
  send(instance, "PUT", "/session/external", { headers: { ...PROOF, cookie }, payload: { parameters } });

async function signIn(instance = open) {
  const { cookie, url } = await start(instance);
  return await finish(cookie, await provider.signIn(url, subject), instance);
}

test("a user of the provider gets an account, and the same one at the next sign-in", async () => {
  const first = await signIn();
  expect([first.statusCode, first.json()]).toMatchObject([
    200,
    { email, emailVerified: true, name: "Ada Lovelace", operator: false, organization: { isPersonal: true } },
  ]);
  const me = await getMe(open, readCookie(first, "platform_session"));
  expect(me.json()).toEqual(first.json());
  const { token } = await open.identity.createPersonalAccessToken(first.json().id, {
    name: "reader",
    scopes: ["admin"],
  });
  const log = await send(open, "GET", "/audit-events", { headers: { "x-auth-token": token } });
  expect(log.json().items).toMatchObject([
    { action: "external-sign-in.finish", actor: { kind: "user", id: first.json().id }, outcome: "done" },
  ]);
  // The address at the provider may change; the subject is who it is.
  provider.users.set(subject, { email: `new-${email}`, email_verified: true });
  expect((await signIn()).json().id).toBe(first.json().id);
});

test("an account whose address is verified is theirs", async () => {
  const user = await createTestUser(open);
  provider.users.set(subject, { email: user.email.toUpperCase(), email_verified: true });
  await home.database.query({
    text: "update platform_user set email_verified_at = now() where id = $1",
    values: [user.userId],
  });
  expect((await signIn()).json().id).toBe(user.userId);
  expect(await open.identity.verifyToken(user.token)).not.toBeNull();
});

test("an account whose address was only claimed is theirs without what was made before, but for an operator's", async () => {
  const user = await createTestUser(open);
  const payload = { email: user.email, password: user.password };
  const makeOperator = (isOperator: boolean) =>
    home.database.query({
      text: "update platform_user set is_operator = $2 where id = $1",
      values: [user.userId, isOperator],
    });
  provider.users.set(subject, { email: user.email, email_verified: true });
  expect(await open.identity.verifyToken(user.token)).not.toBeNull();
  await makeOperator(true);
  expect((await signIn()).json().code).toBe("CONFLICT");
  await makeOperator(false);
  expect((await signIn()).json()).toMatchObject({ id: user.userId, emailVerified: true });
  expect(await open.identity.verifyToken(user.token)).toBeNull();
  expect((await send(open, "POST", "/session", { headers: PROOF, payload })).json().code).toBe(
    "INVALID_CREDENTIALS",
  );
});

test.each([
  ["that is not verified", { email: "claimed@example.org", email_verified: false }],
  ["that is not there", {}],
])("an address %s opens and makes nothing", async (_what, said) => {
  provider.users.set(subject, said);
  expect((await signIn()).json().code).toBe("FORBIDDEN");
});

test("an address that is another's only in lower case opens and makes nothing", async () => {
  const user = await createTestUser(open);
  const local = `kim-${user.userId}@example.org`;
  await home.database.query({
    text: "update platform_user set email = $2, email_verified_at = now() where id = $1",
    values: [user.userId, local],
  });
  for (const other of [local, `kim-${subject}@example.org`]) {
    provider.users.set(subject, { email: `\u212A${other.slice(1)}`, email_verified: true });
    expect((await signIn()).json().code).toBe("FORBIDDEN");
  }
});

test.each([
  ["is not seen", "\u200b"],
  ["turns the direction", "\u202e"],
  ["controls a terminal", "\u0007"],
])(
  "an address with a character that %s opens and makes nothing, and a name with it is not taken",
  async (_what, character) => {
    provider.users.set(subject, { email: `a${character}da-${email}`, email_verified: true });
    expect((await signIn()).json().code).toBe("FORBIDDEN");
    provider.users.set(subject, { email, email_verified: true, name: `Ada${character}` });
    expect((await signIn()).json()).toMatchObject({ email, name: email });
  },
);

test("one client brings back sixty answers at once, not more: the provider would limit all of the platform", async () => {
  const { cookie } = await start();
  const headers = { ...PROOF, cookie, "x-forwarded-for": "203.0.113.9" };
  const payload = { parameters: "code=x&state=x" };
  const bring = async () => (await send(open, "PUT", "/session/external", { headers, payload })).json().code;
  const codes: unknown[] = await Promise.all(Array.from({ length: 70 }, bring));
  expect(new Set(codes)).toEqual(new Set(["INVALID_CREDENTIALS", "RATE_LIMITED"]));
  expect(codes.filter((code) => code === "INVALID_CREDENTIALS").length).toBeGreaterThanOrEqual(60);
  expect((await signIn()).statusCode).toBe(200);
});

test("who is unknown gets no account where sign-up is not open", async () => {
  expect((await signIn(invited)).json().code).toBe("FORBIDDEN");
});

test("a disabled user gets no session", async () => {
  const { id } = (await signIn()).json();
  await home.database.query({
    text: "update platform_user set disabled_at = now() where id = $1",
    values: [id],
  });
  const refused = await signIn();
  expect([refused.statusCode, readCookie(refused, "platform_session")]).toEqual([401, ""]);
});

test("what the provider says is for the browser that began, once", async () => {
  const [mine, other] = [await start(), await start()];
  const parameters = await provider.signIn(mine.url, subject);
  const answers = [
    await finish(other.cookie, parameters),
    await finish("", parameters),
    await finish("platform_external_sign_in=x", parameters),
    await finish(mine.cookie, "error=access_denied"),
    await finish(mine.cookie, "code=x&state=x"),
  ];
  expect(answers.map((answer) => answer.json().code)).toEqual([
    "INVALID_CREDENTIALS",
    "INVALID_CREDENTIALS",
    "INVALID_INPUT",
    "INVALID_CREDENTIALS",
    "INVALID_CREDENTIALS",
  ]);
  expect((await finish(mine.cookie, parameters)).statusCode).toBe(200);
  expect((await finish(mine.cookie, parameters)).json().code).toBe("INVALID_CREDENTIALS");
});

test("both halves need proof that the console asks", async () => {
  const { cookie, url } = await start();
  const parameters = await provider.signIn(url, subject);
  const bare = { headers: { cookie }, payload: { parameters } };
  expect((await send(open, "PUT", "/session/external", bare)).json().code).toBe("FORBIDDEN");
  expect((await send(open, "POST", "/session/external")).json().code).toBe("FORBIDDEN");
});

test("the configuration names the provider, and without one there is nothing to sign in at", async () => {
  expect((await send(open, "GET", "/configuration")).json()).toMatchObject({ identityProvider: "Lab" });
  expect((await send(plain, "GET", "/configuration")).json()).toMatchObject({ identityProvider: null });
  const begun = await send(plain, "POST", "/session/external", { headers: PROOF });
  expect(begun.json().code).toBe("NOT_FOUND");
});
