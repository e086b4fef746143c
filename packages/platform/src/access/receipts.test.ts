import { afterAll, beforeAll, expect, test } from "vitest";
import { decodeProtectedHeader, jwtVerify, createLocalJWKSet } from "jose";
import type { JSONWebKeySet } from "jose";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import {
  createTestClient,
  createTestService,
  createTestUser,
  fetchAccessToken,
} from "../testing/fixtures.ts";
import type { TestClient, TestService, TestUser } from "../testing/fixtures.ts";
import { createSigningKeyStore } from "../store/signing-keys.ts";
import { TEST_GATEWAY_URL, TEST_SECRET, createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createSigningKeys, rotateSigningKey } from "./signing-keys.ts";

let home: TestDatabase;
let instance: TestInstance;
let owner: TestUser;
let service: TestService;
let client: TestClient;
let token: string;
let base: string;

beforeAll(async () => {
  home = await createTestDatabase();
  instance = await createTestInstance({ database: home.database });
  owner = await createTestUser(instance);
  service = await createTestService(instance, owner);
  client = await createTestClient(instance, owner, service);
  token = await fetchAccessToken(instance, client);
  base = `/${service.serviceKey}/${service.serviceName}/${service.version}`;
});
afterAll(async () => {
  await instance?.close();
  await home?.close();
});

const get = (url: string, bearer = token) =>
  instance.gateway.inject({ method: "GET", url, headers: { authorization: `Bearer ${bearer}` } });

async function startAndCancel(): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const started = await instance.gateway.inject({
    method: "POST",
    url: base,
    headers,
    payload: '{"data":{}}',
  });
  const { id } = started.json<{ id: string }>();
  await instance.gateway.inject({ method: "PUT", url: `${base}/${id}/cancel`, headers });
  return id;
}

const readKeys = async (path: string) => (await instance.gateway.inject({ url: path })).json<JSONWebKeySet>();
const RECEIPT_KEYS = "/.well-known/receipt-keys.json";
const options = { algorithms: ["ES256"], typ: "execution-receipt+jwt", issuer: TEST_GATEWAY_URL };

async function readReceipt(id: string): Promise<string> {
  const response = await get(`${base}/${id}/receipt`);
  expect(response.statusCode).toBe(200);
  return response.json<{ receipt: string }>().receipt;
}

test("a receipt is verified by a usual library with the published keys, and names version and input", async () => {
  const id = await startAndCancel();
  const receipt = await readReceipt(id);
  for (const path of ["/.well-known/jwks.json", RECEIPT_KEYS]) {
    const { payload } = await jwtVerify(receipt, createLocalJWKSet(await readKeys(path)), options);
    expect(payload).toMatchObject({
      executionId: id,
      serviceKey: service.serviceKey,
      service: "demo",
      version: "1.0.0",
      versionDigest: `sha256:${"0".repeat(64)}`,
      // printf '{"data":{}}' | sha256sum
      inputDigest: "sha256:7fb9d166d1a15bce0b9f085f3818946fd9297e4513a4a034a0ceb749292b4c0d",
      inputBytes: 11,
      status: "FAILED",
      code: "CANCELLED",
    });
    expect(payload).not.toHaveProperty("resultDigest");
    expect(payload).not.toHaveProperty("exp");
  }
});

test("a receipt is no access token, and an access token no receipt", async () => {
  const receipt = await readReceipt(await startAndCancel());
  expect((await get(`${base}/`, receipt)).json()).toMatchObject({ code: "UNAUTHENTICATED" });
  const keys = createLocalJWKSet(await readKeys(RECEIPT_KEYS));
  await expect(jwtVerify(token, keys, options)).rejects.toMatchObject({ claim: "typ" });
  expect((await get(`${base}/`)).statusCode).toBe(200);
});

test("only an ended execution has a receipt, and only for its owner", async () => {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const started = await instance.gateway.inject({ method: "POST", url: base, headers, payload: "{}" });
  const { id } = started.json<{ id: string }>();
  const early = await get(`${base}/${id}/receipt`);
  expect(early.statusCode).toBe(404);
  expect(early.json()).toEqual({
    code: "RESULT_NOT_READY",
    detail: "The execution is PENDING; its receipt is not there yet.",
  });
  expect(early.headers["retry-after"]).toBe("1");
  const ended = await startAndCancel();
  const other = await createTestClient(instance, owner, service);
  const foreign = await get(`${base}/${ended}/receipt`, await fetchAccessToken(instance, other));
  expect([foreign.statusCode, foreign.json<{ code: string }>().code]).toEqual([404, "EXECUTION_NOT_FOUND"]);
});

test("receipts of a replaced key stay valid, those of keys that leaked do not", async () => {
  const store = createSigningKeyStore(home.database);
  const read = async () => {
    const keys = createSigningKeys({ store, secret: TEST_SECRET });
    await keys.current();
    return await keys.readReceiptJwks();
  };
  const receipt = await readReceipt(await startAndCancel());
  const { kid } = decodeProtectedHeader(receipt);
  await rotateSigningKey(store, TEST_SECRET, "when unused");
  // As it is an hour later: it signs and verifies no access token.
  await home.database.query({
    text: "update signing_key set retired_at = now() - interval '1 minute' where kid = $1",
    values: [kid],
  });
  const kids = async () => (await read()).keys.map((key) => key.kid);
  const live = await createSigningKeys({ store, secret: TEST_SECRET }).readJwks();
  expect(live.keys.map((key) => key.kid)).not.toContain(kid);
  expect(await kids()).toContain(kid);
  await jwtVerify(receipt, createLocalJWKSet((await read()) as JSONWebKeySet), options);
  const [former] = await rotateSigningKey(store, TEST_SECRET, "now");
  expect(former).not.toBe(kid);
  expect(await kids()).toHaveLength(1);
  expect(await kids()).not.toContain(kid);
});
