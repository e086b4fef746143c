import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { SECOND, MINUTE, DAY } from "@platform/engine/base/time";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { createTestMember, createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { createDatabase } from "../postgres/database.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createIdentity } from "./identity.ts";

function getMe(instance: TestInstance, headers: Readonly<Record<string, string>>) {
  return instance.api.inject({ method: "GET", url: "/api/me", headers });
}

describe("bootstrap", () => {
  test("makes the first user, organisation and token on an empty database once, also when processes race", async () => {
    const home = await createTestDatabase();
    const instances = await Promise.all([
      createTestInstance({ database: home.connect() }),
      createTestInstance({ database: home.connect() }),
    ]);
    try {
      const results = await Promise.all(instances.map(({ identity }) => identity.bootstrap()));
      const made = results.filter((result) => result !== null);
      expect(made).toHaveLength(1);
      expect(await instances[0]?.identity.bootstrap({ email: "second@example.org" })).toBeNull();
      const me = await instances[0]?.api.inject({
        method: "GET",
        url: "/api/me",
        headers: { "x-auth-token": made[0]?.personalAccessToken ?? "" },
      });
      expect(me?.json()).toMatchObject({
        email: made[0]?.email,
        name: "Administrator",
        operator: true,
        organization: { id: made[0]?.organizationId, name: "Platform", role: "owner", isPersonal: true },
      });
      const [users] = await home.database.query<{ count: number }>({
        text: "select count(*)::int as count from platform_user",
      });
      expect(users?.count).toBe(1);
    } finally {
      await Promise.all(instances.map((instance) => instance.close()));
      await home.close();
    }
  });
});

describe("a personal access token", () => {
  let home: TestDatabase;
  let here: TestInstance;
  let there: TestInstance;
  let user: TestUser;

  beforeAll(async () => {
    home = await createTestDatabase();
    here = await createTestInstance({ database: home.database });
    there = await createTestInstance({ database: home.connect() });
    user = await createTestUser(here);
  });
  afterAll(async () => {
    await here?.close();
    await there?.close();
    await home?.close();
  });

  test("is taken as a bearer token and as X-Auth-Token, and as both when they are the same", async () => {
    const bearer = { authorization: `Bearer ${user.token}` };
    const plain = { "x-auth-token": user.token };
    for (const headers of [bearer, plain, { ...bearer, ...plain }]) {
      expect((await getMe(here, headers)).statusCode).toBe(200);
    }
    const other = await createTestUser(here);
    const different = await getMe(here, { ...bearer, "x-auth-token": other.token });
    expect(different.statusCode).toBe(401);
  });

  test.each([
    ["garbage", () => "garbage"],
    ["a made-up token", () => `plat_pat_${"x".repeat(64)}`],
    ["a token with a null character", () => "plat_pat_\0"],
    ["a token with something behind", () => `${user.token}x`],
    ["a very long one", () => `plat_pat_${"x".repeat(10_000)}`],
    ["an access token's shape", () => "a.b.c"],
  ])("is refused when it is %s", async (_what, tokenOf) => {
    const response = await getMe(here, { "x-auth-token": tokenOf() });
    expect(response.statusCode).toBe(401);
    expect(response.json()).toMatchObject({ code: "UNAUTHENTICATED" });
  });

  test("makes none that lives longer than itself or opens more", async () => {
    const own = await here.identity.createPersonalAccessToken(user.userId, {
      name: "a day",
      scopes: ["admin"],
      expiresInDays: 1,
    });
    const create = (payload: object, { token } = own) =>
      here.api.inject({
        method: "POST",
        url: "/api/personal-access-tokens",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        payload,
      });
    for (const wish of [{}, { expiresInDays: 3650 }]) {
      const { id }: { id: string } = (await create({ name: "offspring", ...wish })).json();
      const listed = await here.identity.listPersonalAccessTokens(user.userId, { limit: 10, offset: 0 });
      const made = listed.find((token) => token.id === id);
      expect(made?.expiresAt).toBeLessThanOrEqual(own.expiresAt ?? 0);
      expect(made?.expiresAt).toBeGreaterThan((own.expiresAt ?? 0) - MINUTE);
    }
    const narrow = await here.identity.createPersonalAccessToken(user.userId, {
      name: "narrow",
      scopes: ["deploy", "quantum"],
    });
    const wider = await create({ name: "wider", scopes: ["admin"] }, narrow);
    expect([wider.statusCode, wider.json()]).toMatchObject([403, { code: "FORBIDDEN" }]);
  });

  test("makes one for the quantum API alone, which opens less: that of a login has no such scope", async () => {
    const login = await here.identity.createPersonalAccessToken(user.userId, {
      name: "the CLI",
      scopes: ["admin"],
    });
    const made = await here.api.inject({
      method: "POST",
      url: "/api/personal-access-tokens",
      headers: { authorization: `Bearer ${login.token}`, "content-type": "application/json" },
      payload: { name: "laptop", scopes: ["quantum"] },
    });
    expect([made.statusCode, made.json()]).toMatchObject([201, { scopes: ["quantum"] }]);
  });

  test("only reads unless its maker says more", async () => {
    const created = await here.api.inject({
      method: "POST",
      url: "/api/personal-access-tokens",
      headers: { authorization: `Bearer ${user.token}`, "content-type": "application/json" },
      payload: { name: "dashboard" },
    });
    expect([created.statusCode, created.json()]).toMatchObject([201, { scopes: ["read"] }]);
  });

  test("is shown once, stored hashed, listed without its value, and expires", async () => {
    const both = await here.identity.createPersonalAccessToken(user.userId, {
      name: "both",
      scopes: ["admin", "quantum"],
    });
    const headers = { authorization: `Bearer ${both.token}`, "content-type": "application/json" };
    const created = await here.api.inject({
      method: "POST",
      url: "/api/personal-access-tokens",
      headers,
      payload: { name: "laptop", scopes: ["admin", "quantum"], expiresInDays: 1 },
    });
    expect(created.statusCode).toBe(201);
    const { id, token }: { id: string; token: string } = created.json();
    const listed = await here.api.inject({ method: "GET", url: "/api/personal-access-tokens", headers });
    expect(listed.json().items[0]).toMatchObject({ id, name: "laptop", scopes: ["admin", "quantum"] });
    expect(listed.body).not.toContain(token);
    const rows = await home.database.query<{ text: string }>({
      text: "select row_to_json(k)::text as text from personal_access_token k",
    });
    expect(rows.filter((row) => row.text.includes(token))).toEqual([]);

    const [stored] = await here.identity.listPersonalAccessTokens(user.userId, { limit: 1, offset: 0 });
    expect(Math.abs((stored?.expiresAt ?? 0) - Date.now() - DAY)).toBeLessThan(60 * SECOND);
    await home.database.query({
      text: "update personal_access_token set expires_at = now() - interval '1 second' where id = $1",
      values: [id],
    });
    expect(await here.identity.verifyToken(token)).toBeNull();
  });

  test("without the scope api does not open the platform API", async () => {
    const { token } = await here.identity.createPersonalAccessToken(user.userId, {
      name: "sdk",
      scopes: ["quantum"],
    });
    expect((await getMe(here, { "x-auth-token": token })).json()).toMatchObject({ code: "FORBIDDEN" });
  });

  test("stops working at once where it was revoked, and within seconds everywhere", async () => {
    const { id, token } = await here.identity.createPersonalAccessToken(user.userId, {
      name: "lost",
      scopes: ["admin"],
    });
    const headers = { "x-auth-token": token };
    expect((await getMe(here, headers)).statusCode).toBe(200);
    expect((await getMe(there, headers)).statusCode).toBe(200);
    const revoked = await here.api.inject({
      method: "DELETE",
      url: `/api/personal-access-tokens/${id}`,
      headers,
    });
    expect(revoked.statusCode).toBe(204);
    expect((await getMe(here, headers)).statusCode).toBe(401);
    await waitUntil(async () => (await getMe(there, headers)).statusCode === 401);
  });

  test("costs the database nothing while it is remembered, and is not limited in number of uses", async () => {
    const { token } = await here.identity.createPersonalAccessToken(user.userId, { name: "busy" });
    const readWrites = async () =>
      await home.database.query({
        text: "select id, xmin::text as writer from personal_access_token order by id",
      });
    await here.identity.verifyToken(token);
    const before = await readWrites();
    const answers = [];
    for (let use = 0; use < 50; use++) answers.push(await here.identity.verifyToken(token));
    expect(answers.every((answer) => answer?.userId === user.userId)).toBe(true);
    expect(await readWrites()).toEqual(before);
    let time = 0;
    const forgetful = createIdentity({ database: home.database, elapsed: () => (time += 60 * SECOND) });
    for (let use = 0; use < 15; use++) expect(await forgetful.verifyToken(token)).not.toBeNull();
  });

  test("is not called invalid when the database cannot answer", async () => {
    const { token } = await here.identity.createPersonalAccessToken(user.userId, { name: "outage" });
    const broken = home.connect();
    const identity = createIdentity({ database: broken });
    await broken.pool.query("alter table personal_access_token rename to token_away");
    try {
      await expect(identity.verifyToken(token)).rejects.toThrow("personal_access_token");
    } finally {
      await broken.pool.query("alter table token_away rename to personal_access_token");
    }
    expect(await identity.verifyToken(token)).toMatchObject({ userId: user.userId });
  });

  test("is met with UNAVAILABLE while the database is away", async () => {
    const { logger } = home;
    const connection = { host: "/nonexistent", port: 5432, user: "platform", database: "none" };
    const away = createDatabase(connection, { logger, retryMilliseconds: 50 });
    const identity = createIdentity({ database: away });
    await expect(identity.verifyToken(user.token)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(identity.createPersonalAccessToken(user.userId, { name: "x" })).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
    await away.close();
  });

  test("is not called invalid when the database fails in the middle of the check", async () => {
    const { token } = await here.identity.createPersonalAccessToken(user.userId, { name: "half" });
    await home.database.query({
      text: "create function refuse() returns trigger language plpgsql as 'begin raise exception ''no writes''; end'",
    });
    await home.database.query({
      text: "create trigger refuse before update on personal_access_token execute function refuse()",
    });
    try {
      await expect(here.identity.verifyToken(token)).rejects.toThrow("no writes");
    } finally {
      await home.database.query({ text: "drop function refuse cascade" });
    }
    expect(await here.identity.verifyToken(token)).toMatchObject({ userId: user.userId });
  });

  test("leads to the user's own organisation, or to the one that X-OrganizationId names", async () => {
    const headers = { "x-auth-token": user.token };
    expect((await getMe(here, headers)).json().organization).toMatchObject({
      id: user.organisationId,
      isPersonal: true,
    });
    const friend = await createTestUser(here);
    await here.identity.addMember(friend.organisationId, user.userId, "viewer");
    const chosen = await getMe(here, { ...headers, "x-organizationid": friend.organisationId });
    expect(chosen.json().organization).toEqual({
      id: friend.organisationId,
      slug: expect.stringMatching(/^somebody-[0-9a-f]{8}$/u),
      name: "Somebody",
      role: "viewer",
      isPersonal: false,
    });
    const all = await here.api.inject({ method: "GET", url: "/api/organizations?limit=1", headers });
    expect(all.json()).toMatchObject({ items: [{ id: user.organisationId }], nextCursor: "1" });
    const rest = await here.api.inject({
      method: "GET",
      url: "/api/organizations?limit=1&cursor=1",
      headers,
    });
    expect(rest.json()).toMatchObject({ items: [{ id: friend.organisationId }], nextCursor: null });
  });

  const list = (query: string) =>
    here.api.inject({
      method: "GET",
      url: `/api/personal-access-tokens?${query}`,
      headers: { "x-auth-token": user.token },
    });

  test.each([
    "limit=0",
    "limit=101",
    "limit=x",
    "limit=-1",
    "limit=1.0",
    "limit=1e1",
    "limit=",
    "limit=1&limit=2",
  ])("meets a list with %s with INVALID_INPUT and the field's path", async (query) => {
    const { statusCode, body } = await list(query);
    expect([statusCode, JSON.parse(body)]).toMatchObject([
      400,
      { code: "INVALID_INPUT", errors: [{ path: "/limit" }] },
    ]);
  });

  test.each(["cursor=x", "cursor=-1"])("meets a list with %s with INVALID_INPUT", async (query) => {
    expect((await list(query)).json()).toMatchObject({ code: "INVALID_INPUT" });
  });

  test.each(["", "limit=1", "limit=100", "limit=007"])("answers a list with %s", async (query) => {
    expect((await list(query)).statusCode).toBe(200);
  });

  test("cannot belong to a second user of the same address", async () => {
    const email = `${randomUUID()}@example.org`;
    const identity = here.identity;
    await identity.createUser({ email, name: "First", password: "long enough" });
    await expect(
      identity.createUser({ email: email.toUpperCase(), name: "Second", password: "long enough" }),
    ).rejects.toMatchObject({ code: "CONFLICT" });
  });

  test("of somebody who joined acts with the role of the membership", async () => {
    const member = await createTestMember(here, user.organisationId, "viewer");
    const response = await here.api.inject({
      method: "POST",
      url: "/api/services",
      headers: {
        "x-auth-token": member.token,
        "x-organizationid": user.organisationId,
        "content-type": "application/json",
      },
      payload: { name: "nope" },
    });
    expect(response.statusCode).toBe(403);
  });

  test("meets null characters and broken bodies with 4xx", async () => {
    const headers = { "x-auth-token": user.token, "content-type": "application/json" };
    for (const payload of [
      '{"name":"a\\u0000b"}',
      '{"name":"\\ud800"}',
      "[]",
      "null",
      '{"name":7}',
      "{",
      '{"name":"x","more":1}',
      '{"__proto__":{"name":"x"}}',
    ]) {
      const response = await here.api.inject({ method: "POST", url: "/api/applications", headers, payload });
      expect([201, 400]).toContain(response.statusCode);
    }
    const half = {
      method: "POST",
      url: "/api/applications",
      headers,
      payload: '{"name":"a\\ud83d"}',
    } as const;
    expect((await here.api.inject(half)).json()).toMatchObject({
      code: "INVALID_INPUT",
      detail: expect.stringContaining("half a character"),
    });
    expect((await here.api.inject({ ...half, payload: '{"name":"a\\ud83d\\ude00"}' })).statusCode).toBe(201);
    const query = await here.api.inject({ method: "GET", url: "/api/services?name=%00", headers });
    expect(query.statusCode).toBe(400);
  });
});
