import {
  Configuration,
  None,
  allowInsecureRequests,
  customFetch,
  genericGrantRequest,
  initiateDeviceAuthorization,
  pollDeviceAuthorizationGrant,
} from "openid-client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { TEST_API_URL, createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

const FORM = "application/x-www-form-urlencoded";
const JSON_TYPE = "application/json";
const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

let home: TestDatabase;
let here: TestInstance;
let there: TestInstance;
let user: TestUser;

beforeAll(async () => {
  home = await createTestDatabase();
  here = await createTestInstance({ database: home.connect() });
  there = await createTestInstance({ database: home.connect() });
});
afterAll(async () => {
  await Promise.all([here?.close(), there?.close()]);
  await home?.close();
});
beforeEach(async () => {
  user = await createTestUser(here);
  await home.database.query({ text: "delete from sign_in_attempt" });
  await home.database.query({ text: "delete from start_bucket" });
});

interface Begun {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
  readonly expires_in: number;
  readonly interval: number;
}

let clients = 0;
const nextClient = () => ({ "x-forwarded-for": `198.51.100.${(clients += 1) % 250}` });

async function begin(name = "platform CLI on laptop"): Promise<Begun> {
  const response = await here.api.inject({
    method: "POST",
    url: "/api/device/code",
    headers: nextClient(),
    payload: { client_name: name },
  });
  expect([response.statusCode, response.headers["cache-control"]]).toEqual([200, "no-store"]);
  return response.json<Begun>();
}

/** Asks for the token as if the interval had passed; at the other process. */
async function ask({ device_code }: Pick<Begun, "device_code">) {
  await home.database.query({ text: "update device_login set asked_at = null" });
  return await askSoon({ device_code });
}

const askSoon = ({ device_code }: Pick<Begun, "device_code">) =>
  there.api.inject({ method: "POST", url: "/api/device/token", payload: { device_code } });

const OWN = { "sec-fetch-site": "same-origin" };

const submit = (form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = OWN) =>
  here.api.inject({
    method: "POST",
    url: "/device",
    headers: { "content-type": FORM, ...nextClient(), ...headers },
    payload: new URLSearchParams(form).toString(),
  });

const signIn = (user_code: string, { email, password } = user, headers = OWN) =>
  submit({ user_code, email, password }, headers);

const readTicket = (page: string) => /name="ticket" value="([\w-]{43})"/u.exec(page)?.[1] ?? "";

/** Without what differs between any two pages. */
const strip = (page: string) => page.replaceAll(/nonce[-=]"?[^"]+"|value="[A-Z-]+"/gu, "");

const expire = () => home.database.query({ text: "update device_login set expires_at = now()" });

test("a program shows a code, its user signs in and confirms, and the program gets a token once", async () => {
  const begun = await begin();
  expect(begun).toMatchObject({
    user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/u),
    verification_uri: `${TEST_API_URL}/device`,
    verification_uri_complete: `${TEST_API_URL}/device?user_code=${begun.user_code}`,
    expires_in: 600,
    interval: 5,
  });
  expect((await ask(begun)).json()).toMatchObject({ code: "AUTHORIZATION_PENDING" });

  const page = await here.api.inject({ method: "GET", url: `/device?user_code=${begun.user_code}` });
  expect(page.body).toContain(`value="${begun.user_code}"`);
  // Typed as people do.
  const question = await signIn(` ${begun.user_code.toLowerCase().replace("-", "")} `);
  expect(question.statusCode).toBe(200);
  expect(question.body).toContain("platform CLI on laptop");
  expect(question.body).toContain("the scope admin");
  expect((await ask(begun)).json()).toMatchObject({ code: "AUTHORIZATION_PENDING" });

  const done = await submit({ ticket: readTicket(question.body), decision: "approve" });
  expect(done.body).toContain("The program is logged in.");
  const answer = await ask(begun);
  expect([answer.statusCode, answer.headers["cache-control"]]).toEqual([200, "no-store"]);
  const token = answer.json<{ access_token: string }>();
  expect(token).toMatchObject({ token_type: "Bearer", expires_in: 7_776_000, scope: "admin" });
  expect(await here.identity.verifyToken(token.access_token)).toMatchObject({
    userId: user.userId,
    scopes: ["admin"],
  });
  const [listed] = await here.identity.listPersonalAccessTokens(user.userId, { limit: 1, offset: 0 });
  expect(listed?.name).toBe("platform CLI on laptop");
  expect((await ask(begun)).json()).toMatchObject({ code: "EXPIRED_TOKEN" });
});

test("a client of the standard, which sends forms, gets a token of the scope that it asks for", async () => {
  const client = new Configuration(
    {
      issuer: TEST_API_URL,
      device_authorization_endpoint: `${TEST_API_URL}/api/device/code`,
      token_endpoint: `${TEST_API_URL}/api/device/token`,
    },
    "any tool",
    undefined,
    None(),
  );
  allowInsecureRequests(client);
  client[customFetch] = async (url, { method, headers, body }) => {
    const answer = await here.api.inject({
      method: method === "POST" ? "POST" : "GET",
      url: new URL(url).pathname,
      headers: { ...headers, ...nextClient() },
      payload: await new Response(body).text(),
    });
    return new Response(answer.body, { status: answer.statusCode, headers: { "content-type": JSON_TYPE } });
  };
  const begun = await initiateDeviceAuthorization(client, { scope: "run read run" });
  await expect(genericGrantRequest(client, DEVICE_GRANT, { device_code: begun.device_code })).rejects.toThrow(
    expect.objectContaining({ error: "authorization_pending" }),
  );
  await home.database.query({
    text: "update device_login set interval_seconds = 0, asked_at = null",
  });
  const question = await signIn(begun.user_code);
  expect(question.body).toContain("<strong>any tool</strong>");
  expect(question.body).toContain("the scope run, read");
  await submit({ ticket: readTicket(question.body), decision: "approve" });
  const token = await pollDeviceAuthorizationGrant(client, { ...begun, interval: 0 });
  expect(token.scope).toBe("run read");
  const verified = await here.identity.verifyToken(token.access_token);
  expect(new Set(verified?.scopes)).toEqual(new Set(["read", "run"]));
});

test.each([
  ["a field twice", "client_id=a&client_id=b", "invalid_request"],
  ["a field that there is not", "client_id=a&decision=approved", "invalid_request"],
  ["a scope that is none", "scope=everything", "invalid_scope"],
])("a form with %s begins nothing, and is refused as OAuth has it", async (_what, payload, error) => {
  const headers = { "content-type": FORM, ...nextClient() };
  const answer = await here.api.inject({ method: "POST", url: "/api/device/code", headers, payload });
  expect([answer.statusCode, answer.json()]).toMatchObject([400, { error }]);
});

test.each([
  ["a field twice", "client_id=a&client_id=b", FORM, "invalid_request"],
  ["no code", "client_id=a", FORM, "invalid_request"],
  ["broken JSON", "{", JSON_TYPE, "invalid_request"],
  ["another media type", "device_code=x", "text/plain", "invalid_request"],
  ["another grant", "device_code=x&grant_type=password", FORM, "unsupported_grant_type"],
])("a question with %s is refused as OAuth has it", async (_what, payload, type, error) => {
  const headers = { "content-type": type, ...nextClient() };
  const answer = await here.api.inject({ method: "POST", url: "/api/device/token", headers, payload });
  expect(answer.json()).toMatchObject({ error, detail: expect.any(String) });
});

test("one client that asks too often, whatever it asks about, is told to slow down", async () => {
  const headers = { "x-forwarded-for": "203.0.113.78" };
  const request = {
    method: "POST",
    url: "/api/device/token",
    headers,
    payload: { device_code: "x" },
  } as const;
  const answers = await Promise.all(Array.from({ length: 250 }, () => here.api.inject(request)));
  const errors = answers.map((answer) => answer.json<{ error: string }>().error);
  expect(errors.filter((error) => error === "expired_token").length).toBeGreaterThanOrEqual(80);
  expect(answers[errors.indexOf("slow_down")]?.headers["retry-after"]).toBe("1");
});

test("other operations take no forms: a page of another site could send them", async () => {
  const headers = { "content-type": FORM, ...OWN };
  const answer = await here.api.inject({ method: "POST", url: "/api/session", headers, payload: "email=a" });
  expect(answer.statusCode).toBe(415);
});

test("the token that is handed out stands in the audit log of its user, and is not handed out where it cannot", async () => {
  const begun = await begin();
  await submit({ ticket: readTicket((await signIn(begun.user_code)).body), decision: "approve" });
  await home.database.query({ text: "alter function append_audit_entry rename to hidden" });
  expect((await ask(begun)).statusCode).toBe(500);
  await home.database.query({ text: "alter function hidden rename to append_audit_entry" });
  expect((await ask(begun)).statusCode).toBe(200);
  const [token] = await here.identity.listPersonalAccessTokens(user.userId, { limit: 1, offset: 0 });
  const events = await here.api.inject({
    method: "GET",
    url: "/api/audit-events?action=device-login.finish",
    headers: { authorization: `Bearer ${user.token}` },
  });
  expect(events.json()).toMatchObject({
    items: [{ actor: { kind: "user", id: user.userId }, target: { id: token?.id }, outcome: "done" }],
  });
});

test("of many that ask for a confirmed login at once one gets the token", async () => {
  const begun = await begin();
  await submit({ ticket: readTicket((await signIn(begun.user_code)).body), decision: "approve" });
  await home.database.query({ text: "update device_login set interval_seconds = 0" });
  const answers = await Promise.all(Array.from({ length: 8 }, () => askSoon(begun)));
  expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1);
});

test("a refused login gives no token, whatever is sent later", async () => {
  const begun = await begin();
  const ticket = readTicket((await signIn(begun.user_code)).body);
  expect((await submit({ ticket, decision: "deny" })).body).toContain("was refused");
  expect((await submit({ ticket, decision: "approve" })).statusCode).toBe(400);
  expect((await ask(begun)).json()).toMatchObject({ code: "ACCESS_DENIED" });
});

test("who asks too soon is told to slow down, and waits longer each time", async () => {
  const begun = await begin();
  expect((await askSoon(begun)).json()).toMatchObject({ code: "AUTHORIZATION_PENDING" });
  expect((await askSoon(begun)).json()).toMatchObject({ code: "SLOW_DOWN" });
  await home.database.query({ text: "update device_login set asked_at = now() - interval '6 seconds'" });
  expect((await askSoon(begun)).json()).toMatchObject({ code: "SLOW_DOWN" });
});

test("an expired login cannot be confirmed, and gives no token if it was", async () => {
  const [late, confirmed, open] = [await begin(), await begin(), await begin()];
  const question = await signIn(open.user_code);
  await submit({ ticket: readTicket((await signIn(confirmed.user_code)).body), decision: "approve" });
  await expire();
  expect((await signIn(late.user_code)).statusCode).toBe(400);
  expect((await submit({ ticket: readTicket(question.body), decision: "approve" })).statusCode).toBe(400);
  for (const begun of [late, confirmed, open])
    expect((await ask(begun)).json()).toMatchObject({ code: "EXPIRED_TOKEN" });
});

test("a user who was disabled after confirming gets no token", async () => {
  const begun = await begin();
  await submit({ ticket: readTicket((await signIn(begun.user_code)).body), decision: "approve" });
  await home.database.query({
    text: "update platform_user set disabled_at = now() where id = $1",
    values: [user.userId],
  });
  expect((await ask(begun)).json()).toMatchObject({ code: "EXPIRED_TOKEN" });
});

test("unknown codes, of either kind, are told from nothing", async () => {
  expect((await ask({ device_code: "x" })).json()).toMatchObject({ code: "EXPIRED_TOKEN" });
  expect((await signIn("BCDF-GHJK")).body).toContain("This code is not known");
  expect((await submit({ ticket: "x", decision: "approve" })).statusCode).toBe(400);
});

test("a wrong password confirms nothing, and says nothing about the code", async () => {
  const begun = await begin();
  const wrong = { ...user, password: "wrong" };
  const [known, unknown] = [await signIn(begun.user_code, wrong), await signIn("BCDF-GHJK", wrong)];
  expect([known.statusCode, unknown.statusCode]).toEqual([401, 401]);
  expect(strip(known.body)).toBe(strip(unknown.body));
  expect(readTicket(known.body)).toBe("");
});

test("a wrong password on the page stands in the audit log of its user, and not what was typed", async () => {
  const begun = await begin();
  await signIn(begun.user_code, { ...user, password: "a guessed password" });
  await signIn(begun.user_code, { ...user, email: "nobody@example.org" });
  const events = await here.api.inject({
    method: "GET",
    url: "/api/audit-events",
    headers: { authorization: `Bearer ${user.token}` },
  });
  expect(events.json().items).toMatchObject([
    {
      actor: { kind: "claimed", id: user.userId, credential: null },
      action: "device-login.confirm",
      outcome: "refused",
      code: "INVALID_CREDENTIALS",
      ip: expect.stringMatching(/^198\.51\.100\./u),
    },
  ]);
  expect(events.body).not.toContain("a guessed password");
});

test.each([
  ["another site", { "sec-fetch-site": "cross-site" }],
  ["another port of the host", { "sec-fetch-site": "same-site" }],
  ["another origin, by a browser without Sec-Fetch-Site", { origin: "http://evil.test" }],
  ["a page that hides its origin", { origin: "null" }],
  ["nowhere", {}],
])("a form from %s is refused, also with a ticket", async (_where, headers: Record<string, string>) => {
  const begun = await begin();
  const ticket = readTicket((await signIn(begun.user_code)).body);
  expect((await submit({ ticket, decision: "approve" }, headers)).statusCode).toBe(403);
  expect((await ask(begun)).json()).toMatchObject({ code: "AUTHORIZATION_PENDING" });
  const own = await submit({ ticket, decision: "approve" }, { origin: TEST_API_URL });
  expect(own.statusCode).toBe(200);
});

test("a session's cookie decides nothing on the page", async () => {
  const begun = await begin();
  const value = await here.identity.createSession(user.userId, { userAgent: "test", ip: "192.0.2.1" });
  const cookie = `platform_session=${value}`;
  const answer = await submit({ user_code: begun.user_code, decision: "approve" }, { ...OWN, cookie });
  expect(answer.statusCode).toBe(401);
  expect((await ask(begun)).json()).toMatchObject({ code: "AUTHORIZATION_PENDING" });
});

test("who signs in later replaces who was before, so a code is confirmed by one user", async () => {
  const begun = await begin();
  const first = readTicket((await signIn(begun.user_code)).body);
  const other = await createTestUser(here);
  const second = readTicket((await signIn(begun.user_code, other)).body);
  expect((await submit({ ticket: first, decision: "approve" })).statusCode).toBe(400);
  await submit({ ticket: second, decision: "approve" });
  const { access_token: token } = (await ask(begun)).json<{ access_token: string }>();
  expect(await here.identity.verifyToken(token)).toMatchObject({ userId: other.userId });
});

test("the page shows what a program says as text, runs no script and is shown in no frame", async () => {
  const begun = await begin("<script>alert(1)</script>");
  const question = await signIn(begun.user_code);
  expect(question.body).not.toContain("<script");
  expect(question.body).toContain("&#60;script&#62;");
  const hostile = await here.api.inject({ method: "GET", url: "/device?user_code=%22%3E%3Cb%3E" });
  expect(hostile.body).not.toContain("<b>");
  for (const page of [question, hostile]) {
    expect(page.headers["content-security-policy"]).toMatch(
      /^default-src 'none'; style-src 'nonce-[^']+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/u,
    );
    expect(page.headers["cache-control"]).toBe("no-store");
  }
});

test.each(["PUT", "DELETE", "PATCH"] as const)("%s of the page is no method of it", async (method) => {
  const answer = await here.api.inject({ method, url: "/device" });
  expect([answer.statusCode, answer.headers["allow"]]).toEqual([405, "GET, POST"]);
  expect(answer.json()).toMatchObject({ code: "METHOD_NOT_ALLOWED" });
});

test("codes and tickets are stored as hashes only", async () => {
  const begun = await begin();
  const ticket = readTicket((await signIn(begun.user_code)).body);
  const rows = await home.database.query<{ text: string }>({
    text: "select row_to_json(d)::text as text from device_login d",
  });
  const stored = rows.map(({ text }) => text).join("");
  for (const secret of [begun.device_code, begun.user_code, begun.user_code.replace("-", ""), ticket])
    expect(stored).not.toContain(secret);
});

test.each([
  ["a scope of its own choice", { scopes: ["admin"] }],
  ["a user", { user_id: "00000000-0000-4000-8000-000000000000" }],
  ["a decision", { decision: "approved" }],
  ["a long name", { client_name: "x".repeat(121) }],
])("a program cannot begin with %s", async (_what, payload) => {
  const response = await here.api.inject({ method: "POST", url: "/api/device/code", payload });
  expect(response.statusCode).toBe(400);
});

test("one client begins twenty logins at once, and tries twenty forms, not more", async () => {
  const headers = { "x-forwarded-for": "203.0.113.7" };
  const url = "/api/device/code";
  const begun = await Promise.all(
    Array.from({ length: 40 }, () => here.api.inject({ method: "POST", url, headers })),
  );
  expect(begun.filter(({ statusCode }) => statusCode === 200).length).toBeLessThan(25);
  expect(begun.some(({ statusCode }) => statusCode === 429)).toBe(true);
  const forms = await Promise.all(
    Array.from({ length: 40 }, () => submit({ ticket: "guess" }, { ...OWN, ...headers })),
  );
  expect(forms.some(({ statusCode }) => statusCode === 429)).toBe(true);
});
