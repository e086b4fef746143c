import { afterAll, beforeAll, expect, test } from "vitest";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import { createTestService, createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
let instance: TestInstance;
let provider: TestUser;
let call: CallApi;

beforeAll(async () => {
  home = await createTestDatabase();
  instance = await createTestInstance({ database: home.database });
  call = createApiCaller(instance);
  provider = await createTestUser(instance);
});
afterAll(async () => {
  await instance?.close();
  await home?.close();
});

test("a listing is replaced only as it was read, if its revision is sent; the same one changes nothing", async () => {
  const service = await createTestService(instance, provider, "twice-open");
  const path = `/services/${service.serviceKey}/listing`;
  const put = async (body: object) => await call(provider, `PUT ${path}`, body);
  const example = { data: { z: 1, a: [1, { x: null }] } };
  expect((await put({ title: "One", exampleInput: example, revision: 0 })).body).toMatchObject({
    revision: 1,
  });
  expect(await put({ title: "Another", revision: 0 })).toMatchObject({
    status: 409,
    body: {
      code: "CONFLICT",
      detail: expect.stringContaining("The newest revision of the listing is 1, not 0"),
    },
  });
  // An answer that was lost is asked for again.
  const again = await put({ title: "One", exampleInput: example, revision: 0 });
  expect(again).toMatchObject({ status: 200, body: { title: "One", revision: 1 } });
  const turned = { data: { a: [1, { x: null }], z: 1 } };
  const reordered = await put({ title: "One", exampleInput: turned, revision: 1 });
  expect(JSON.stringify(reordered.body["exampleInput"])).toBe(JSON.stringify(turned));
  const race = await Promise.all(["a", "b", "c", "d"].map((title) => put({ title, revision: 2 })));
  expect(race.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
  expect((await put({ title: "Whatever there is" })).body).toMatchObject({ revision: 4 });
});

test("a plan is replaced only as it was read, if its revision is sent; of none it is made, and of one withdrawn not", async () => {
  const service = await createTestService(instance, provider, "read-before");
  const path = `/services/${service.serviceKey}/plans/pro`;
  const put = async (body: object) => await call(provider, `PUT ${path}`, { name: "Pro", ...body });
  expect(await put({ revision: 1 })).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
  expect(await put({ revision: 0 })).toMatchObject({ status: 201, body: { revision: 1 } });
  // Who makes a plan does not change one without knowing.
  expect(await put({ revision: 0, included: 5 })).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining("has such a plan already") },
  });
  expect(await put({ revision: 1, included: 2 })).toMatchObject({ status: 200, body: { revision: 2 } });
  expect(await put({ revision: 1, included: 3 })).toMatchObject({
    status: 409,
    body: {
      code: "CONFLICT",
      detail: expect.stringContaining("The newest revision of the plan is 2, not 1"),
    },
  });
  // An answer that was lost is asked for again.
  expect(await put({ revision: 1, included: 2 })).toMatchObject({ status: 200, body: { revision: 2 } });
  expect((await call(provider, `DELETE ${path}`)).status).toBe(204);
  expect(await put({ revision: 2, included: 9 })).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining("was withdrawn") },
  });
});
