import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { createTestMember, createTestUser, insertTestVersion } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";

const CONTENT = "PK of a project";

let home: TestDatabase;
let instance: TestInstance;
let owner: TestUser;
let url: string;
let base: string;

beforeAll(async () => {
  home = await createTestDatabase();
  instance = await createTestInstance({ database: home.database });
  owner = await createTestUser(instance);
  const { organisationId } = owner;
  const { key } = await instance.stores.services.create({ organisationId, name: "tour", description: "" });
  const archive = await instance.objects.receive(Readable.from([CONTENT]), 1_000);
  await archive.keep();
  await insertTestVersion(home.database, { serviceKey: key, version: "1.0.0", archiveHash: archive.hash });
  base = `/api/services/${key}/versions`;
  url = `${base}/1.0.0/archive`;
});
afterAll(async () => {
  await instance?.close();
  await home?.close();
});

const get = ({ token, organisationId }: TestUser, path = url, headers: Record<string, string> = {}) =>
  instance.api.inject({
    url: path,
    headers: { authorization: `Bearer ${token}`, "x-organizationid": organisationId, ...headers },
  });

test("the archive of a version is downloaded as it was uploaded, also of a version whose size nobody has noted", async () => {
  const whole = await get(owner);
  expect([whole.statusCode, whole.body]).toEqual([200, CONTENT]);
  expect(whole.headers["content-type"]).toBe("application/zip");
  expect(whole.headers["content-disposition"]).toContain('filename="tour-1.0.0.zip"');
  expect(whole.headers).toMatchObject({
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
  });
  const part = await get(owner, url, { range: "bytes=0-1" });
  expect([part.statusCode, part.body]).toEqual([206, "PK"]);
  await home.database.query({ text: "update object set bytes = null" });
  const again = await get(owner);
  expect([again.statusCode, again.headers["content-length"]]).toEqual([200, String(CONTENT.length)]);
});

test("only maintainers and owners of the organisation get it, and what is another's does not exist", async () => {
  const maintainer = await createTestMember(instance, owner.organisationId, "maintainer");
  const viewer = await createTestMember(instance, owner.organisationId, "viewer");
  const at = (user: TestUser) => ({ ...user, organisationId: owner.organisationId });
  expect((await get(at(maintainer))).statusCode).toBe(200);
  expect((await get(at(viewer))).json()).toMatchObject({ code: "FORBIDDEN" });
  const stranger = await createTestUser(instance);
  for (const answer of [
    await get(stranger),
    await get(owner, `${base}/9.9.9/archive`),
    await get(owner, `${base}/latest/archive`),
    await get(owner, "/api/services/no-uuid/versions/1.0.0/archive"),
  ])
    expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([404, "SERVICE_NOT_FOUND"]);
});
