import { describe, expect, test } from "vitest";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { createIdentity } from "../accounts/identity.ts";
import { PROOF, getMe, send } from "../testing/browser.ts";
import { useBrowser } from "../testing/browser-scene.ts";
import { createTestUser } from "../testing/fixtures.ts";

const scene = useBrowser();
const { signIn, startSession } = scene;

/** In how many days the user's session ends. */
async function readDays() {
  const [row] = await scene.home.database.query<{ days: number }>({
    text: "select round(extract(epoch from expires_at - now()) / 86400)::int as days from session where user_id = $1",
    values: [scene.user.userId],
  });
  return row?.days;
}

/** As if the session was so many days old, and not used for an hour. */
function age(days: number) {
  return scene.home.database.query({
    text: `update session set created_at = now() - make_interval(days => $2), last_seen_at = now() - interval '1 hour',
      expires_at = now() + interval '1 day' where user_id = $1`,
    values: [scene.user.userId, days],
  });
}

describe("a session", () => {
  test("costs no query while it is remembered", async () => {
    const cookie = await startSession();
    const value = cookie.split("=")[1] ?? "";
    // It hears of no change, and its clock stands still: it forgets nothing.
    const identity = createIdentity({ database: scene.home.database, elapsed: () => 0 });
    await identity.verifySession(value);
    await scene.home.database.query({ text: "alter table session rename to session_away" });
    try {
      for (let use = 0; use < 20; use++)
        expect(await identity.verifySession(value)).toMatchObject({ userId: scene.user.userId });
    } finally {
      await scene.home.database.query({ text: "alter table session_away rename to session" });
    }
  });

  test("ends at once where one signs out, and within a second everywhere", async () => {
    const cookie = await startSession();
    await waitUntil(async () => (await getMe(scene.there, cookie)).statusCode === 200);
    const out = await send(scene.here, "DELETE", "/session", { headers: { ...PROOF, cookie } });
    expect(out.statusCode).toBe(204);
    expect(out.headers["set-cookie"]).toBe("platform_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
    expect((await getMe(scene.here, cookie)).json()).toMatchObject({ code: "UNAUTHENTICATED" });
    await waitUntil(async () => (await getMe(scene.there, cookie)).statusCode === 401);
  });

  test("does nothing for a page of another user, and what it answers is in no cache of the browser", async () => {
    const cookie = await startSession();
    const { userId } = scene.user;
    const { userId: other } = await createTestUser(scene.here);
    const own = await getMe(scene.here, cookie, { ...PROOF, "x-userid": userId });
    expect([own.statusCode, own.headers["cache-control"]]).toEqual([200, "no-store"]);
    const refused = await getMe(scene.here, cookie, { ...PROOF, "x-userid": other });
    expect(refused.statusCode).toBe(401);
    expect(refused.json()).toMatchObject({
      code: "UNAUTHENTICATED",
      detail: expect.stringContaining("Another user"),
    });
    const headers = { ...PROOF, cookie, "x-userid": other };
    expect((await send(scene.here, "DELETE", "/session", { headers })).statusCode).toBe(401);
    expect((await getMe(scene.here, cookie)).statusCode).toBe(200);
  });

  test("is listed with the others, and each can be ended, but none of another user", async () => {
    const [first, second] = [await startSession(), await startSession()];
    const headers = { ...PROOF, cookie: second };
    const listed = await send(scene.here, "GET", "/sessions", { headers });
    const items: { id: string; current: boolean }[] = listed.json().items;
    expect(items).toMatchObject([
      { current: true, device: "Test/1.0", ip: expect.stringMatching(/^198\.51\.100\./u) },
      { current: false },
    ]);
    const [, old] = items;
    const stranger = await createTestUser(scene.here);
    const foreign = await send(scene.here, "DELETE", `/sessions/${old?.id}`, {
      headers: { "x-auth-token": stranger.token },
    });
    expect(foreign.json()).toMatchObject({ code: "NOT_FOUND" });
    expect((await getMe(scene.here, first)).statusCode).toBe(200);
    expect((await send(scene.here, "DELETE", `/sessions/${old?.id}`, { headers })).statusCode).toBe(204);
    expect((await getMe(scene.here, first)).statusCode).toBe(401);
    expect((await getMe(scene.here, second)).statusCode).toBe(200);
  });

  test.each([
    ["has not been used for a week", "expires_at = now() - interval '1 second'"],
    ["was revoked", "revoked_at = now()"],
  ])("that %s is refused", async (_what, change) => {
    const cookie = await startSession();
    await scene.home.database.query({
      text: `update session set ${change} where user_id = $1`,
      values: [scene.user.userId],
    });
    expect((await getMe(scene.here, cookie)).statusCode).toBe(401);
  });

  test("is prolonged by use, but not beyond 30 days", async () => {
    const cookie = await startSession();
    await age(3);
    await getMe(scene.here, cookie);
    expect(await readDays()).toBe(7);
    await age(28);
    expect((await getMe(scene.there, cookie)).statusCode).toBe(200);
    expect(await readDays()).toBe(2);
  });

  test("makes tokens of any scope and life, since it is the user themselves", async () => {
    const headers = { ...PROOF, cookie: await startSession() };
    const payload = { name: "both", scopes: ["admin", "quantum"], expiresInDays: 3650 };
    const created = await send(scene.here, "POST", "/personal-access-tokens", { headers, payload });
    expect([created.statusCode, created.json()]).toMatchObject([201, { scopes: ["admin", "quantum"] }]);
  });
});

describe("a changed password", () => {
  test("opens, the former does not, and all other sessions end everywhere", async () => {
    const [mine, other] = [await startSession(), await startSession()];
    expect((await getMe(scene.there, other)).statusCode).toBe(200);
    const newPassword = "a new long password";
    const changed = await send(scene.here, "PUT", "/me/password", {
      headers: { ...PROOF, cookie: mine },
      payload: { currentPassword: scene.user.password, newPassword },
    });
    expect([changed.statusCode, changed.body]).toEqual([204, ""]);
    expect((await getMe(scene.here, mine)).statusCode).toBe(200);
    expect((await getMe(scene.here, other)).statusCode).toBe(401);
    await waitUntil(async () => (await getMe(scene.there, other)).statusCode === 401);
    expect((await signIn(scene.user.email)).statusCode).toBe(401);
    expect((await signIn(scene.user.email, { password: newPassword })).statusCode).toBe(200);
    const byToken = await send(scene.here, "GET", "/me", { headers: { "x-auth-token": scene.user.token } });
    expect(byToken.statusCode).toBe(200);
  });

  test("leaves no session of who signed in with the former one at the same time", async () => {
    const mine = await startSession();
    const former = "$scrypt$the one that was checked";
    expect(
      await scene.here.identity.createSession(scene.user.userId, { userAgent: "late", ip: "x" }, former),
    ).toBeNull();
    // The change has begun, and is committed while the session is being made.
    const client = await scene.home.database.pool.connect();
    await client.query("begin");
    const { rows } = await client.query<{ hash: string }>(
      "select password_hash as hash from platform_user where id = $1",
      [scene.user.userId],
    );
    await client.query("update platform_user set password_hash = 'another' where id = $1", [
      scene.user.userId,
    ]);
    const late = scene.here.identity.createSession(
      scene.user.userId,
      { userAgent: "late", ip: "x" },
      rows[0]?.hash,
    );
    await waitUntil(async () => {
      const waiting = await scene.home.database.query({
        text: "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      });
      return waiting.length === 1;
    });
    await client.query("commit");
    client.release();
    expect(await late).toBeNull();
    expect((await getMe(scene.here, mine)).statusCode).toBe(200);
  });

  test("has at least 12 characters", async () => {
    const headers = { ...PROOF, cookie: await startSession() };
    const payload = { currentPassword: scene.user.password, newPassword: "eleven char" };
    const refused = await send(scene.here, "PUT", "/me/password", { headers, payload });
    expect(refused.json()).toMatchObject({ code: "INVALID_INPUT", errors: [{ path: "/newPassword" }] });
  });
});

test("a user's own name can be changed, and nothing else by the same request", async () => {
  const headers = { "x-auth-token": scene.user.token };
  const changed = await send(scene.here, "PUT", "/me", { headers, payload: { name: "Ada" } });
  expect(changed.json()).toMatchObject({ id: scene.user.userId, name: "Ada", email: scene.user.email });
  for (const more of [{ operator: true }, { email: "x@example.org" }, { isOperator: true }, { id: "x" }]) {
    const refused = await send(scene.here, "PUT", "/me", { headers, payload: { name: "Eve", ...more } });
    expect(refused.json()).toMatchObject({ code: "INVALID_INPUT" });
  }
  expect((await send(scene.here, "GET", "/me", { headers })).json()).toMatchObject({
    name: "Ada",
    operator: false,
  });
});

test("anybody can read the configuration", async () => {
  const response = await send(scene.here, "GET", "/configuration");
  expect([response.statusCode, response.json()]).toEqual([
    200,
    {
      productName: "Platform",
      version: "0.0.0",
      gatewayUrl: "http://gateway.test:8080",
      signUp: "closed",
      identityProvider: null,
      publicMarketplace: false,
      mail: false,
      limits: { archiveBytes: 268_435_456, inputBytes: 1_048_576, fileBytes: 100_000 },
      kept: { resultDays: 30, logDays: 7 },
    },
  ]);
});
