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
import { rotateSigningKey } from "../access/signing-keys.ts";
import { createSigningKeyStore } from "../store/signing-keys.ts";
import { TEST_SECRET, createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";

const JSON_HEADERS = { "content-type": "application/json" };

function baseOf({ serviceKey, serviceName, version }: TestService): string {
  return `/${serviceKey}/${serviceName}/${version}`;
}

function basic(client: TestClient, secret: string): string {
  return `Basic ${Buffer.from(`${client.keyId}:${secret}`).toString("base64")}`;
}

describe("the gateway", () => {
  let home: TestDatabase;
  /** Where changes are made. */
  let here: TestInstance;
  /** Another host: it hears of changes only through the database. */
  let there: TestInstance;
  let owner: TestUser;
  let service: TestService;
  let client: TestClient;
  let token: string;

  beforeAll(async () => {
    home = await createTestDatabase();
    here = await createTestInstance({ database: home.database });
    there = await createTestInstance({ database: home.connect() });
    owner = await createTestUser(here);
    service = await createTestService(here, owner);
    client = await createTestClient(here, owner, service);
    token = await fetchAccessToken(here, client);
  });
  afterAll(async () => {
    await here?.close();
    await there?.close();
    await home?.close();
  });

  const get = (instance: TestInstance, url: string, bearer = token) =>
    instance.gateway.inject({ method: "GET", url, headers: { authorization: `Bearer ${bearer}` } });
  const start = (instance: TestInstance, bearer = token, url = `${baseOf(service)}/`, payload = "{}") =>
    instance.gateway.inject({
      method: "POST",
      url,
      headers: { authorization: `Bearer ${bearer}`, ...JSON_HEADERS },
      payload,
    });

  test("starts an execution and shows it to its own subscription", async () => {
    const created = await start(here);
    expect(created.statusCode).toBe(201);
    const { id }: { id: string } = created.json();
    expect(created.headers.location).toBe(`${baseOf(service)}/${id}`);
    const state = await get(here, `${baseOf(service)}/${id}`);
    expect(state.json()).toMatchObject({ id, status: "PENDING" });
  });

  test("takes a token that another instance has signed", async () => {
    expect((await start(there, await fetchAccessToken(here, client))).statusCode).toBe(201);
  });

  test("refuses the tokens of a retired key within seconds at every host, and takes new ones", async () => {
    const [old, url] = [await fetchAccessToken(here, client), `${baseOf(service)}/`];
    for (const instance of [here, there]) expect((await get(instance, url, old)).statusCode).toBe(200);
    await rotateSigningKey(createSigningKeyStore(home.database), TEST_SECRET, "now");
    for (const instance of [here, there])
      await waitUntil(async () => (await get(instance, url, old)).statusCode === 401);
    token = await fetchAccessToken(there, client);
    for (const instance of [here, there]) expect((await get(instance, url)).statusCode).toBe(200);
  });

  test("does not reveal the execution of another subscription", async () => {
    const { id }: { id: string } = (await start(here)).json();
    const other = await createTestClient(here, owner, service);
    const otherToken = await fetchAccessToken(here, other);
    for (const path of [id, `${id}/result`, `${id}/log`]) {
      const response = await get(here, `${baseOf(service)}/${path}`, otherToken);
      expect(response.json()).toMatchObject({ code: "EXECUTION_NOT_FOUND" });
    }
    expect((await get(here, `${baseOf(service)}/`, otherToken)).json()).toEqual([]);
  });

  test("checks the input against the schema of the version", async () => {
    const refused = await start(here, token, `${baseOf(service)}/`, '{"data":{"n":"many"}}');
    expect(refused.json()).toMatchObject({ code: "INVALID_INPUT", errors: [{ path: "/data/n" }] });
  });

  test("asks for a token before it says anything about a service", async () => {
    for (const url of [`${baseOf(service)}/`, "/nothing/like/this/", `/${service.serviceKey}/wrong/1.0.0/`]) {
      const response = await here.gateway.inject({ method: "GET", url });
      expect(response.statusCode).toBe(401);
      expect(response.headers["www-authenticate"]).toBe('Bearer realm="services"');
    }
  });

  test.each([
    ["an unknown key", () => `/0193b0a0-0000-7000-8000-000000000000/${service.serviceName}/1.0.0/`],
    ["a malformed key", () => `/nonsense/${service.serviceName}/1.0.0/`],
    ["a null character", () => `/%00/${service.serviceName}/1.0.0/`],
    ["a wrong name", () => `/${service.serviceKey}/other/1.0.0/`],
    ["an unknown version", () => `/${service.serviceKey}/${service.serviceName}/9.9.9/`],
    ["a malformed version", () => `/${service.serviceKey}/${service.serviceName}/latest/`],
  ])("answers SERVICE_NOT_FOUND for %s", async (_what, urlOf) => {
    const response = await get(here, urlOf());
    expect(response.statusCode).toBe(404);
    expect(response.json()).toMatchObject({ code: "SERVICE_NOT_FOUND" });
  });

  test.each(["x", "%00", "'", "0193b0a0-0000-7000-8000-000000000000", "a".repeat(300)])(
    "answers EXECUTION_NOT_FOUND for the id %s",
    async (id) => {
      const response = await get(here, `${baseOf(service)}/${id}`);
      expect(response.json()).toMatchObject({ code: "EXECUTION_NOT_FOUND" });
    },
  );

  test("refuses an application without a subscription", async () => {
    const other = await createTestService(here, owner, "other");
    const response = await get(here, `${baseOf(other)}/`);
    expect(response.statusCode).toBe(403);
    expect(response.json()).toMatchObject({ code: "NOT_SUBSCRIBED" });
  });

  test("answers over HTTP, a token of 100 KB too", async () => {
    const address = await here.gateway.listen({ host: "127.0.0.1", port: 0 });
    const url = `${address}${baseOf(service)}/`;
    const listed = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    expect(listed.status).toBe(200);
    const huge = await fetch(url, { headers: { authorization: `Bearer ${"a".repeat(100_000)}` } });
    expect(huge.status).toBe(431);
    expect(await huge.json()).toHaveProperty("code");
  });

  test("names a personal access token and says what to use instead", async () => {
    const response = await get(here, `${baseOf(service)}/`, owner.token);
    expect(response.statusCode).toBe(401);
    expect(response.headers["www-authenticate"]).toContain('error="invalid_token"');
    const { detail }: { detail: string } = response.json();
    expect(detail).toContain("personal access token");
    expect(detail).toContain("POST /token");
  });

  test("keeps states and results of a retired version, but starts nothing", async () => {
    const old = await createTestService(here, owner, "old");
    const oldClient = await createTestClient(here, owner, old);
    const oldToken = await fetchAccessToken(here, oldClient);
    const { id }: { id: string } = (await start(here, oldToken, `${baseOf(old)}/`)).json();
    await here.stores.versions.retire(owner.organisationId, old.serviceKey, "1.0.0");
    await waitUntil(async () => (await start(here, oldToken, `${baseOf(old)}/`)).statusCode === 410);
    const refused = await start(here, oldToken, `${baseOf(old)}/`);
    expect(refused.json()).toMatchObject({ code: "VERSION_RETIRED" });
    expect((await get(here, `${baseOf(old)}/${id}`, oldToken)).statusCode).toBe(200);
  });

  describe("another gateway", () => {
    const cases: readonly (readonly [string, number, (victim: TestClient) => Promise<unknown>])[] = [
      [
        "a revoked key",
        401,
        (victim) => here.stores.accessKeys.revoke(owner.organisationId, victim.applicationId, victim.keyId),
      ],
      [
        "a deleted application",
        401,
        (victim) => here.stores.applications.delete(owner.organisationId, victim.applicationId),
      ],
      [
        "an ended subscription",
        403,
        (victim) => here.stores.subscriptions.cancel(owner.organisationId, victim.subscriptionId),
      ],
    ];
    test.each(cases)("stops taking the token of %s within seconds", async (_what, status, revoke) => {
      const victim = await createTestClient(here, owner, service);
      const bearer = await fetchAccessToken(there, victim);
      expect((await start(there, bearer)).statusCode).toBe(201);
      await revoke(victim);
      await waitUntil(async () => (await start(there, bearer)).statusCode === status);
    });

    test("lets a new subscription in within seconds of refusing it", async () => {
      const fresh = await createTestService(here, owner, "fresh");
      const refused = await get(there, `${baseOf(fresh)}/`);
      expect(refused.statusCode).toBe(403);
      await here.stores.subscriptions.create(owner.organisationId, client.applicationId, fresh.serviceKey);
      await waitUntil(async () => (await get(there, `${baseOf(fresh)}/`)).statusCode === 200);
    });
  });

  test("shows the OpenAPI document to who may call the service, and to nobody else", async () => {
    const url = `${baseOf(service)}/openapi.json`;
    const document = await get(here, url);
    expect(document.json()).toMatchObject({
      openapi: "3.1.0",
      servers: [{ url: expect.stringContaining(baseOf(service)) }],
    });
    expect(document.body).toContain('"n":{"type":"integer"}');
    const anonymous = await here.gateway.inject({ method: "GET", url });
    expect(anonymous.statusCode).toBe(401);
    expect(anonymous.headers["www-authenticate"]).toMatch(/^Basic .*Bearer/);
    for (const path of ["openapi.json", "docs"]) {
      const withKey = await here.gateway.inject({
        method: "GET",
        url: `${baseOf(service)}/${path}`,
        headers: { authorization: basic(client, client.secret) },
      });
      expect(withKey.statusCode).toBe(200);
    }
    const wrong = await here.gateway.inject({
      method: "GET",
      url,
      headers: { authorization: basic(client, "no") },
    });
    expect(wrong.statusCode).toBe(401);
  });
});
