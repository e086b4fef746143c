import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createVariables } from "../secrets/variables.ts";
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

const ofService = (name: string, kind = "secrets") => `/services/${service.serviceKey}/${kind}/${name}`;
const read = async (versionId = service.versionId) =>
  (await createVariables(instance.stores.variables, TEST_SECRET).readOfVersion(versionId)).values;

test("a value that was set is shown nowhere, stored sealed, and reaches runs; setting it again counts", async () => {
  const first = await send("PUT", ofService("API_TOKEN"), { value: VALUE });
  expect(first.json()).toMatchObject({ name: "API_TOKEN", revision: 1, changedBy: "Somebody" });
  expect((await send("PUT", ofService("API_TOKEN"), { value: `${VALUE} 2` })).json()).toMatchObject({
    revision: 2,
  });
  const list = await send("GET", `/services/${service.serviceKey}/secrets`);
  expect(list.json()).toMatchObject({ items: [{ name: "API_TOKEN", revision: 2 }], nextCursor: null });
  const { rows } = await server.database.pool.query<{ text: string }>(
    "select to_jsonb(s)::text as text from variable s union all select to_jsonb(e)::text from audit_entry e",
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
  expect(await read(theirs.versionId)).toEqual({});
  const sibling = await createTestService(instance, owner, "sibling");
  const { readOfService } = createVariables(instance.stores.variables, TEST_SECRET);
  const values = { SHARED: "of the organisation", OTHER: "of the organisation" };
  expect(await read(sibling.versionId)).toEqual(values);
  expect((await readOfService(sibling.serviceKey)).values).toEqual(values);
  expect(await readOfService(theirs.serviceKey)).toEqual({ values: {}, secrets: [] });
});

describe("a variable", () => {
  beforeEach(() => server.database.query({ text: "delete from variable" }));

  test("that was set can be read by members, and reaches runs as no secret", async () => {
    const set = await send("PUT", ofService("MODE", "variables"), { value: "fast" });
    expect(set.json()).toMatchObject({ name: "MODE", value: "fast", revision: 1, changedBy: "Somebody" });
    await send("PUT", ofService("EMPTY", "variables"), { value: "" });
    await send("PUT", ofService("API_TOKEN"), { value: VALUE });
    const list = await send("GET", `/services/${service.serviceKey}/variables`);
    expect(list.json()).toMatchObject({
      items: [
        { name: "EMPTY", value: "" },
        { name: "MODE", value: "fast" },
      ],
    });
    const { readOfVersion } = createVariables(instance.stores.variables, TEST_SECRET);
    expect(await readOfVersion(service.versionId)).toEqual({
      values: { MODE: "fast", EMPTY: "", API_TOKEN: VALUE },
      secrets: [VALUE],
    });
    expect((await send("DELETE", ofService("API_TOKEN", "variables"))).statusCode).toBe(404);
    expect((await send("DELETE", ofService("MODE"))).statusCode).toBe(404);
    expect((await send("DELETE", ofService("MODE", "variables"))).statusCode).toBe(204);
    expect(await read()).toEqual({ EMPTY: "", API_TOKEN: VALUE });
  });

  test("of a service takes the place of the organisation's of this name, whatever kinds they are", async () => {
    await send("PUT", "/variables/MODE", { value: "slow" });
    await send("PUT", "/secrets/DATABASE", { value: "a secret of the organisation" });
    await send("PUT", ofService("DATABASE", "variables"), { value: "none" });
    const { readOfVersion } = createVariables(instance.stores.variables, TEST_SECRET);
    expect(await readOfVersion(service.versionId)).toEqual({
      values: { MODE: "slow", DATABASE: "none" },
      secrets: [],
    });
    await send("PUT", ofService("MODE"), { value: "a secret of the service" });
    expect(await readOfVersion(service.versionId)).toMatchObject({ secrets: ["a secret of the service"] });
  });

  test.each([
    ["secrets", "variables"],
    ["variables", "secrets"],
  ])("and a secret share their names: what is one of the %s is none of the %s", async (first, second) => {
    for (const path of [(kind: string) => ofService("NAME", kind), (kind: string) => `/${kind}/NAME`]) {
      await send("PUT", path(first), { value: VALUE });
      const refused = await send("PUT", path(second), { value: VALUE });
      expect([refused.statusCode, refused.json()]).toMatchObject([409, { code: "CONFLICT" }]);
      await send("DELETE", path(first));
      // The revision counts on: a value that came back is not mistaken for the former one.
      expect((await send("PUT", path(second), { value: VALUE })).json()).toMatchObject({ revision: 3 });
    }
  });

  test("and a secret of one name that are set at once do not both win", async () => {
    const wanted = ["A", "B", "C", "D"].flatMap((name) =>
      ["secrets", "variables", "secrets", "variables"].map((kind) => [name, kind] as const),
    );
    await Promise.all(
      wanted.map(([name, kind]) => send("PUT", ofService(`RACED_${name}`, kind), { value: VALUE })),
    );
    const { rows } = await server.database.pool.query("select name from variable where revision <> 2");
    expect(rows).toEqual([]);
  });

  test("is a few KB of text", async () => {
    for (const body of [{ value: "a".repeat(8_193) }, { value: "a\0" }, { value: "a", name: "B" }, {}])
      expect((await send("PUT", ofService("REFUSED", "variables"), body)).statusCode).toBe(400);
  });
});

describe("a sealed value", () => {
  test.each([
    ["under another name", "update variable set name = 'MOVED_NAME' where name = 'MOVED'"],
    ["for the whole organisation", "update variable set scope_id = organisation_id where name = 'MOVED'"],
  ])("that somebody moved in the database does not open %s", async (_where, text) => {
    await send("PUT", ofService("MOVED"), { value: VALUE });
    await server.database.query({ text });
    await expect(read()).rejects.toThrow("The secret MOVED");
    await server.database.query({ text: "delete from variable where name like 'MOVED%'" });
  });

  test("of another secret of the platform is named in the error", async () => {
    await send("PUT", ofService("SEALED"), { value: VALUE });
    const other = createVariables(instance.stores.variables, {
      current: "another secret of the platform, as long",
      others: [],
    });
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
])("no secret and no variable is called %s", async (name) => {
  for (const path of [
    ofService(name),
    `/secrets/${name}`,
    ofService(name, "variables"),
    `/variables/${name}`,
  ]) {
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

test("fifty secrets and variables are enough, also when they are set at once", async () => {
  const full = await createTestService(instance, owner, "full");
  const answers = await Promise.all(
    Array.from({ length: 52 }, (_, index) =>
      send("PUT", `/services/${full.serviceKey}/${index % 2 === 0 ? "secrets" : "variables"}/S${index}`, {
        value: VALUE,
      }),
    ),
  );
  expect(answers.filter(({ statusCode }) => statusCode === 429)).toHaveLength(2);
});
