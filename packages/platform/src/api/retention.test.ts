import type { KeptDays } from "@platform/contract/execution";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createMemoryStore } from "@platform/engine/store/memory-store";
import type { NewExecution } from "@platform/engine/store/execution-store";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import {
  createTestClient,
  createTestService,
  createTestUser,
  fetchAccessToken,
} from "../testing/fixtures.ts";
import type { TestService, TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
let instance: TestInstance;
let provider: TestUser;
let service: TestService;
let call: CallApi;
const started: NewExecution[] = [];

beforeAll(async () => {
  home = await createTestDatabase();
  const store = createMemoryStore();
  const executionStore: typeof store = {
    ...store,
    create: async (execution) => {
      started.push(execution);
      return await store.create(execution);
    },
  };
  instance = await createTestInstance({ database: home.database, executionStore });
  call = createApiCaller(instance);
  provider = await createTestUser(instance);
  service = await createTestService(instance, provider, "kept");
});
afterAll(async () => {
  await instance?.close();
  await home?.close();
});

async function set(days: object, by = provider, key = service.serviceKey) {
  return await call(by, `PUT /services/${key}`, days);
}

test("a service says for how many days executions are kept, and takes it back", async () => {
  const path = `GET /services/${service.serviceKey}`;
  expect((await call(provider, path)).body).toMatchObject({ resultDays: null, logDays: null });
  expect((await set({ resultDays: 45 })).body).toMatchObject({ resultDays: 45, logDays: null });
  expect((await set({ logDays: 3 })).body).toMatchObject({ resultDays: 45, logDays: 3 });
  expect((await set({ description: "other" })).body).toMatchObject({ resultDays: 45, logDays: 3 });
  expect((await set({ resultDays: null })).body).toMatchObject({ resultDays: null, logDays: 3 });
  expect((await call(provider, path)).body).toMatchObject({ resultDays: null, logDays: 3 });
  await set({ logDays: null });
});

test("more days than the operator allows are refused, of results and of logs, and nothing is changed", async () => {
  for (const days of [{ resultDays: 61 }, { logDays: 61 }, { resultDays: 5, logDays: 3650 }])
    expect(await set(days)).toMatchObject({
      status: 429,
      body: { code: "QUOTA_EXCEEDED", detail: expect.stringContaining("at most 60 days") },
    });
  expect(await set({ resultDays: 60, logDays: 60 })).toMatchObject({ status: 200 });
  expect(await set({ resultDays: null, logDays: null })).toMatchObject({
    body: { resultDays: null, logDays: null },
  });
});

test("what is no number of days is refused", async () => {
  for (const days of [0, -1, 1.5, 3651, "7", true, [7], 1e300])
    for (const name of ["resultDays", "logDays"])
      expect(await set({ [name]: days })).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } });
});

test("the service of another organisation is not found, whatever is asked for", async () => {
  const stranger = await createTestUser(instance);
  for (const days of [{ resultDays: 5 }, { resultDays: 3650 }])
    for (const key of [service.serviceKey, randomUUID(), "x"])
      expect(await set(days, stranger, key)).toMatchObject({
        status: 404,
        body: { code: "SERVICE_NOT_FOUND" },
      });
});

test("an execution is stored with what its service says when it is started, through the gateway and as a job", async () => {
  const client = await createTestClient(instance, provider, service);
  const bearer = await fetchAccessToken(instance, client);
  const startBoth = async (): Promise<readonly (KeptDays | undefined)[]> => {
    started.length = 0;
    const response = await instance.gateway.inject({
      method: "POST",
      url: `/${service.serviceKey}/${service.serviceName}/1.0.0/`,
      headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
      payload: "{}",
    });
    expect(response.statusCode).toBe(201);
    expect((await call(provider, `POST /jobs?serviceKey=${service.serviceKey}`, {})).status).toBe(201);
    return started.map(({ kept }) => kept);
  };
  expect(await startBoth()).toEqual([undefined, undefined]);
  await set({ resultDays: 10, logDays: 2 });
  const kept = { result: 10, log: 2 };
  // The gateway follows a notification.
  await waitUntil(async () => (await startBoth())[0] !== undefined);
  expect(await startBoth()).toEqual([kept, kept]);
});

test("the marketplace shows for how long what is started now is kept", async () => {
  const offered = await createTestService(instance, provider, "offered");
  await call(provider, `POST /services/${offered.serviceKey}/publish`, { scope: "marketplace" });
  const show = async () => (await call(provider, `GET /marketplace/${offered.serviceKey}`)).body;
  expect(await show()).toMatchObject({ resultDays: 30, logDays: 7 });
  await set({ resultDays: 3 }, provider, offered.serviceKey);
  expect(await show()).toMatchObject({ resultDays: 3, logDays: 3 });
  await set({ resultDays: 45, logDays: 20 }, provider, offered.serviceKey);
  expect(await show()).toMatchObject({ resultDays: 45, logDays: 20 });
});
