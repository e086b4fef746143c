import { SECOND } from "@platform/engine/base/time";
import { describe, expect, test } from "vitest";
import { COOKIE, PROOF, getMe, send } from "../testing/browser.ts";
import { useBrowser } from "../testing/browser-scene.ts";
import { createTestUser } from "../testing/fixtures.ts";
import { createSessionCookie } from "./session-cookie.ts";

const scene = useBrowser();
const { signIn, startSession } = scene;

/** A client's address, as the proxy on this host says it. */
const at = (address: string) => ({ headers: { ...PROOF, "x-forwarded-for": address } });

const HERE = at("203.0.113.7");

function waitOut() {
  return scene.home.database.query({
    text: "update sign_in_attempt set blocked_until = now() - interval '1 second'",
  });
}

describe("signing in", () => {
  test("answers the user and sets a cookie that scripts cannot read, of which only the hash is stored", async () => {
    const response = await signIn(`  ${scene.user.email.toUpperCase()}`);
    expect(response.statusCode).toBe(200);
    expect(response.json()).toMatchObject({
      id: scene.user.userId,
      email: scene.user.email,
      operator: false,
      organization: { id: scene.user.organisationId, role: "owner", isPersonal: true },
      organizations: [{ id: scene.user.organisationId }],
    });
    expect(response.headers["cache-control"]).toBe("no-store");
    const [, value = ""] = COOKIE.exec(String(response.headers["set-cookie"])) ?? [];
    expect((await getMe(scene.here, `other=1; platform_session=${value}`)).json()).toEqual(response.json());
    const [row] = await scene.home.database.query<{ text: string }>({
      text: "select row_to_json(s)::text as text from session s where user_id = $1",
      values: [scene.user.userId],
    });
    expect(row?.text).toContain("Test/1.0");
    expect(row?.text).not.toContain(value);
  });

  test("over https the cookie is bound to this host and never sent without encryption", async () => {
    const cookie = createSessionCookie("https://platform.example.org");
    expect(cookie.write("v")).toBe(
      "__Host-platform_session=v; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure",
    );
    expect(cookie.read({ cookie: "platform_session=a; __Host-platform_session=b" })).toBe("b");
  });

  test("says nothing about which part was wrong", async () => {
    const wrong = await signIn(scene.user.email, { password: "not the password" });
    const unknown = await signIn("nobody@example.org");
    expect([wrong.statusCode, unknown.statusCode]).toEqual([401, 401]);
    expect(wrong.json()).toMatchObject({ code: "INVALID_CREDENTIALS" });
    expect(unknown.body).toBe(wrong.body);
    expect(wrong.headers["set-cookie"]).toBeUndefined();
  });

  test("a disabled user is unknown, and their sessions and tokens end", async () => {
    const cookie = await startSession();
    await scene.home.database.query({
      text: "update platform_user set disabled_at = now() where id = $1",
      values: [scene.user.userId],
    });
    expect((await signIn(scene.user.email)).json()).toMatchObject({ code: "INVALID_CREDENTIALS" });
    for (const headers of [{ ...PROOF, cookie }, { "x-auth-token": scene.user.token }])
      expect((await send(scene.here, "GET", "/services", { headers })).statusCode).toBe(401);
  });

  test("makes a session of its own: what the cookie held before is not adopted, and ends", async () => {
    const planted = "A".repeat(43);
    const first = await signIn(scene.user.email, {
      headers: { ...PROOF, cookie: `platform_session=${planted}` },
    });
    const [, value = ""] = COOKIE.exec(String(first.headers["set-cookie"])) ?? [];
    expect(value).not.toBe(planted);
    expect((await getMe(scene.here, `platform_session=${planted}`)).statusCode).toBe(401);
    const cookie = `platform_session=${value}`;
    const second = await signIn(scene.user.email, { headers: { ...PROOF, cookie } });
    expect(second.headers["set-cookie"]).not.toContain(value);
    expect((await getMe(scene.here, cookie)).statusCode).toBe(401);
  });

  test("stores a new hash of the password where that is of an earlier release, and goes on working", async () => {
    const former =
      "743103a4d6773ed250eca5c4f29220df:525d651b8157bc5b12e345371e0a723b696b9a4d9da6127e5cd03cfbd8bd7a6aade780df19049ffca926255394e0f8957c3d5810b8be04414a41c74eb362db16";
    await scene.home.database.query({
      text: "update platform_user set password_hash = $2 where id = $1",
      values: [scene.user.userId, former],
    });
    const password = "correct horse battery";
    const both = await Promise.all([
      signIn(scene.user.email, { password }),
      signIn(scene.user.email, { password }),
    ]);
    expect(both.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    const [row] = await scene.home.database.query<{ hash: string }>({
      text: "select password_hash as hash from platform_user where id = $1",
      values: [scene.user.userId],
    });
    expect(row?.hash).toMatch(/^\$scrypt\$/u);
    expect((await signIn(scene.user.email, { password })).statusCode).toBe(200);
  });
});

/** What is left at least of a wait that began after that moment. */
const leftOf = (seconds: number, since: number) => Math.floor(seconds - (performance.now() - since) / SECOND);

describe("guessing", () => {
  test("is refused after five tries, with the time to wait, also at another process and with the right password", async () => {
    let since = 0;
    for (let tries = 0; tries < 5; tries++) {
      since = performance.now();
      expect(
        (
          await signIn(scene.user.email, {
            ...HERE,
            password: "guess",
            instance: tries % 2 === 0 ? scene.here : scene.there,
          })
        ).statusCode,
      ).toBe(401);
    }
    for (const instance of [scene.here, scene.there]) {
      const refused = await signIn(scene.user.email, { ...HERE, instance });
      expect([refused.statusCode, refused.json()]).toMatchObject([429, { code: "RATE_LIMITED" }]);
      expect(Number(refused.headers["retry-after"])).toBeGreaterThanOrEqual(leftOf(15, since));
      expect(Number(refused.headers["retry-after"])).toBeLessThanOrEqual(15);
    }
    const other = await createTestUser(scene.here);
    expect((await signIn(other.email, { ...HERE, password: other.password })).statusCode).toBe(200);
    expect((await signIn(scene.user.email)).statusCode).toBe(200);
  });

  test("waits twice as long with each further try, and a success forgets all", async () => {
    for (let tries = 0; tries < 5; tries++) await signIn(scene.user.email, { ...HERE, password: "guess" });
    for (const seconds of [30, 60, 120]) {
      await waitOut();
      const since = performance.now();
      expect((await signIn(scene.user.email, { ...HERE, password: "guess" })).statusCode).toBe(401);
      const refused = await signIn(scene.user.email, HERE);
      expect(Number(refused.headers["retry-after"])).toBeGreaterThanOrEqual(leftOf(seconds, since));
      expect(Number(refused.headers["retry-after"])).toBeLessThanOrEqual(seconds);
    }
    await waitOut();
    expect((await signIn(scene.user.email, HERE)).statusCode).toBe(200);
    expect((await signIn(scene.user.email, { ...HERE, password: "guess" })).statusCode).toBe(401);
  });

  test("in parallel gets no more tries", async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        signIn(scene.user.email, {
          ...HERE,
          password: "guess",
          instance: index % 2 === 0 ? scene.here : scene.there,
        }),
      ),
    );
    expect(answers.filter(({ statusCode }) => statusCode === 401)).toHaveLength(5);
    expect(answers.filter(({ statusCode }) => statusCode === 429)).toHaveLength(7);
  });

  test("of an address that no user has is refused in the same way", async () => {
    for (let tries = 0; tries < 5; tries++) await signIn("unknown@example.org", HERE);
    expect((await signIn("unknown@example.org", HERE)).statusCode).toBe(429);
  });

  test("many accounts from one network is refused there, but for who has signed in there before", async () => {
    const client = at("2001:db8:1:2::1");
    expect((await signIn(scene.user.email, client)).statusCode).toBe(200);
    const other = await createTestUser(scene.here);
    await scene.home.database.query({
      text: "update start_bucket set level = 0 where subject ^@ 'sign-in:'",
    });
    // Another address of the same network is the same client; the first entry is what the client claims.
    for (const address of ["2001:db8:1:2:ffff::9", "203.0.113.9, 2001:db8:1:2::3"])
      expect((await signIn(other.email, { ...at(address), password: other.password })).statusCode).toBe(429);
    expect((await signIn(scene.user.email, client)).statusCode).toBe(200);
    expect((await signIn(other.email, { password: other.password })).statusCode).toBe(200);
  });

  test("the current password, to change it, counts as well", async () => {
    const headers = { ...PROOF, cookie: await startSession() };
    const change = (currentPassword: string) =>
      send(scene.here, "PUT", "/me/password", {
        headers,
        payload: { currentPassword, newPassword: "a new long password" },
      });
    for (let tries = 0; tries < 5; tries++)
      expect((await change("guess")).json()).toMatchObject({
        code: "INVALID_INPUT",
        errors: [{ path: "/currentPassword" }],
      });
    expect((await change(scene.user.password)).statusCode).toBe(429);
  });
});
