import { afterAll, beforeAll, expect, test } from "vitest";
import { readTerms } from "../api/plan-terms.ts";
import {
  createExecutionDatabase,
  createPostgresExecutionStore,
} from "../store/executions/execution-store.ts";
import type { PostgresExecutionStore } from "../store/executions/execution-store.ts";
import {
  createTestClient,
  createTestService,
  createTestUser,
  fetchAccessToken,
} from "../testing/fixtures.ts";
import type { TestClient, TestService, TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

/** Starts of an application at once are ten times as many. */
const PER_SECOND = 0.5;

let home: TestDatabase;
const stores: PostgresExecutionStore[] = [];
/** Two hosts. */
const instances: TestInstance[] = [];
let here: TestInstance;
let there: TestInstance;
let owner: TestUser;
let service: TestService;

beforeAll(async () => {
  home = await createTestDatabase();
  const open = async () => {
    const executionStore = createPostgresExecutionStore({
      database: createExecutionDatabase(home.target, home),
    });
    stores.push(executionStore);
    const instance = await createTestInstance({
      database: home.connect(),
      executionStore,
      startsPerSecond: PER_SECOND,
    });
    instances.push(instance);
    return instance;
  };
  [here, there] = [await open(), await open()];
  owner = await createTestUser(here);
  service = await createTestService(here, owner);
});
afterAll(async () => {
  await Promise.all(instances.map((instance) => instance.close()));
  await Promise.all(stores.map((store) => store.close()));
  await home?.close();
});

async function createCaller(client: TestClient, called = service) {
  const authorization = `Bearer ${await fetchAccessToken(here, client)}`;
  const url = `/${called.serviceKey}/${called.serviceName}/${called.version}/`;
  return async (key: string, { gateway }: TestInstance = here, payload = "{}") => {
    const headers = { authorization, "content-type": "application/json", "idempotency-key": key };
    const answer = await gateway.inject({ method: "POST", url, headers, payload });
    return {
      ...answer.json<{ id: string; code?: string }>(),
      status: answer.statusCode,
      isReplay: answer.headers["idempotency-replayed"] === "true",
    };
  };
}

test("starts with one key that race over two gateways are one execution", async () => {
  const start = await createCaller(await createTestClient(here, owner, service));
  const answers = await Promise.all(
    Array.from({ length: 4 }, (_, index) => start("race", index % 2 === 0 ? here : there)),
  );
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  expect(answers.filter(({ isReplay }) => isReplay)).toHaveLength(3);
  expect(await start("race", there, "{ }")).toMatchObject({ status: 409, code: "IDEMPOTENCY_CONFLICT" });
});

test("a repetition costs no start of the limit and nothing of the cap", async () => {
  const terms = { ...readTerms({ name: "One", limits: { perMonth: 1, perMinute: 3 } }), id: "one" };
  await here.stores.plans.put(owner.organisationId, service.serviceKey, terms);
  const client = await createTestClient(here, owner, service);
  await here.stores.subscriptions.change(owner.organisationId, client.subscriptionId, { planId: "one" });
  const start = await createCaller(client);
  const { id } = await start("a");
  for (let tries = 0; tries < 12; tries++)
    expect(await start("a")).toMatchObject({ status: 201, id, isReplay: true });
  expect(await start("b")).toMatchObject({ status: 429, code: "QUOTA_EXCEEDED" });
});

test("ten thousand keys are bounded by the limit of starts", async () => {
  const start = await createCaller(await createTestClient(here, owner, service));
  const before = await countKeys();
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) => start(`many ${index}`.replace(" ", "-"))),
  );
  const accepted = answers.filter(({ status }) => status === 201).length;
  expect(answers.every(({ status }) => status === 201 || status === 429)).toBe(true);
  expect(accepted).toBeLessThan(20);
  expect((await countKeys()) - before).toBe(accepted);
});

const countKeys = async () => (await home.database.query({ text: "select 1 from idempotency_key" })).length;

test("a repetition is answered when the version was retired since", async () => {
  const client = await createTestClient(here, owner, service);
  const start = await createCaller(client);
  const { id } = await start("retired");
  await here.stores.versions.retire(owner.organisationId, service.serviceKey, service.version);
  try {
    let tries = 0;
    await expect.poll(async () => (await start(`other-${tries++}`)).code).toBe("VERSION_RETIRED");
    // Who tries often is limited.
    await expect.poll(() => start("retired")).toMatchObject({ status: 201, id, isReplay: true });
  } finally {
    await home.database.query({ text: "update version set retired_at = null" });
  }
});

test("jobs have keys of their organisation, and the version that the request names is part of it", async () => {
  const start = async (version?: string) => {
    const answer = await there.api.inject({
      method: "POST",
      url: `/api/jobs?serviceKey=${service.serviceKey}${version === undefined ? "" : `&version=${version}`}`,
      headers: {
        authorization: `Bearer ${owner.token}`,
        "content-type": "application/json",
        "idempotency-key": "job",
      },
      payload: "{}",
    });
    const { id, code } = answer.json<{ id?: string; code?: string }>();
    return { status: answer.statusCode, id, code, replayed: answer.headers["idempotency-replayed"] };
  };
  const { id } = await start();
  expect(await start()).toMatchObject({ status: 201, id, replayed: "true" });
  expect(await start(service.version)).toMatchObject({ status: 409, code: "IDEMPOTENCY_CONFLICT" });
});
