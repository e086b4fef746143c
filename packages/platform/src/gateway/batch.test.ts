import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Batch } from "@platform/contract/batch";
import { Problem } from "@platform/contract/problems";
import { createUuidV7 } from "@platform/engine/base/uuid";
import { createExecution } from "@platform/engine/testing/execution-fixtures";
import { createKey } from "@platform/engine/testing/idempotency-conformance";
import { readTerms } from "../api/plan-terms.ts";
import { removeOldBatches } from "../store/executions/batches.ts";
import {
  createExecutionDatabase,
  createPostgresExecutionStore,
} from "../store/executions/execution-store.ts";
import {
  createTestClient,
  createTestService,
  createTestUser,
  fetchAccessToken,
} from "../testing/fixtures.ts";
import type { TestClient, TestService, TestUser } from "../testing/fixtures.ts";
import { startGatewayMember } from "../testing/gateway-members.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
let here: TestInstance;
/** Another host. */
let there: TestInstance;
let owner: TestUser;
let service: TestService;

beforeAll(async () => {
  home = await createTestDatabase();
  const start = async () => {
    const executionStore = createPostgresExecutionStore({
      database: createExecutionDatabase(home.target, home),
    });
    return await createTestInstance({ database: home.connect(), executionStore, startsPerSecond: 200 });
  };
  here = await start();
  there = await start();
  owner = await createTestUser(here);
  service = await createTestService(here, owner);
});
afterAll(async () => {
  await Promise.all([here?.close(), there?.close()]);
  await home?.close();
});

const createItems = (count: number) => Array.from({ length: count }, (_, n) => ({ data: { n } }));
const createTarget = () => ({
  id: service.versionId,
  resources: { cpu: 1, memory: 1 },
  timeoutSeconds: 60,
  inputSchema: null,
});
const basePath = () => `/${service.serviceKey}/${service.serviceName}/${service.version}`;

async function createCaller(client: TestClient) {
  const authorization = `Bearer ${await fetchAccessToken(here, client)}`;
  const send = (
    method: "GET" | "POST" | "PUT",
    path: string,
    {
      payload,
      headers = {},
      at = here,
    }: Partial<{ payload: string; headers: object; at: TestInstance }> = {},
  ) =>
    at.gateway.inject({
      method,
      url: `${basePath()}${path}`,
      headers: { authorization, "content-type": "application/json", ...headers },
      ...(payload === undefined ? {} : { payload }),
    });
  return {
    authorization,
    send,
    start: (items: readonly unknown[], key?: string, at?: TestInstance) =>
      send("POST", "/batch", {
        payload: JSON.stringify({ items }),
        headers: key === undefined ? {} : { "idempotency-key": key },
        ...(at === undefined ? {} : { at }),
      }),
  };
}

const countExecutions = async ({ subscriptionId }: TestClient) =>
  (
    await home.database.query({
      text: "select 1 from execution where owner_id = $1",
      values: [subscriptionId],
    })
  ).length;

const listIds = ({ items }: Batch) => items.map(({ id }) => id);

test("a batch of 1,000 is stored with the ids that are answered, in the order of its items", async () => {
  const client = await createTestClient(here, owner, service);
  const { start, send } = await createCaller(client);
  const answer = await start(createItems(1_000));
  expect(answer.statusCode).toBe(201);
  const batch = answer.json<Batch>();
  expect(batch).toMatchObject({ total: 1_000, refused: 0, counts: { PENDING: 1_000 } });
  expect(await countExecutions(client)).toBe(1_000);
  expect((await send("GET", `/batch/${batch.id}`, { at: there })).json()).toMatchObject({
    total: 1_000,
    counts: { PENDING: 1_000 },
    complete: true,
  });
  const rows = await home.database.query<{ body: Buffer }>({
    text: "select body from execution_input where id = any ($1::uuid[]) order by array_position($1::uuid[], id)",
    values: [listIds(batch)],
  });
  expect(rows.map(({ body }) => JSON.parse(String(body)))).toEqual(createItems(1_000));
});

test("each item counts as a start: what is beyond the plan or the application is told when to come back, and counted once for a key", async () => {
  const terms = { ...readTerms({ name: "Slow", limits: { perMinute: 6 } }), id: "slow" };
  await here.stores.plans.put(owner.organisationId, service.serviceKey, terms);
  const client = await createTestClient(here, owner, service);
  await here.stores.subscriptions.change(owner.organisationId, client.subscriptionId, { planId: "slow" });
  const { start } = await createCaller(client);
  const first = (await start(createItems(4), "four")).json<Batch>();
  expect(first.refused).toBe(0);
  for (let repeated = 0; repeated < 5; repeated++)
    expect(listIds((await start(createItems(4), "four")).json<Batch>())).toEqual(listIds(first));
  const { items } = (await start(createItems(100))).json<Batch>();
  const started = items.filter(({ id }) => id !== undefined);
  // A slow machine refills some: one in ten seconds.
  expect(started.length).toBeGreaterThanOrEqual(2);
  expect(started.length).toBeLessThanOrEqual(8);
  expect(items.slice(0, started.length)).toEqual(started);
  for (const item of items.slice(started.length)) {
    expect(item).toMatchObject({
      code: "RATE_LIMITED",
      detail: expect.stringContaining("6 starts a minute"),
    });
    expect(item.retryAfterSeconds).toBeGreaterThanOrEqual(1);
  }
  expect(await countExecutions(client)).toBe(4 + started.length);
  const alone = await start([{}]);
  expect([alone.statusCode, alone.json().code]).toEqual([429, "RATE_LIMITED"]);
});

test("a plan's cap lets so many of the items start", async () => {
  const terms = { ...readTerms({ name: "Capped", limits: { perMonth: 3 } }), id: "capped" };
  await here.stores.plans.put(owner.organisationId, service.serviceKey, terms);
  const client = await createTestClient(here, owner, service);
  await here.stores.subscriptions.change(owner.organisationId, client.subscriptionId, { planId: "capped" });
  const { items } = (await (await createCaller(client)).start(createItems(5))).json<Batch>();
  expect(items.map(({ code }) => code)).toEqual([
    undefined,
    undefined,
    undefined,
    "QUOTA_EXCEEDED",
    "QUOTA_EXCEEDED",
  ]);
  expect(items[4]?.retryAfterSeconds).toBeGreaterThanOrEqual(1);
});

test("two gateways that get a batch with one key at one moment start each item once", async () => {
  const client = await createTestClient(here, owner, service);
  const { start } = await createCaller(client);
  const answers = await Promise.all([here, there].map((at) => start(createItems(300), "race", at)));
  const [first, second] = answers.map((answer) => answer.json<Batch>());
  if (first === undefined || second === undefined) throw new Error("there were two");
  expect(listIds(second)).toEqual(listIds(first));
  expect(listIds(first).every(Boolean)).toBe(true);
  expect(answers.filter(({ headers }) => headers["idempotency-replayed"] === "true")).toHaveLength(1);
  expect(await countExecutions(client)).toBe(300);
});

test("a gateway that is killed within a batch leaves nothing that its repetition starts twice", async () => {
  const client = await createTestClient(here, owner, service);
  const { start, authorization } = await createCaller(client);
  const items = createItems(1_000);
  const member = await startGatewayMember(home);
  onTestFinished(member.close);
  // Holds the creation of executions up once the first ones are there, however fast the machine is.
  const lock = await home.database.pool.connect();
  onTestFinished(() => lock.release(true));
  const cut = fetch(`${member.gatewayUrl}${basePath()}/batch`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json", "idempotency-key": "killed" },
    body: JSON.stringify({ items }),
  }).catch(() => "cut off");
  await expect.poll(() => countExecutions(client), { interval: 1 }).toBeGreaterThan(0);
  await lock.query("begin");
  await lock.query("lock table execution in share row exclusive mode");
  await member.kill();
  await lock.query("rollback");
  await cut;
  const before = new Set(
    (
      await home.database.query<{ id: string }>({
        text: "select id from execution where owner_id = $1",
        values: [client.subscriptionId],
      })
    ).map(({ id }) => id),
  );
  const answer = await start(items, "killed");
  expect([answer.statusCode, answer.headers["idempotency-replayed"]]).toEqual([201, "true"]);
  const ids = listIds(answer.json<Batch>());
  expect(new Set(ids).size).toBe(1_000);
  expect([...before].filter((id) => !ids.includes(id))).toEqual([]);
  expect(await countExecutions(client)).toBe(1_000);
});

test("a cancellation cancels also what was started after it by who had not noticed, and was killed then", async () => {
  const client = await createTestClient(here, owner, service);
  const { send } = await createCaller(client);
  const ownerId = client.subscriptionId;
  const subscription = { kind: "subscription", id: ownerId, organisationId: owner.organisationId } as const;
  const store = createPostgresExecutionStore({ database: createExecutionDatabase(home.target, home) });
  onTestFinished(store.close);
  const [before, after, never] = [createUuidV7(), createUuidV7(), createUuidV7()] as const;
  const id = createUuidV7();
  await store.openBatch({ id, ownerId, itemIds: [before, after, never], holder: createUuidV7() }, true);
  const start = async (itemId: string) =>
    await store.create(createExecution({ id: itemId, owner: subscription, versionId: service.versionId }));
  await start(before);
  const answered = send("PUT", `/batch/${id}/cancel`, { at: there });
  await expect
    .poll(async () => await store.readStates([before], ownerId), { interval: 10 })
    .toEqual(new Map([[before, "FAILED"]]));
  await start(after);
  // Nothing renews its hold any more.
  await home.database.query({
    text: "update execution_batch set held_until = now() where id = $1",
    values: [id],
  });
  const answer = await answered;
  expect([answer.statusCode, answer.json()]).toMatchObject([
    200,
    {
      cancelled: true,
      complete: true,
      terminal: true,
      counts: { FAILED: 2 },
      items: [
        { id: before, status: "FAILED" },
        { id: after, status: "FAILED" },
        { index: 2, code: "CONFLICT", detail: expect.stringContaining("cancelled") },
      ],
    },
  ]);
});

test("who was held up, and starts some of a batch after a cancellation has taken it over, cancels these", async () => {
  const { subscriptionId: id } = await createTestClient(here, owner, service);
  const subscription = { kind: "subscription", id, organisationId: owner.organisationId } as const;
  const view = await here.executions.batches.start(subscription, {
    body: Buffer.from(JSON.stringify({ items: createItems(3) })),
    findTarget: () => createTarget(),
    countStarts: async (granted) => {
      const [batch] = await home.database.query<{ id: string }>({
        text: "update execution_batch set held_until = now() where owner_id = $1 returning id",
        values: [id],
      });
      const cancelled = await there.executions.batches.cancel(batch?.id ?? "", id);
      expect(cancelled.batch.refusals).toMatchObject([{ code: "CONFLICT", at: [0, 1, 2] }]);
      return { granted, refusal: null };
    },
  });
  expect(view.batch.isCancelled).toBe(true);
  const states = await there.executions.batches.progress(view.batch.id, id);
  expect([...view.states.values(), ...states.states.values()].every((status) => status === "FAILED")).toBe(
    true,
  );
});

test("going on with a batch counts and refuses only what was not started", async () => {
  const { subscriptionId: id } = await createTestClient(here, owner, service);
  const subscription = { kind: "subscription", id, organisationId: owner.organisationId } as const;
  const body = Buffer.from(JSON.stringify({ items: createItems(5) }));
  const asked: number[] = [];
  const start = async (granted: number) =>
    await here.executions.batches.start(subscription, {
      body,
      key: createKey("cut off", body),
      findTarget: () => createTarget(),
      countStarts: async (count) => {
        asked.push(count);
        return { granted, refusal: new Problem("RATE_LIMITED") };
      },
    });
  const first = await start(2);
  expect(first.states.size).toBe(2);
  // As if it had been cut off before it was complete.
  await home.database.query({
    text: "update execution_batch set refusals = null, held_until = now() where id = $1",
    values: [first.batch.id],
  });
  const second = await start(1);
  expect(asked).toEqual([5, 3]);
  expect([...second.states.keys()]).toEqual(second.batch.itemIds.slice(0, 3));
  expect(second.batch.refusals).toMatchObject([{ code: "RATE_LIMITED", at: [3, 4] }]);
});

test("another application's batch, and one of another organisation, is not there", async () => {
  const [mine, other] = await Promise.all([1, 2].map(() => createTestClient(here, owner, service)));
  if (mine === undefined || other === undefined) throw new Error("there are two");
  const { id } = (await (await createCaller(mine)).start(createItems(2))).json<Batch>();
  const stranger = await createCaller(other);
  for (const answer of [
    await stranger.send("GET", `/batch/${id}`),
    await stranger.send("PUT", `/batch/${id}/cancel`),
  ])
    expect([answer.statusCode, answer.json().code]).toEqual([404, "NOT_FOUND"]);
  const foreign = await createTestUser(here);
  const headers = { authorization: `Bearer ${foreign.token}` };
  const job = await here.api.inject({ url: `/api/jobs/batch/${id}`, headers });
  expect([job.statusCode, job.json().code]).toEqual([404, "NOT_FOUND"]);
});

test("jobs are started, followed and cancelled as a batch; the cancellation is in the audit log and the feed", async () => {
  const headers = { authorization: `Bearer ${owner.token}`, "content-type": "application/json" };
  const send = (method: "GET" | "POST" | "PUT", path: string, payload?: string) =>
    here.api.inject({
      method,
      url: `/api/jobs/batch${path}`,
      headers,
      ...(payload === undefined ? {} : { payload }),
    });
  const started = await send(
    "POST",
    `?serviceKey=${service.serviceKey}`,
    JSON.stringify({ items: createItems(600) }),
  );
  expect(started.statusCode).toBe(201);
  const { id, items } = started.json<Batch>();
  expect(started.headers.location).toBe(`/api/jobs/batch/${id}`);
  const cancelled = await send("PUT", `/${id}/cancel`);
  expect(cancelled.json()).toMatchObject({ cancelled: true, terminal: true, done: 600, failed: 600 });
  const again = await send("PUT", `/${id}/cancel`);
  expect(again.json()).toMatchObject({ cancelled: true, counts: { FAILED: 600 } });
  const [first] = items;
  expect(
    (await here.api.inject({ url: `/api/jobs/${first?.id ?? ""}/result`, headers })).json(),
  ).toMatchObject({
    code: "CANCELLED",
  });
  const audit = await here.api.inject({ url: "/api/audit-events?action=job-batch.cancel", headers });
  expect(audit.json().items[0]).toMatchObject({
    action: "job-batch.cancel",
    target: { type: "job-batch", id },
    outcome: "done",
  });
  const noted = await home.database.query({
    // A change moves from the one to the other when it gets its position.
    text: `select 1 from (select execution_id, status from feed_new union all select execution_id, status from feed_event) noted
      where execution_id = any ($1::uuid[]) and status = 'FAILED'`,
    values: [items.map((item) => item.id)],
  });
  expect(noted).toHaveLength(600);
});

test("a batch is removed when none of its executions is left, and looked at again a day later before", async () => {
  const client = await createTestClient(here, owner, service);
  const { start, send } = await createCaller(client);
  const { id, items } = (await start(createItems(2))).json<Batch>();
  const age = (days: number) =>
    home.database.query({
      text: "update execution_batch set due_at = now() - make_interval(days => $2) where id = $1",
      values: [id, days],
    });
  await age(29);
  expect(await removeOldBatches(home.database, 30)).toBe(0);
  await age(31);
  expect(await removeOldBatches(home.database, 30)).toBe(0);
  await home.database.query({
    text: "delete from execution where id = any ($1::uuid[])",
    values: [listIds({ items } as Batch)],
  });
  // It was looked at a moment ago.
  expect(await removeOldBatches(home.database, 30)).toBe(0);
  await age(31);
  expect(await removeOldBatches(home.database, 30)).toBe(1);
  expect((await send("GET", `/batch/${id}`, { at: there })).statusCode).toBe(404);
});
