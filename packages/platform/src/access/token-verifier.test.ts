import { exportJWK, exportSPKI, generateKeyPair, importJWK, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { HOUR } from "@platform/engine/base/time";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { createSigningKeyStore } from "../store/signing-keys.ts";
import { deriveKey, seal } from "../secrets/seal.ts";
import { createTokenIssuer } from "./access-tokens.ts";
import { createSigningKeys, rotateSigningKey } from "./signing-keys.ts";
import type { SigningKeys } from "./signing-keys.ts";
import { createTokenVerifier } from "./token-verifier.ts";

const ISSUER = "http://gateway.test";
const SECRET = { current: "platform secret", others: [] };
const SUBJECT = { applicationId: "0193b0a0-0000-7000-8000-000000000001", keyId: "plat_key_1" };

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function claims(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    iss: ISSUER,
    aud: ISSUER,
    sub: SUBJECT.applicationId,
    client_id: SUBJECT.keyId,
    exp: Math.floor(Date.now() / 1_000) + 60,
    ...changes,
  };
}

describe("access tokens", () => {
  let home: TestDatabase;
  let keys: SigningKeys;

  beforeAll(async () => {
    home = await createTestDatabase();
    keys = createSigningKeys({ store: createSigningKeyStore(home.database), secret: SECRET });
  });
  afterAll(async () => {
    await home?.close();
  });

  const sign = async (payload: Record<string, unknown>, header: Readonly<Record<string, unknown>> = {}) => {
    const { kid, privateKey } = await keys.current();
    return await new SignJWT(payload)
      .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid, ...header })
      .sign(privateKey);
  };
  const verify = (token: string) => createTokenVerifier({ keys, issuer: ISSUER }).verify(token);

  test("are accepted as issued", async () => {
    expect(await verify(await createTokenIssuer({ keys, issuer: ISSUER })(SUBJECT))).toEqual(SUBJECT);
    expect(await verify(await sign(claims()))).toEqual(SUBJECT);
  });

  test.each([
    ["garbage", async () => "garbage"],
    ["nothing", async () => ""],
    ["three dots", async () => "..."],
    ["100 KB", async () => `${"a".repeat(34_000)}.${"b".repeat(34_000)}.${"c".repeat(34_000)}`],
    [
      "alg none",
      async () =>
        `${encode({ alg: "none", typ: "at+jwt", kid: (await keys.current()).kid })}.${encode(claims())}.`,
    ],
    ["no signature", async () => `${(await sign(claims())).split(".").slice(0, 2).join(".")}.`],
    ["an expired token", async () => sign(claims({ exp: Math.floor(Date.now() / 1_000) - 1 }))],
    ["a token without an end", async () => sign(claims({ exp: undefined }))],
    ["a token that is not valid yet", async () => sign(claims({ nbf: Math.floor(Date.now() / 1_000) + 60 }))],
    ["another issuer", async () => sign(claims({ iss: "http://elsewhere.test" }))],
    ["another audience", async () => sign(claims({ aud: "http://elsewhere.test" }))],
    ["another kind of token", async () => sign(claims(), { typ: "JWT" })],
    ["an unknown key id", async () => sign(claims(), { kid: "unknown" })],
    ["no key id", async () => sign(claims(), { kid: undefined })],
    ["no subject", async () => sign(claims({ sub: undefined }))],
    ["a client id that is no text", async () => sign(claims({ client_id: 7 }))],
  ])("are refused: %s", async (_what, make) => {
    expect(await verify(await make())).toBeNull();
  });

  test("are refused when another key signed them under our key id", async () => {
    const { kid } = await keys.current();
    const { privateKey } = await generateKeyPair("ES256");
    const forged = await new SignJWT(claims())
      .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid })
      .sign(privateKey);
    expect(await verify(forged)).toBeNull();
  });

  test("are refused when the public key was used as a shared secret (HS256)", async () => {
    const { kid } = await keys.current();
    const [jwk] = (await keys.readJwks()).keys;
    const publicKey = await importJWK(jwk ?? {}, "ES256", { extractable: true });
    if (publicKey instanceof Uint8Array) throw new Error("not a public key");
    for (const secret of [await exportSPKI(publicKey), JSON.stringify(jwk)]) {
      const forged = await new SignJWT(claims())
        .setProtectedHeader({ alg: "HS256", typ: "at+jwt", kid })
        .sign(new TextEncoder().encode(secret));
      expect(await verify(forged)).toBeNull();
    }
  });

  test("are refused when they carry the key that signed them", async () => {
    const { kid } = await keys.current();
    const pair = await generateKeyPair("ES256", { extractable: true });
    const forged = await new SignJWT(claims())
      .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid, jwk: await exportJWK(pair.publicKey) })
      .sign(pair.privateKey);
    expect(await verify(forged)).toBeNull();
  });

  test("are remembered, and forgotten when they expire", async () => {
    let time = Date.now();
    const verifier = createTokenVerifier({ keys, issuer: ISSUER, now: () => time });
    const token = await createTokenIssuer({ keys, issuer: ISSUER })(SUBJECT);
    expect(verifier.peek(token)).toBeUndefined();
    await verifier.verify(token);
    expect(verifier.peek(token)).toEqual(SUBJECT);
    time += HOUR + 1_000;
    expect(verifier.peek(token)).toBeUndefined();
    expect(await verifier.verify(token)).toBeNull();
  });

  test("are remembered up to a number, the one that was used longest ago goes first", async () => {
    const verifier = createTokenVerifier({ keys, issuer: ISSUER, maxEntries: 2 });
    const [first, second, third] = await Promise.all(
      [1, 2, 3].map((jti) => sign(claims({ jti: String(jti) }))),
    );
    await verifier.verify(first ?? "");
    await verifier.verify(second ?? "");
    verifier.peek(first ?? "");
    await verifier.verify(third ?? "");
    expect([first, second, third].map((token) => verifier.peek(token ?? "") !== undefined)).toEqual([
      true,
      false,
      true,
    ]);
  });

  test("are signed with one key by processes that start at the same moment on an empty database", async () => {
    const empty = await createTestDatabase();
    try {
      const processes = Array.from({ length: 4 }, () =>
        createSigningKeys({
          store: createSigningKeyStore(empty.connect({ maxConnections: 1 })),
          secret: SECRET,
        }),
      );
      const kids = await Promise.all(processes.map(async (keys) => (await keys.current()).kid));
      expect(new Set(kids).size).toBe(1);
    } finally {
      await empty.close();
    }
  });

  test("are accepted after a rotation by a process that knew only the old key, old ones go on, and guesses cost few queries", async () => {
    let time = Date.now();
    let queries = 0;
    const store = createSigningKeyStore(home.database);
    const counting = { ...store, list: () => ((queries += 1), store.list()) };
    const stale = createSigningKeys({ store: counting, secret: SECRET, now: () => time });
    const verifier = createTokenVerifier({ keys: stale, issuer: ISSUER });
    const old = await sign(claims());
    expect(await verifier.verify(old)).toEqual(SUBJECT);

    const pair = await generateKeyPair("ES256", { extractable: true });
    const sealed = seal(
      deriveKey(SECRET.current, "signing-keys"),
      JSON.stringify(await exportJWK(pair.privateKey)),
      "rotated",
    );
    const publicJwk = { ...(await exportJWK(pair.publicKey)) };
    await store.rotate({ kid: "rotated", publicJwk, privateJwkEncrypted: sealed }, 3_600);
    const fresh = await new SignJWT(claims())
      .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid: "rotated" })
      .sign(pair.privateKey);
    time += 2_000;
    expect(await verifier.verify(fresh)).toEqual(SUBJECT);
    expect(await createTokenVerifier({ keys: stale, issuer: ISSUER }).verify(old)).toEqual(SUBJECT);
    expect((await stale.readJwks()).keys.map(({ kid }) => kid)).toContain("rotated");
    expect((await stale.readJwks()).keys).toHaveLength(2);

    const before = queries;
    for (let guess = 0; guess < 50; guess++)
      await verifier.verify(await sign(claims(), { kid: `guess-${guess}` }));
    expect(queries - before).toBeLessThanOrEqual(1);
  });

  test("are judged by keys that are read anew by no time of day", async () => {
    let queries = 0;
    const store = createSigningKeyStore(home.database);
    const counting = { ...store, list: () => ((queries += 1), store.list()) };
    vi.setSystemTime(Date.now());
    try {
      const keys = createSigningKeys({ store: counting, secret: SECRET });
      const { kid } = await keys.current();
      vi.setSystemTime(Date.now() + HOUR);
      expect(keys.isTrusted(kid)).toBe(true);
      await keys.current();
    } finally {
      vi.useRealTimers();
    }
    expect(queries).toBe(1);
  });

  test("are refused within seconds once their key is retired, though they were verified before and no notification came", async () => {
    const empty = await createTestDatabase();
    try {
      let time = Date.now();
      const store = createSigningKeyStore(empty.database);
      const here = createSigningKeys({ store, secret: SECRET, now: () => time });
      const verifier = createTokenVerifier({ keys: here, issuer: ISSUER });
      const issue = createTokenIssuer({ keys: here, issuer: ISSUER });
      const old = await issue(SUBJECT);
      expect(await verifier.verify(old)).toEqual(SUBJECT);
      expect(verifier.peek(old)).toEqual(SUBJECT);
      expect(await rotateSigningKey(store, SECRET, "now")).toHaveLength(1);
      time += 5_000;
      expect(verifier.peek(old)).toBeUndefined();
      expect(await verifier.verify(old)).toBeNull();
      expect(await verifier.verify(await issue(SUBJECT))).toEqual(SUBJECT);
      expect((await here.readJwks()).keys).toHaveLength(1);
    } finally {
      await empty.close();
    }
  });

  test("cannot be signed with a platform secret other than the one of the stored key", async () => {
    await keys.current();
    const other = createSigningKeys({
      store: createSigningKeyStore(home.database),
      secret: { current: "another secret", others: [] },
    });
    await expect(other.current()).rejects.toThrow("secret");
  });
});
