import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { LONG_LEASE, SUCCEEDED, createExecution } from "@platform/engine/testing/execution-fixtures";
import { waitUntil } from "@platform/engine/testing/wait-until";
import type { Claim } from "@platform/engine/store/execution-store";
import type { Owner } from "@platform/engine/store/owner";
import { createExecutionDatabase } from "../executions/execution-store.ts";
import { cancelExecutionsOf } from "../executions/cancel-many.ts";
import { createTestClient, createTestService, createTestUser } from "../../testing/fixtures.ts";
import type { TestService } from "../../testing/fixtures.ts";
import { createTestStore } from "../../testing/test-store.ts";
import type { TestStore } from "../../testing/test-store.ts";
import { createTestInstance } from "../../testing/instance.ts";
import type { TestInstance } from "../../testing/instance.ts";
import { createFeedStore, decodePosition, encodePosition, findStart } from "./feed.ts";
import type { FeedEvent, FeedStore } from "./feed.ts";

let scene: TestStore;
let instance: TestInstance;
let feed: FeedStore;
let service: TestService;
/** A job's owner, whose service it is. */
let own: Owner;

beforeAll(async () => {
  scene = await createTestStore();
  instance = await createTestInstance({ database: scene.home.database, executionStore: scene.store });
  feed = createFeedStore(scene.database);
  const user = await createTestUser(instance);
  service = await createTestService(instance, user);
  own = { kind: "organisation", id: user.organisationId, organisationId: user.organisationId };
});
afterAll(async () => {
  await instance?.close();
  await scene?.close();
});

let before = 0;
beforeEach(async () => {
  before = await feed.sequence();
});

async function readAll(): Promise<readonly FeedEvent[]> {
  await feed.sequence();
  return feed.read(null, before, 10_000);
}

const start = async (owner = own): Promise<string> => {
  const execution = createExecution({ owner, versionId: service.versionId });
  await scene.store.create(execution);
  return execution.id;
};

async function claim(id: string, leaseSeconds = LONG_LEASE): Promise<Claim> {
  const { claims } = await scene.store.claim({
    workerId: "w",
    sandboxLevel: "B",
    limit: 1,
    free: { cpu: 10, memory: 10 },
    leaseSeconds,
    excludedVersionIds: [],
    onlyId: id,
  });
  const [first] = claims;
  if (first === undefined) throw new Error("nothing to claim");
  return first;
}

function statesOf(events: readonly FeedEvent[], id: string): readonly string[] {
  return events.filter(({ executionId }) => executionId === id).map(({ status }) => status);
}

test("every change of state is in the feed, in its order, whoever made it", async () => {
  const { store } = scene;
  const plain = await start();
  await store.finish(await claim(plain), SUCCEEDED);
  const cancelled = await start();
  await store.cancel(cancelled, own.id);
  await store.cancel(cancelled, own.id);
  const returned = await start();
  await store.giveBack(await claim(returned), null);
  const lost = await start();
  await claim(lost, 0.01);
  await waitUntil(async () => (await store.sweep()) > 0);
  const running = await start();
  const held = await claim(running);
  await store.cancel(running, own.id);
  await store.finish(held, { status: "FAILED", code: "CANCELLED", detail: "" });
  const batch = await Promise.all(Array.from({ length: 20 }, () => start()));
  const claims = await Promise.all(batch.map((id) => claim(id)));
  await Promise.all(claims.map((one) => store.finish(one, SUCCEEDED)));
  const events = await readAll();
  expect(statesOf(events, plain)).toEqual(["PENDING", "RUNNING", "SUCCEEDED"]);
  expect(statesOf(events, cancelled)).toEqual(["PENDING", "FAILED"]);
  expect(statesOf(events, returned)).toEqual(["PENDING", "RUNNING", "PENDING"]);
  expect(statesOf(events, lost)).toEqual(["PENDING", "RUNNING", "UNKNOWN"]);
  expect(statesOf(events, running)).toEqual(["PENDING", "RUNNING", "FAILED"]);
  for (const id of batch) expect(statesOf(events, id)).toEqual(["PENDING", "RUNNING", "SUCCEEDED"]);
  expect(
    events.find(({ executionId, status }) => executionId === lost && status === "UNKNOWN"),
  ).toMatchObject({
    code: "WORKER_LOST",
    serviceKey: service.serviceKey,
    version: "1.0.0",
    subscriptionId: null,
    applicationId: null,
    organisationId: own.id,
    providerId: own.id,
  });
  await store.cancel(returned, own.id);
});

test("what a worker claims as it is created begins RUNNING, and what ends with its subscription FAILED", async () => {
  const { store } = scene;
  const stop = store.onCreate?.((claimNew) => {
    void claimNew({
      workerId: "w",
      sandboxLevel: "B",
      limit: 8,
      free: { cpu: 8, memory: 8 },
      leaseSeconds: 60,
      excludedVersionIds: [],
    });
  });
  const claimed = await start();
  stop?.();
  const waiting = await start();
  await scene.database.transaction((run) => cancelExecutionsOf(run, [own.id]));
  const events = await readAll();
  expect(statesOf(events, claimed)).toEqual(["RUNNING"]);
  expect(statesOf(events, waiting)).toEqual(["PENDING", "FAILED"]);
  await store.finish({ id: claimed, attempt: 1, workerId: "w" }, SUCCEEDED);
});

const INSERT = `insert into feed_new (execution_id, owner_kind, owner_id, organisation_id, version_id, status)
  values ($1, 'organisation', $2, $2, $3, 'PENDING')`;

test("a change whose transaction commits late is not missed by who has read what came after it", async () => {
  const client = await scene.database.pool.connect();
  try {
    const late = randomUUID();
    await client.query("begin");
    await client.query(INSERT, [late, own.id, service.versionId]);
    const early = await start();
    const read = await readAll();
    expect(read.map(({ executionId }) => executionId)).toEqual([early]);
    await client.query("commit");
    await feed.sequence();
    const rest = await feed.read(null, read.at(-1)?.position ?? 0, 10);
    expect(rest.map(({ executionId }) => executionId)).toEqual([late]);
    await scene.store.cancel(early, own.id);
  } finally {
    client.release();
  }
});

/** More than one statement moves. */
const MANY = 4_500;

async function insertMany(): Promise<void> {
  const ids = Array.from({ length: 7 }, () => randomUUID());
  await scene.database.query({
    text: `insert into feed_new (execution_id, owner_kind, owner_id, organisation_id, version_id, status, code)
      select ($1::uuid[])[1 + n % 7], 'organisation', $2, $2, $3, 'PENDING', n::text from generate_series(1, $4) n`,
    values: [ids, own.id, service.versionId, MANY],
  });
}

test("more changes than one statement moves keep their order as well", async () => {
  await insertMany();
  const events = await readAll();
  expect(events).toHaveLength(MANY);
  expect(events.findIndex(({ code }, index) => Number(code) !== index + 1)).toBe(-1);
});

test("who finds another at work moves what that one has left as well", async () => {
  const client = await scene.database.pool.connect();
  try {
    const half = createFeedStore({
      ...scene.database,
      query: async ({ name, text, values }) => {
        const { rows } = await client.query({ text, values: [...(values ?? [])] });
        if (name === "feed-sequence") throw new Error("it pauses after one part");
        return rows;
      },
    });
    await client.query("begin");
    await insertMany();
    await expect(half.sequence()).rejects.toThrow("it pauses");
    const events = readAll();
    await waitUntil(async () => {
      const text =
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      return (await scene.database.query({ text })).length > 0;
    });
    await client.query("commit");
    expect(await events).toHaveLength(MANY);
  } finally {
    await client.query("rollback");
    client.release();
  }
});

test("sequencers of several processes give each change one position, in the order of its execution", async () => {
  const databases = Array.from({ length: 3 }, () =>
    createExecutionDatabase(scene.home.target, { logger: scene.home.logger }),
  );
  const feeds = databases.map((database) => createFeedStore(database));
  try {
    let isOver = false;
    const sequencing = feeds.map(async (one) => {
      for (;;) {
        await one.sequence();
        if (isOver) return;
      }
    });
    const ids = await Promise.all(
      Array.from({ length: 60 }, async () => {
        const id = await start();
        await scene.store.finish(await claim(id), SUCCEEDED);
        return id;
      }),
    );
    isOver = true;
    await Promise.all(sequencing);
    const events = await readAll();
    for (const id of ids) expect(statesOf(events, id)).toEqual(["PENDING", "RUNNING", "SUCCEEDED"]);
    expect(new Set(events.map(({ position }) => position)).size).toBe(events.length);
  } finally {
    await Promise.all(databases.map((database) => database.close()));
  }
});

test("a sequencer that is killed in its work has moved nothing, and keeps no other from it", async () => {
  const id = await start();
  const client = await scene.database.pool.connect();
  client.on("error", () => undefined);
  const killed = createFeedStore({
    ...scene.database,
    query: async (statement) =>
      (await client.query({ text: statement.text, values: [...(statement.values ?? [])] })).rows,
  });
  await client.query("begin");
  await killed.sequence();
  const [{ pid }] = (await client.query("select pg_backend_pid() as pid")).rows as [{ pid: number }];
  const other = readAll();
  await scene.database.query({ text: "select pg_terminate_backend($1)", values: [pid] });
  expect(statesOf(await other, id)).toEqual(["PENDING"]);
  client.release(true);
  await scene.store.cancel(id, own.id);
});

test("an application reads what its subscriptions started, an organisation that, its jobs, and what others start of its services", async () => {
  const [consumer, other] = await Promise.all([createTestUser(instance), createTestUser(instance)]);
  await instance.stores.services.publish(own.organisationId, service.serviceKey, "marketplace");
  const client = await createTestClient(instance, consumer, service);
  const subscribed = await start({
    kind: "subscription",
    id: client.subscriptionId,
    organisationId: consumer.organisationId,
  });
  const job = await start();
  await scene.store.cancel(subscribed, client.subscriptionId);
  await feed.sequence();
  const read = async (kind: "application" | "organisation", id: string) =>
    (await feed.read({ kind, id }, before, 10)).map(({ executionId }) => executionId);
  expect(await read("application", client.applicationId)).toEqual([subscribed, subscribed]);
  expect(await read("organisation", consumer.organisationId)).toEqual([subscribed, subscribed]);
  expect(await read("organisation", own.organisationId)).toEqual([subscribed, job, subscribed]);
  expect(await read("organisation", other.organisationId)).toEqual([]);
  for (const reader of [
    { kind: "application", id: client.applicationId },
    { kind: "organisation", id: consumer.organisationId },
    { kind: "organisation", id: own.organisationId },
  ] as const) {
    const [first] = await feed.read(reader, before, 1);
    expect([first?.executionId, first?.status]).toEqual([subscribed, "PENDING"]);
  }
  expect(await read("application", randomUUID())).toEqual([]);
  expect(await read("application", "none")).toEqual([]);
  expect((await feed.read(null, before, 1)).map(({ subscriptionId }) => subscriptionId)).toEqual([
    client.subscriptionId,
  ]);
});

interface PlanNode {
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** The most rows of feed_event that a part of the plan has looked at. */
function countLooked(node: PlanNode): number {
  const own = node["Relation Name"] === "feed_event" ? node["Actual Rows"] : 0;
  const removed = node["Rows Removed by Filter"] ?? 0;
  return Math.max(own + removed, ...(node.Plans ?? []).map(countLooked));
}

test("a page reads little more than its events, however many others there are, also of who has few", async () => {
  const [rare = "", ...others] = Array.from({ length: 20 }, () => randomUUID());
  const [busy = ""] = others;
  await scene.database.query({
    text: `insert into feed_event (position, at, execution_id, status, service_key, version, application_id, organisation_id, provider_id)
      select (select max(position) from feed_mark) + n, now(), gen_random_uuid(), 'PENDING', $1, '1.0.0', o.id, o.id, o.id
      from generate_series(1, 5000) n cross join lateral (select case when n % 1000 = 0 then $2::uuid else ($3::uuid[])[1 + n % 19] end as id) o`,
    values: [service.serviceKey, rare, others],
  });
  await scene.home.database.query({ text: "analyze feed_event" });
  const looked: number[] = [];
  const query: typeof scene.database.query = async (statement) => {
    const { text, values = [] } = statement;
    const [row] = await scene.database.query<{
      readonly "QUERY PLAN": readonly [{ readonly Plan: PlanNode }];
    }>({
      text: `explain (analyze, format json) ${text}`,
      values,
    });
    if (row !== undefined) looked.push(countLooked(row["QUERY PLAN"][0].Plan));
    return await scene.database.query(statement);
  };
  const explained = createFeedStore({ ...scene.database, query });
  expect(await explained.read(null, before, 50)).toHaveLength(50);
  for (const kind of ["application", "organisation"] as const) {
    expect(await explained.read({ kind, id: busy }, before, 50)).toHaveLength(50);
    expect(await explained.read({ kind, id: rare }, before, 50)).toHaveLength(5);
  }
  await scene.database.query({
    text: "delete from feed_event where organisation_id = any ($1)",
    values: [[rare, ...others]],
  });
  expect(looked).toHaveLength(5);
  expect(Math.max(...looked)).toBeLessThan(200);
});

test("events are removed after seven days, and a cursor of before is refused then", async () => {
  await start();
  const [event, kept] = [(await readAll())[0], await start()];
  await feed.sequence();
  await scene.database.query({
    text: "update feed_event set at = now() - interval '7 days' + interval '1 hour' where execution_id = $1",
    values: [kept],
  });
  await scene.database.query({
    text: "update feed_event set at = now() - interval '7 days 1 minute' where position <= $1",
    values: [event?.position],
  });
  while ((await feed.removeOld()) > 0);
  const range = await feed.readRange();
  expect(range.removed).toBe(event?.position);
  expect((await feed.read(null, range.removed, 10)).map(({ executionId }) => executionId)).toEqual([kept]);
  expect(findStart(encodePosition(range.removed), range)).toBe(range.removed);
  expect(findStart("0", range)).toBe(range.removed);
  // A reader that was let in before they were removed is not told that there were none.
  await expect(feed.read(null, range.removed - 1, 1)).rejects.toMatchObject({ code: "CURSOR_EXPIRED" });
  const nobody = { kind: "organisation", id: randomUUID() } as const;
  await expect(feed.read(nobody, range.removed - 1, 1)).rejects.toMatchObject({ code: "CURSOR_EXPIRED" });
  expect(await feed.read(nobody, range.removed, 1)).toEqual([]);
  for (const position of [range.removed - 1, range.head + 1])
    expect(() => findStart(encodePosition(position), range)).toThrow(
      expect.objectContaining({ code: "CURSOR_EXPIRED" }),
    );
  for (const cursor of ["", "x", "-1", "WyIxZTkiXQ", "WyIxIiwiMiJd"])
    expect(() => decodePosition(cursor)).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
});
