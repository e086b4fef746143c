import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseExactNumbers } from "@platform/contract/exact-number";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import {
  createTestClient,
  createTestPlan,
  createTestService,
  createTestUser,
  insertTestVersion,
} from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";

let home: TestDatabase;
let instance: TestInstance;
let owner: TestUser;
let stranger: TestUser;
let key: string;

beforeAll(async () => {
  home = await createTestDatabase();
  instance = await createTestInstance({ database: home.database });
  [owner, stranger] = [await createTestUser(instance), await createTestUser(instance)];
  const { organisationId } = owner;
  ({ key } = await instance.stores.services.create({ organisationId, name: "tour", description: "" }));
  await insertTestVersion(home.database, { serviceKey: key, version: "1.0.0" });
});
afterAll(async () => {
  await instance?.close();
  await home?.close();
});

const get = (user: TestUser, path: string, headers: Record<string, string> = {}, service = key) =>
  instance.api.inject({
    url: `/api/marketplace/${service}/versions/${path}`,
    headers: { authorization: `Bearer ${user.token}`, "x-organizationid": user.organisationId, ...headers },
  });

test("the client of an own service that is not published is a ZIP file with a strong ETag", async () => {
  const answer = await get(owner, "1.0.0/clients/python");
  expect(answer.statusCode).toBe(200);
  expect(answer.headers["content-type"]).toBe("application/zip");
  expect(answer.headers["content-disposition"]).toContain('filename="tour-1.0.0-python.zip"');
  expect(answer.rawPayload.subarray(0, 2).toString()).toBe("PK");
  const hash = createHash("sha256").update(answer.rawPayload).digest("hex");
  expect(answer.headers["etag"]).toBe(`"${hash}"`);
  const again = await get(owner, "1.0.0/clients/python", { "if-none-match": `"${hash}"` });
  expect(again.statusCode).toBe(304);
  const part = await get(owner, "1.0.0/clients/python", { range: "bytes=0-1" });
  expect([part.statusCode, part.body]).toEqual([206, "PK"]);
});

test("other organisations get it while it is in the marketplace, and only live versions", async () => {
  const refused = { code: "SERVICE_NOT_FOUND" };
  for (const path of ["1.0.0/clients/python", "1.0.0/openapi.json"])
    expect((await get(stranger, path)).json()).toMatchObject(refused);
  await instance.stores.services.publish(owner.organisationId, key, "marketplace");
  const document = await get(stranger, "1.0.0/openapi.json");
  expect(document.statusCode).toBe(200);
  expect(document.json()).toMatchObject({
    info: { title: "tour", version: "1.0.0" },
    servers: [{ url: `http://gateway.test:8080/${key}/tour/1.0.0` }],
  });
  await instance.stores.services.publish(owner.organisationId, key, "internal");
  expect((await get(stranger, "1.0.0/openapi.json")).json()).toMatchObject(refused);
  await instance.stores.services.publish(owner.organisationId, key, "marketplace");
  await instance.stores.versions.retire(owner.organisationId, key, "1.0.0");
  expect((await get(stranger, "1.0.0/openapi.json")).json()).toMatchObject(refused);
  expect((await get(owner, "1.0.0/openapi.json")).statusCode).toBe(200);
});

test("a version or a language that there is not is refused", async () => {
  expect((await get(owner, "9.9.9/clients/python")).json()).toMatchObject({ code: "SERVICE_NOT_FOUND" });
  const answer = await get(owner, "1.0.0/clients/cobol");
  expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([400, "INVALID_INPUT"]);
});

test("whoever has subscribed reads the schemas of any version, also when the service is withdrawn; others do not", async () => {
  const service = await createTestService(instance, owner, "sums");
  const { serviceKey } = service;
  const inputSchema = parseExactNumbers('{"enum": [12345678901234567890]}') as Record<string, unknown>;
  await insertTestVersion(home.database, { serviceKey, version: "2.0.0", inputSchema });
  const read = async (user: TestUser, version: string) =>
    (await get(user, version, {}, serviceKey)).json<Record<string, unknown>>();
  expect(await read(stranger, "1.0.0")).toMatchObject({ code: "SERVICE_NOT_FOUND" });
  await createTestPlan(instance, owner, service);
  await instance.stores.services.publish(owner.organisationId, serviceKey, "marketplace");
  await createTestClient(instance, stranger, service);
  await instance.stores.services.publish(owner.organisationId, serviceKey, null);
  expect(await read(stranger, "1.0.0")).toEqual({
    version: "1.0.0",
    inputSchema: {
      type: "object",
      properties: { data: { type: "object", properties: { n: { type: "integer" } } } },
    },
    outputSchema: null,
    exampleInput: null,
  });
  expect((await get(stranger, "2.0.0", {}, serviceKey)).body).toContain('"enum":[12345678901234567890]');
  expect(await read(stranger, "3.0.0")).toMatchObject({ code: "SERVICE_NOT_FOUND" });
  expect(await read(await createTestUser(instance), "1.0.0")).toMatchObject({ code: "SERVICE_NOT_FOUND" });
});

test("of what was withdrawn nothing more is read once the provider has ended the subscription", async () => {
  const service = await createTestService(instance, owner, "ended");
  const { serviceKey } = service;
  await createTestPlan(instance, owner, service);
  await instance.stores.services.publish(owner.organisationId, serviceKey, "marketplace");
  const { subscriptionId: id } = await createTestClient(instance, stranger, service);
  await instance.stores.services.publish(owner.organisationId, serviceKey, null);
  const ended = { organisationId: owner.organisationId, serviceKey, id, reason: "It is over." };
  expect(await instance.stores.subscriptions.endAsProvider(ended)).toBe(true);
  await insertTestVersion(home.database, { serviceKey, version: "2.0.0" });
  for (const path of ["1.0.0", "2.0.0", "2.0.0/openapi.json", "2.0.0/clients/python"])
    expect((await get(stranger, path, {}, serviceKey)).json()).toMatchObject({ code: "SERVICE_NOT_FOUND" });
  expect(await instance.stores.subscriptions.find(stranger.organisationId, id)).toMatchObject({
    endpointVersion: "1.0.0",
    latestVersion: null,
  });
});
