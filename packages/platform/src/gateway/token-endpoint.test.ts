import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import type { JSONWebKeySet } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import {
  createTestClient,
  createTestService,
  createTestUser,
  fetchAccessToken,
} from "../testing/fixtures.ts";
import type { TestClient, TestService, TestUser } from "../testing/fixtures.ts";
import { createTestInstance, TEST_GATEWAY_URL } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";

const FORM = "application/x-www-form-urlencoded";

function basic(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`;
}

function percentEncode(text: string): string {
  return Array.from(text)
    .map((letter) => `%${letter.charCodeAt(0).toString(16)}`)
    .join("");
}

describe("the token endpoint", () => {
  let home: TestDatabase;
  let instance: TestInstance;
  let owner: TestUser;
  let service: TestService;
  let client: TestClient;

  beforeAll(async () => {
    home = await createTestDatabase();
    instance = await createTestInstance({ database: home.database });
    owner = await createTestUser(instance);
    service = await createTestService(instance, owner);
    client = await createTestClient(instance, owner, service);
  });
  afterAll(async () => {
    await instance?.close();
    await home?.close();
  });

  const post = (payload: string, headers: Readonly<Record<string, string>> = {}) =>
    instance.gateway.inject({
      method: "POST",
      url: "/token",
      headers: { "content-type": FORM, ...headers },
      payload,
    });

  /** Another key each time, from another address of one network. */
  const guess = async (number: number) => {
    const { statusCode } = await post(grant, {
      authorization: basic(`plat_key_${String(number).padStart(32, "0")}`, client.secret),
      "x-forwarded-for": `2001:db8:0:1::${number.toString(16)}`,
    });
    return statusCode;
  };

  test("gives a token for key id and secret by HTTP Basic, percent-encoded or not", async () => {
    for (const authorization of [
      basic(client.keyId, client.secret),
      basic(percentEncode(client.keyId), percentEncode(client.secret)),
      basic(client.keyId, client.secret).replace("Basic", "basic"),
    ]) {
      const response = await post("grant_type=client_credentials", { authorization });
      expect(response.statusCode).toBe(200);
      expect(response.json()).toEqual({
        access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
        token_type: "Bearer",
        expires_in: 3600,
        scope: "default",
      });
      expect(response.headers["cache-control"]).toBe("no-store");
    }
  });

  test("gives a token for key id and secret in the form", async () => {
    const response = await post(
      `grant_type=client_credentials&client_id=${client.keyId}&client_secret=${client.secret}&scope=default`,
      { "content-type": `${FORM}; charset=utf-8` },
    );
    expect(response.statusCode).toBe(200);
  });

  test("signs tokens that anybody can verify with the published keys, which hold nothing private", async () => {
    const token = await fetchAccessToken(instance, client);
    const response = await instance.gateway.inject({ method: "GET", url: "/.well-known/jwks.json" });
    const jwks: JSONWebKeySet = response.json();
    expect(jwks.keys).toHaveLength(1);
    expect(Object.keys(jwks.keys[0] ?? {}).sort()).toEqual(["alg", "crv", "kid", "kty", "use", "x", "y"]);
    const { payload } = await jwtVerify(token, createLocalJWKSet(jwks), {
      issuer: TEST_GATEWAY_URL,
      audience: TEST_GATEWAY_URL,
      typ: "at+jwt",
    });
    expect(payload).toMatchObject({ sub: client.applicationId, client_id: client.keyId, scope: "default" });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3600);
    expect(decodeProtectedHeader(token).alg).toBe("ES256");
  });

  const grant = "grant_type=client_credentials";
  const cases: readonly (readonly [
    string,
    number,
    string,
    () => string,
    () => Readonly<Record<string, string>>,
  ])[] = [
    [
      "an unknown key",
      401,
      "invalid_client",
      () => grant,
      () => ({ authorization: basic(`plat_key_${"0".repeat(32)}`, client.secret) }),
    ],
    [
      "a malformed key",
      401,
      "invalid_client",
      () => grant,
      () => ({ authorization: basic("' or 1=1", client.secret) }),
    ],
    [
      "a null character in the key",
      401,
      "invalid_client",
      () => `${grant}&client_id=%00&client_secret=x`,
      () => ({}),
    ],
    [
      "a wrong secret",
      401,
      "invalid_client",
      () => grant,
      () => ({ authorization: basic(client.keyId, `${client.secret}x`) }),
    ],
    [
      "an empty secret",
      401,
      "invalid_client",
      () => grant,
      () => ({ authorization: basic(client.keyId, "") }),
    ],
    ["no credentials", 401, "invalid_client", () => grant, () => ({})],
    [
      "half of the credentials",
      401,
      "invalid_client",
      () => `${grant}&client_id=${client.keyId}`,
      () => ({}),
    ],
    ["a bearer token", 401, "invalid_client", () => grant, () => ({ authorization: "Bearer abc" })],
    [
      "broken percent-encoding",
      401,
      "invalid_client",
      () => grant,
      () => ({ authorization: basic("%zz", "%") }),
    ],
    ["Basic that is not base64", 401, "invalid_client", () => grant, () => ({ authorization: "Basic ???" })],
    [
      "a very long secret",
      401,
      "invalid_client",
      () => `${grant}&client_id=a&client_secret=${"x".repeat(5_000)}`,
      () => ({}),
    ],
    [
      "credentials twice",
      400,
      "invalid_request",
      () => `${grant}&client_id=${client.keyId}&client_secret=${client.secret}`,
      () => ({ authorization: basic(client.keyId, client.secret) }),
    ],
    [
      "a repeated parameter",
      400,
      "invalid_request",
      () => `${grant}&${grant}`,
      () => ({ authorization: basic(client.keyId, client.secret) }),
    ],
    [
      "no grant type",
      400,
      "invalid_request",
      () => "",
      () => ({ authorization: basic(client.keyId, client.secret) }),
    ],
    [
      "another grant type",
      400,
      "unsupported_grant_type",
      () => "grant_type=password",
      () => ({ authorization: basic(client.keyId, client.secret) }),
    ],
    [
      "another scope",
      400,
      "invalid_scope",
      () => `${grant}&scope=admin`,
      () => ({ authorization: basic(client.keyId, client.secret) }),
    ],
    ["JSON", 400, "invalid_request", () => "{}", () => ({ "content-type": "application/json" })],
    [
      "a body that is too large",
      413,
      "invalid_request",
      () => `${grant}&x=${"y".repeat(20_000)}`,
      () => ({}),
    ],
  ];
  test.each(cases)("refuses %s in the form of OAuth", async (...[, status, error, payloadOf, headersOf]) => {
    const response = await post(payloadOf(), headersOf());
    expect(response.statusCode).toBe(status);
    expect(response.json()).toEqual({ error, error_description: expect.stringMatching(/\w/) });
    expect(response.headers["cache-control"]).toBe("no-store");
    const challenge = String(response.headers["www-authenticate"] ?? "none");
    expect(challenge).toMatch(status === 401 ? /^Basic / : /^none$/);
    expect(response.body).not.toContain(client.secret);
  });

  test("answers the same for an unknown key, a revoked one and a wrong secret", async () => {
    const revoked = await createTestClient(instance, owner, service);
    await instance.stores.accessKeys.revoke(owner.organisationId, revoked.applicationId, revoked.keyId);
    const answers = [];
    for (const authorization of [
      basic(`plat_key_${"0".repeat(32)}`, client.secret),
      basic(revoked.keyId, revoked.secret),
      basic(client.keyId, "wrong"),
    ]) {
      const { statusCode, body, headers } = await post(grant, { authorization });
      const { date: _date, "x-request-id": _id, ...others } = headers;
      answers.push({ statusCode, body, others });
    }
    expect(answers[0]?.statusCode).toBe(401);
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  test("takes no secret in the URL, and says that it is known now", async () => {
    const response = await instance.gateway.inject({
      method: "POST",
      url: `/token?${grant}&client_id=${client.keyId}&client_secret=${client.secret}`,
      headers: { "content-type": FORM },
      payload: `${grant}&client_id=${client.keyId}&client_secret=${client.secret}`,
    });
    expect([response.statusCode, response.json()]).toMatchObject([400, { error: "invalid_request" }]);
    expect(response.body).toContain("revoke its access key");
    expect(response.body).not.toContain(client.secret);
  });

  test("gives one client 60 tokens for a key at once, and others their own", async () => {
    const busy = await createTestClient(instance, owner, service);
    const authorization = basic(busy.keyId, busy.secret);
    const from = async (address: string) => {
      const answer = await post(grant, { authorization, "x-forwarded-for": address });
      return answer.statusCode;
    };
    const wrong = { authorization: basic(busy.keyId, "wrong"), "x-forwarded-for": "198.51.100.7" };
    const burst = Array.from({ length: 90 }, () => from("198.51.100.7"));
    // In one burst: one by one, a slow machine would have had another token each time.
    const guesses = await Promise.all(Array.from({ length: 30 }, () => post(grant, wrong)));
    const many = await Promise.all(burst);
    expect(many.filter((status) => status === 200).length).toBeGreaterThanOrEqual(60);
    expect(many).toContain(429);
    const refused = guesses.find(({ statusCode }) => statusCode === 429);
    expect([refused?.statusCode, refused?.json()]).toMatchObject([429, { error: "rate_limited" }]);
    expect(Number(refused?.headers["retry-after"])).toBeGreaterThan(0);
    expect(refused?.headers["cache-control"]).toBe("no-store");
    expect(await from("198.51.100.8")).toBe(200);
    const other = basic(client.keyId, client.secret);
    const response = await post(grant, { authorization: other, "x-forwarded-for": "198.51.100.7" });
    expect(response.statusCode).toBe(200);
  });

  test("lets one client guess no more than 600 keys at once, its whole IPv6 network together", async () => {
    const many = await Promise.all(Array.from({ length: 900 }, (_, number) => guess(number)));
    expect(many.filter((status) => status === 401).length).toBeGreaterThanOrEqual(600);
    expect(many).toContain(429);
  });

  test("notes when a key was last used, without waiting for it", async () => {
    const used = await createTestClient(instance, owner, service);
    await fetchAccessToken(instance, used);
    const readUse = async () => {
      const { applicationId } = used;
      const keys = await instance.stores.accessKeys.list(owner.organisationId, applicationId, { limit: 1 });
      return keys?.items[0]?.lastUsedAt;
    };
    await expect.poll(readUse).toBeGreaterThan(0);
  });

  test.each(["GET", "PUT", "DELETE", "PATCH"] as const)("refuses %s in the form of OAuth", async (method) => {
    const response = await instance.gateway.inject({ method, url: "/token" });
    expect(response.statusCode).toBe(405);
    expect(response.headers.allow).toBe("POST");
    expect(response.json()).toHaveProperty("error_description");
  });

  test("gives no token for a revoked key within seconds, and goes on giving them for another of the application", async () => {
    const rotating = await createTestClient(instance, owner, service);
    await fetchAccessToken(instance, rotating);
    const { keyId, secret } = (
      await instance.api.inject({
        method: "POST",
        url: `/api/applications/${rotating.applicationId}/access-keys`,
        headers: { "x-auth-token": owner.token },
      })
    ).json<{ keyId: string; secret: string }>();
    await instance.stores.accessKeys.revoke(owner.organisationId, rotating.applicationId, rotating.keyId);
    const authorization = basic(rotating.keyId, rotating.secret);
    await waitUntil(async () => (await post(grant, { authorization })).statusCode === 401);
    expect((await post(grant, { authorization: basic(keyId, secret) })).statusCode).toBe(200);
  });

  test("stores neither secrets nor the private signing key in readable form", async () => {
    const [key] = await home.database.query<{ text: string }>({
      text: "select row_to_json(k)::text as text from access_key k limit 1",
    });
    expect(key?.text).not.toContain(client.secret);
    const rows = await home.database.query<{ text: string }>({
      text: "select row_to_json(k)::text as text from signing_key k",
    });
    expect(rows).toHaveLength(1);
    expect(rows[0]?.text).not.toMatch(/"d"/);
  });
});
