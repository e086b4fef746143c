import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { PROOF } from "../testing/browser.ts";
import { createTestUser } from "../testing/fixtures.ts";
import { startGatewayMember } from "../testing/gateway-members.ts";
import type { GatewayMember } from "../testing/gateway-members.ts";
import { startAtOnce } from "../testing/held-lock.ts";
import { TEST_API_URL, createTestInstance } from "../testing/instance.ts";
import { startOpenIdProvider } from "../testing/openid-provider.ts";
import type { OpenIdProvider } from "../testing/openid-provider.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

const CLIENT = {
  id: "platform",
  secret: "a secret for tests",
  redirectUrl: `${TEST_API_URL}/sign-in/callback`,
};

let home: TestDatabase;
let provider: OpenIdProvider;
/** Two control processes. */
let one: GatewayMember;
let other: GatewayMember;
/** As the provider names the user. */
let subject: string;

beforeAll(async () => {
  [home, provider] = await Promise.all([createTestDatabase(), startOpenIdProvider(CLIENT)]);
  const oidc = { issuer: provider.issuer, clientId: CLIENT.id, clientSecret: CLIENT.secret, name: "Lab" };
  const start = () => startGatewayMember(home, { oidc, signUpMode: "open" });
  [one, other] = await Promise.all([start(), start()]);
});
afterAll(async () => {
  await Promise.all([one?.close(), other?.close(), provider?.close()]);
  await home?.close();
});
beforeEach(() => {
  subject = randomUUID();
  provider.users.set(subject, { email: `${subject}@example.org`, email_verified: true, name: "Ada" });
});

const readCookies = (response: Response) =>
  response.headers.getSetCookie().map((text) => /^[^;]+/u.exec(text)?.[0] ?? "");

interface Answer {
  readonly status: number;
  readonly id?: string;
  readonly code?: string;
  /** The header Cookie of a session; undefined: none was begun. */
  readonly session: string | undefined;
}

async function ask(
  { apiUrl }: GatewayMember,
  [method, path]: readonly [string, string],
  headers: Record<string, string>,
  body?: object,
) {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
  return await fetch(`${apiUrl}/api${path}`, { method, headers: { ...PROOF, ...type, ...headers }, ...sent });
}

/** Begins in a browser and goes to the provider; the cookie, and what the provider sends the browser back with. */
async function begin(member: GatewayMember) {
  const response = await ask(member, ["POST", "/session/external"], {});
  const { url }: { readonly url: string } = JSON.parse(await response.text());
  const [cookie = ""] = readCookies(response);
  return { cookie, parameters: await provider.signIn(url, subject) };
}

async function finish(member: GatewayMember, cookie: string, parameters: string): Promise<Answer> {
  const response = await ask(member, ["PUT", "/session/external"], { cookie }, { parameters });
  const session = readCookies(response).find((text) => /^platform_session=./u.test(text));
  const { id, code } = JSON.parse(await response.text());
  return { status: response.status, id, code, session };
}

async function countSessions(userId: string | undefined): Promise<number> {
  const rows = await home.database.query({
    text: "select 1 from session where user_id = $1",
    values: [userId],
  });
  return rows.length;
}

test("a sign-in that began at one process ends at the other, whose session the first one knows", async () => {
  const { cookie, parameters } = await begin(one);
  const { status, id, session = "" } = await finish(other, cookie, parameters);
  expect([status, await countSessions(id)]).toEqual([200, 1]);
  const me = await ask(one, ["GET", "/me"], { cookie: session });
  expect([me.status, JSON.parse(await me.text())]).toMatchObject([200, { id, name: "Ada" }]);
});

test("what the provider says begins one session at most, also at both processes at once", async () => {
  const { cookie, parameters } = await begin(one);
  const both = await Promise.all([one, other].map((member) => finish(member, cookie, parameters)));
  // A provider that sees a code twice may take back what the first one got for it, before that has asked who it is: then both are refused.
  const taken = both.filter(({ status }) => status === 200);
  expect(taken.length).toBeLessThanOrEqual(1);
  const later = [await finish(one, cookie, parameters), await finish(other, cookie, parameters)];
  for (const refused of [...both, ...later].filter((answer) => !taken.includes(answer)))
    expect(refused).toMatchObject({ status: 401, code: "INVALID_CREDENTIALS", session: undefined });
  const sessions = await home.database.query({
    text: "select 1 from session s join platform_user u on u.id = s.user_id where u.email = $1",
    values: [`${subject}@example.org`],
  });
  expect(sessions).toHaveLength(taken.length);
});

test("what the provider says is refused to another browser, at whichever process", async () => {
  const [mine, another] = [await begin(one), await begin(other)];
  for (const member of [one, other])
    expect(await finish(member, another.cookie, mine.parameters)).toMatchObject({
      status: 401,
      code: "INVALID_CREDENTIALS",
      session: undefined,
    });
  expect((await finish(other, mine.cookie, mine.parameters)).status).toBe(200);
});

/** Ends two sign-ins of the user, who has no login here yet, at both processes when each has found that. */
async function finishBoth(): Promise<readonly Answer[]> {
  const begun = [await begin(one), await begin(other)];
  const row = { text: "lock table external_login in share row exclusive mode", values: [] };
  return await startAtOnce(home, row, () =>
    [other, one].map((member, index) =>
      finish(member, begun[index]?.cookie ?? "", begun[index]?.parameters ?? ""),
    ),
  );
}

test("who signs in for the first time in two browsers at once gets one account", async () => {
  const answers = await finishBoth();
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
  expect(await countSessions(answers[0]?.id)).toBe(2);
});

test("who has an account gets it in two browsers at once, at their first sign-in by the provider", async () => {
  const here = await createTestInstance({ database: home.database });
  const { userId, email } = await createTestUser(here);
  await here.close();
  await home.database.query({
    text: "update platform_user set email_verified_at = now() where id = $1",
    values: [userId],
  });
  provider.users.set(subject, { email, email_verified: true });
  expect((await finishBoth()).map(({ status, id }) => [status, id])).toEqual([
    [200, userId],
    [200, userId],
  ]);
});
