import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSecrets } from "../secrets/secrets.ts";
import { createTestService, createTestUser } from "../testing/fixtures.ts";
import type { TestService, TestUser } from "../testing/fixtures.ts";
import { TEST_SECRET, createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

const VALUE = "a value that nobody reads";

let server: TestDatabase;
let instance: TestInstance;
let owner: TestUser;
let service: TestService;

beforeAll(async () => {
  server = await createTestDatabase();
  instance = await createTestInstance({ database: server.database });
  owner = await createTestUser(instance);
  service = await createTestService(instance, owner);
});
afterAll(async () => {
  await instance?.close();
  await server?.close();
});

const send = (method: "GET" | "PUT" | "DELETE", path: string, payload?: object, user = owner) =>
  instance.api.inject({
    method,
    url: `/api${path}`,
    headers: { authorization: `Bearer ${user.token}` },
    ...(payload === undefined ? {} : { payload }),
  });

const ofService = (name: string) => `/services/${service.serviceKey}/secrets/${name}`;
const read = () => createSecrets(instance.stores.secrets, TEST_SECRET).readOfVersion(service.versionId);

test("a value that was set is shown nowhere, stored sealed, and reaches runs; setting it again counts", async () => {
  const first = await send("PUT", ofService("API_TOKEN"), { value: VALUE });
  expect(first.json()).toMatchObject({ name: "API_TOKEN", revision: 1, changedBy: "Somebody" });
  expect((await send("PUT", ofService("API_TOKEN"), { value: `${VALUE} 2` })).json()).toMatchObject({
    revision: 2,
  });
  const list = await send("GET", `/services/${service.serviceKey}/secrets`);
  expect(list.json()).toMatchObject({ items: [{ name: "API_TOKEN", revision: 2 }], nextCursor: null });
  const { rows } = await server.database.pool.query<{ text: string }>(
    "select to_jsonb(s)::text as text from secret s union all select to_jsonb(e)::text from audit_entry e",
  );
  for (const text of [first.body, list.body, ...rows.map((row) => row.text)])
    expect(text).not.toContain(VALUE);
  expect(await read()).toEqual({ API_TOKEN: `${VALUE} 2` });
  expect((await send("DELETE", ofService("API_TOKEN"))).statusCode).toBe(204);
  expect((await send("DELETE", ofService("API_TOKEN"))).statusCode).toBe(404);
  expect(await read()).toEqual({});
});

test("a secret of the organisation reaches all services, and a service's own takes its place", async () => {
  await send("PUT", "/secrets/SHARED", { value: "of the organisation" });
  await send("PUT", "/secrets/OTHER", { value: "of the organisation" });
  await send("PUT", ofService("SHARED"), { value: "of the service" });
  expect(await read()).toEqual({ SHARED: "of the service", OTHER: "of the organisation" });
  const stranger = await createTestUser(instance);
  const theirs = await createTestService(instance, stranger);
  expect(await createSecrets(instance.stores.secrets, TEST_SECRET).readOfVersion(theirs.versionId)).toEqual(
    {},
  );
});

describe("a sealed value", () => {
  test.each([
    ["under another name", "update secret set name = 'MOVED_NAME' where name = 'MOVED'"],
    ["for the whole organisation", "update secret set scope_id = organisation_id where name = 'MOVED'"],
  ])("that somebody moved in the database does not open %s", async (_where, text) => {
    await send("PUT", ofService("MOVED"), { value: VALUE });
    await server.database.query({ text });
    await expect(read()).rejects.toThrow("The secret MOVED");
    await server.database.query({ text: "delete from secret where name like 'MOVED%'" });
  });

  test("of another secret of the platform is named in the error", async () => {
    await send("PUT", ofService("SEALED"), { value: VALUE });
    const other = createSecrets(instance.stores.secrets, "another secret of the platform, as long");
    await expect(other.readOfVersion(service.versionId)).rejects.toThrow(
      "was stored by a platform with another --secret",
    );
    await send("DELETE", ofService("SEALED"));
  });
});

test.each([
  ..."LD_PRELOAD PYTHONPATH pythonstartup PATH HOME SERVICE_EXECUTION_ID OUTPUT_DIRECTORY LOG_LEVEL BASH_ENV".split(
    " ",
  ),
  ..."GLIBC_TUNABLES OPENSSL_CONF 1ST A-B A%3DB".split(" "),
  "A".repeat(129),
])("no secret is called %s", async (name) => {
  for (const path of [ofService(name), `/secrets/${name}`]) {
    const refused = await send("PUT", path, { value: VALUE });
    expect([refused.statusCode, refused.json()]).toMatchObject([400, { code: "INVALID_INPUT" }]);
  }
});

test.each([
  { value: "short" },
  { value: "short     \n\n" },
  { value: "a".repeat(8_193) },
  { value: `${VALUE}\0` },
  { value: VALUE, name: "OTHER" },
  {},
])("a body like %j is refused", async (body) => {
  expect((await send("PUT", ofService("REFUSED"), body)).statusCode).toBe(400);
});

test("fifty secrets are enough, also when they are set at once", async () => {
  const full = await createTestService(instance, owner, "full");
  const answers = await Promise.all(
    Array.from({ length: 52 }, (_, index) =>
      send("PUT", `/services/${full.serviceKey}/secrets/S${index}`, { value: VALUE }),
    ),
  );
  expect(answers.filter(({ statusCode }) => statusCode === 409)).toHaveLength(2);
});
