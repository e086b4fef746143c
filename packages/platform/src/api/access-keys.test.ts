import { afterAll, beforeAll, expect, test } from "vitest";
import { createAccessKeyStore } from "../store/access-keys.ts";
import { createTestClient, createTestService, createTestUser } from "../testing/fixtures.ts";
import type { TestClient, TestService, TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase, withClockStep } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
let instance: TestInstance;
let owner: TestUser;
let stranger: TestUser;
let service: TestService;

beforeAll(async () => {
  home = await createTestDatabase();
  instance = await createTestInstance({ database: home.database });
  owner = await createTestUser(instance);
  stranger = await createTestUser(instance);
  service = await createTestService(instance, owner);
});
afterAll(async () => {
  await instance?.close();
  await home?.close();
});

interface Key {
  readonly keyId: string;
  readonly secret: string;
  readonly name: string;
  readonly expiresAt: string | null;
  readonly replacedBy: string | null;
}

type Method = "GET" | "POST" | "PUT" | "DELETE";

const send = (method: Method, url: string, payload?: object, user = owner) =>
  instance.api.inject({
    method,
    url: `/api/applications/${url}`,
    headers: { authorization: `Bearer ${user.token}` },
    ...(payload === undefined ? {} : { payload }),
  });

const exchange = async ({ keyId, secret }: Pick<Key, "keyId" | "secret">) => {
  const response = await instance.gateway.inject({
    method: "POST",
    url: "/token",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      authorization: `Basic ${Buffer.from(`${keyId}:${secret}`).toString("base64")}`,
    },
    payload: "grant_type=client_credentials",
  });
  return response.statusCode;
};

const createClient = (): Promise<TestClient> => createTestClient(instance, owner, service);

async function listKeys(applicationId: string): Promise<readonly Key[]> {
  const response = await send("GET", `${applicationId}/access-keys`);
  return response.json<{ items: Key[] }>().items;
}

/** Moves the end of a key into the past. */
const expire = (keyId: string) =>
  home.database.query({
    text: "update access_key set expires_at = now() - interval '1 second' where id = $1",
    values: [keyId],
  });

test("an application is renamed, and keeps keys and subscriptions", async () => {
  const { applicationId, keyId } = await createClient();
  const renamed = await send("PUT", applicationId, { name: "new name" });
  expect([renamed.statusCode, renamed.json()]).toMatchObject([200, { id: applicationId, name: "new name" }]);
  expect((await send("GET", applicationId)).json()).toMatchObject({ name: "new name" });
  expect(await listKeys(applicationId)).toMatchObject([{ keyId, name: "", expiresAt: null }]);
  const listed = await instance.api.inject({
    method: "GET",
    url: `/api/subscriptions?applicationId=${applicationId}`,
    headers: { authorization: `Bearer ${owner.token}` },
  });
  expect(listed.json()).toMatchObject({ items: [{ applicationId }] });
});

test.each([
  ["no name", {}],
  ["a blank name", { name: "   " }],
  ["a name that is too long", { name: "x".repeat(121) }],
  ["another organisation", { name: "mine", organisationId: "00000000-0000-4000-8000-000000000000" }],
  ["another maker", { name: "mine", createdBy: "00000000-0000-4000-8000-000000000000" }],
])("renaming an application with %s is refused", async (_what, payload) => {
  const { applicationId } = await createClient();
  expect((await send("PUT", applicationId, payload)).statusCode).toBe(400);
});

test("a key without a body has no name and no end; with one it has what it says, and is shown once", async () => {
  const { applicationId } = await createClient();
  const plain = await send("POST", `${applicationId}/access-keys`);
  expect([plain.statusCode, plain.json()]).toMatchObject([201, { name: "", expiresAt: null }]);
  const created = await send("POST", `${applicationId}/access-keys`, { name: "web", expiresInDays: 90 });
  expect([created.statusCode, created.headers["cache-control"]]).toEqual([201, "no-store"]);
  const key = created.json<Key>();
  const days = (Date.parse(`${key.expiresAt}Z`) - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(90);
  const listed = await send("GET", `${applicationId}/access-keys`);
  expect(listed.body).toContain(key.keyId);
  expect(listed.body).not.toContain(key.secret);
});

test("a body of null is refused, not taken for a missing one", async () => {
  const { applicationId } = await createClient();
  const response = await instance.api.inject({
    method: "POST",
    url: `/api/applications/${applicationId}/access-keys`,
    headers: { authorization: `Bearer ${owner.token}`, "content-type": "application/json" },
    payload: "null",
  });
  expect(response.statusCode).toBe(400);
  expect(await listKeys(applicationId)).toHaveLength(1);
});

test.each([
  ["the id of the key", { id: "plat_key_mine" }],
  ["a hash", { secretHash: "0".repeat(64) }],
  ["a use", { lastUsedAt: "2026-11-22 00:00:00" }],
  ["an end in the past", { expiresInDays: 0 }],
  ["a number of days that overflows", { expiresInDays: 1e12 }],
  ["a long name", { name: "x".repeat(121) }],
])("a key cannot be made with %s", async (_what, payload) => {
  const { applicationId } = await createClient();
  expect((await send("POST", `${applicationId}/access-keys`, payload)).statusCode).toBe(400);
  expect(await listKeys(applicationId)).toHaveLength(1);
});

test("an expired key gives no token, its tokens open nothing, and it does not count", async () => {
  const client = await createClient();
  expect(await exchange(client)).toBe(200);
  const other = await createClient();
  await expire(other.keyId);
  expect(await exchange(other)).toBe(401);
  const { serviceKey } = service;
  const question = { applicationId: other.applicationId, keyId: other.keyId, serviceKey, version: "1.0.0" };
  expect(await instance.stores.access.findGrant(question)).toMatchObject({ reason: "KEY_REVOKED" });
  expect(await instance.stores.accessKeys.countActive(owner.organisationId, other.applicationId)).toBe(0);
});

test("a rotated key goes on for a day beside the one that replaces it, which has its name and its life", async () => {
  const { applicationId } = await createClient();
  const made = await send("POST", `${applicationId}/access-keys`, { name: "web", expiresInDays: 90 });
  const former = made.json<Key>();
  const rotated = await send("POST", `${applicationId}/access-keys/${former.keyId}/rotate`);
  expect([rotated.statusCode, rotated.headers["cache-control"]]).toEqual([201, "no-store"]);
  const next = rotated.json<Key>();
  expect(next).toMatchObject({ name: "web", replacedBy: null });
  expect([await exchange(former), await exchange(next)]).toEqual([200, 200]);
  const listed = (await listKeys(applicationId)).find(({ keyId }) => keyId === former.keyId);
  const hours = (Date.parse(`${listed?.expiresAt}Z`) - Date.now()) / 3_600_000;
  expect(Math.round(hours)).toBe(24);
  expect(listed?.replacedBy).toBe(next.keyId);
  expect(Math.round((Date.parse(`${next.expiresAt}Z`) - Date.now()) / 86_400_000)).toBe(90);
});

test("a key that is rotated with no overlap gives no token any more, by no clock", async () => {
  const { applicationId, keyId, secret } = await createClient();
  expect(await exchange({ keyId, secret })).toBe(200);
  const rotated = await send("POST", `${applicationId}/access-keys/${keyId}/rotate`, { oldEndsInHours: 0 });
  await expect.poll(() => exchange({ keyId, secret })).toBe(401);
  expect(await exchange(rotated.json<Key>())).toBe(200);
  const setBack = createAccessKeyStore(withClockStep(home.database, () => "-1 hour"));
  expect(await setBack.findActive(keyId)).toBeNull();
});

test("a rotation never prolongs a key", async () => {
  const { applicationId, keyId } = await createClient();
  const end = "update access_key set expires_at = now() + interval '1 hour' where id = $1";
  await home.database.query({ text: end, values: [keyId] });
  await send("POST", `${applicationId}/access-keys/${keyId}/rotate`, { oldEndsInHours: 168 });
  const former = (await listKeys(applicationId)).find((key) => key.keyId === keyId);
  expect((Date.parse(`${former?.expiresAt}Z`) - Date.now()) / 3_600_000).toBeLessThan(1.01);
});

test("of many who rotate a key at once one gets a new key, and the others are told", async () => {
  const { applicationId, keyId } = await createClient();
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => send("POST", `${applicationId}/access-keys/${keyId}/rotate`)),
  );
  const count = (status: number) => answers.filter(({ statusCode }) => statusCode === status).length;
  expect([count(201), count(409)]).toEqual([1, 7]);
  expect(await listKeys(applicationId)).toHaveLength(2);
});

test("a revoked or expired key, and one of another application, cannot be rotated", async () => {
  const [revoked, expired, other] = [await createClient(), await createClient(), await createClient()];
  await send("DELETE", `${revoked.applicationId}/access-keys/${revoked.keyId}`);
  await expire(expired.keyId);
  for (const url of [
    `${revoked.applicationId}/access-keys/${revoked.keyId}/rotate`,
    `${expired.applicationId}/access-keys/${expired.keyId}/rotate`,
    `${revoked.applicationId}/access-keys/${other.keyId}/rotate`,
  ])
    expect((await send("POST", url)).json()).toMatchObject({ code: "NOT_FOUND" });
});

test.each([
  ["another number of hours", { oldEndsInHours: 2 }],
  ["a negative number", { oldEndsInHours: -1 }],
  ["a key of one's own making", { secretHash: "0".repeat(64) }],
])("a rotation with %s is refused", async (_what, payload) => {
  const { applicationId, keyId } = await createClient();
  const url = `${applicationId}/access-keys/${keyId}/rotate`;
  expect((await send("POST", url, payload)).statusCode).toBe(400);
  expect(await listKeys(applicationId)).toHaveLength(1);
});

test("what belongs to another organisation answers as what does not exist", async () => {
  const { applicationId, keyId } = await createClient();
  const unknown = "00000000-0000-7000-8000-000000000000";
  for (const [method, path, payload] of [
    ["PUT", "", { name: "stolen" }],
    ["POST", `/access-keys/${keyId}/rotate`, {}],
    ["POST", "/access-keys", {}],
  ] as const) {
    const foreign = await send(method, `${applicationId}${path}`, payload, stranger);
    const missing = await send(method, `${unknown}${path}`, payload, stranger);
    expect(foreign.statusCode).toBe(404);
    expect([foreign.statusCode, foreign.json()]).toEqual([missing.statusCode, missing.json()]);
  }
  expect(await listKeys(applicationId)).toMatchObject([{ keyId, expiresAt: null }]);
});
