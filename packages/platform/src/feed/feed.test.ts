import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { SILENT } from "@platform/engine/testing/silent-logger";
import { SUCCEEDED, createExecution } from "@platform/engine/testing/execution-fixtures";
import { waitUntil } from "@platform/engine/testing/wait-until";
import type { Owner } from "@platform/engine/store/owner";
import {
  createExecutionDatabase,
  createPostgresExecutionStore,
} from "../store/executions/execution-store.ts";
import { createFeedStore, encodePosition } from "../store/feed/feed.ts";
import type { FeedReader, FeedStore } from "../store/feed/feed.ts";
import { createTestService, createTestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import { createTestStore } from "../testing/test-store.ts";
import type { TestStore } from "../testing/test-store.ts";
import { createFeed } from "./feed.ts";
import type { Feed } from "./feed.ts";

let scene: TestStore;
let owner: Owner;
let versionId: string;
let closeInstance: () => Promise<void>;

beforeAll(async () => {
  scene = await createTestStore();
  const instance = await createTestInstance({ database: scene.home.database, executionStore: scene.store });
  closeInstance = instance.close;
  const user = await createTestUser(instance);
  ({ versionId } = await createTestService(instance, user));
  owner = { kind: "organisation", id: user.organisationId, organisationId: user.organisationId };
});
afterAll(async () => {
  await closeInstance?.();
  await scene?.close();
});

/** The feed of another process on the same database. */
function openFeed(): Feed {
  const database = createExecutionDatabase(scene.home.target, { logger: scene.home.logger });
  const executions = createPostgresExecutionStore({ database });
  const feed = createFeed({ store: createFeedStore(database), executions, logger: SILENT });
  onTestFinished(async () => {
    await feed.close();
    await executions.close();
    await database.close();
  });
  return feed;
}

const start = async (): Promise<string> => {
  const execution = createExecution({ owner, versionId });
  await scene.store.create(execution);
  return execution.id;
};

const question = (after: number, seconds = 60) => ({
  reader: { kind: "organisation", id: owner.id } as FeedReader,
  after,
  limit: 100,
  seconds,
  signal: new AbortController().signal,
});

test("who waits gets what another process has committed, and goes on behind it", async () => {
  const feed = openFeed();
  const begin = await feed.findStart(undefined);
  const waiting = feed.read(question(begin));
  const id = await start();
  const first = await waiting;
  expect(first.events.map(({ executionId, status }) => [executionId, status])).toEqual([[id, "PENDING"]]);
  const next = feed.read(question(await feed.findStart(encodePosition(first.position))));
  await scene.store.cancel(id, owner.id);
  expect((await next).events.map(({ status, code }) => [status, code])).toEqual([["FAILED", "CANCELLED"]]);
});

test("readers at the same place share their queries, and no more than two run at a time", async () => {
  const database = createExecutionDatabase(scene.home.target, { logger: scene.home.logger });
  const store = createFeedStore(database);
  const counts = { reads: 0, running: 0, most: 0 };
  const read: FeedStore["read"] = async (...given) => {
    counts.reads += 1;
    counts.most = Math.max(counts.most, (counts.running += 1));
    return await store.read(...given).finally(() => {
      counts.running -= 1;
    });
  };
  const feed = createFeed({ store: { ...store, read }, executions: scene.store, logger: SILENT });
  onTestFinished(async () => {
    await feed.close();
    await database.close();
  });
  const begin = await feed.findStart(undefined);
  const waiting = Array.from({ length: 200 }, () => feed.read(question(begin)));
  const id = await start();
  for (const { events } of await Promise.all(waiting))
    expect(events.map(({ executionId }) => executionId)).toEqual([id]);
  expect(counts.reads).toBeLessThan(100);
  const limits = Array.from({ length: 20 }, (_, index) => index + 1);
  await Promise.all(limits.map((limit) => feed.read({ ...question(begin), limit })));
  expect(counts.most).toBe(2);
  await scene.store.cancel(id, owner.id);
});

test("pages that one reader asks for do not delay those of another", async () => {
  const database = createExecutionDatabase(scene.home.target, { logger: scene.home.logger });
  const store = createFeedStore(database);
  const loud: FeedReader = { kind: "application", id: randomUUID() };
  const quiet: FeedReader = { kind: "application", id: randomUUID() };
  const asked: (FeedReader | null)[] = [];
  const read: FeedStore["read"] = async (reader, ...given) => {
    asked.push(reader);
    return await store.read(reader, ...given);
  };
  const feed = createFeed({ store: { ...store, read }, executions: scene.store, logger: SILENT });
  onTestFinished(async () => {
    await feed.close();
    await database.close();
  });
  const begin = await feed.findStart(undefined);
  const limits = Array.from({ length: 50 }, (_, index) => index + 1);
  const pages = limits.map((limit) => feed.read({ ...question(begin, 0), reader: loud, limit }));
  await Promise.all([...pages, feed.read({ ...question(begin, 0), reader: quiet })]);
  const pagesOf = asked.filter((reader) => reader !== null);
  expect(pagesOf).toHaveLength(51);
  expect(pagesOf.indexOf(quiet)).toBeLessThan(5);
});

test("a change that no event announces is found by itself, such as a claim of another process", async () => {
  const id = await start();
  const feed = openFeed();
  const waiting = feed.read(question(await feed.findStart(undefined)));
  const { claims } = await scene.store.claim({
    workerId: "w",
    sandboxLevel: "B",
    limit: 1,
    free: { cpu: 1, memory: 1 },
    leaseSeconds: 60,
    excludedVersionIds: [],
    onlyId: id,
  });
  expect((await waiting).events.map(({ status }) => status)).toEqual(["RUNNING"]);
  for (const claim of claims) await scene.store.finish(claim, SUCCEEDED);
});

test("a wait ends with its time, its caller and its process, without events and at the same position", async () => {
  const feed = openFeed();
  const begin = await feed.findStart(undefined);
  expect(await feed.read(question(begin, 0.05))).toEqual({ events: [], position: begin });
  const leaving = new AbortController();
  const left = feed.read({ ...question(begin), signal: leaving.signal });
  leaving.abort();
  expect(await left).toEqual({ events: [], position: begin });
  const kept = feed.read(question(begin));
  await feed.close();
  expect(await kept).toEqual({ events: [], position: begin });
});

test("the place of a reader moves on while only others have changes: it would expire although nothing was missed", async () => {
  const feed = openFeed();
  const begin = await feed.findStart(undefined);
  const id = await start();
  await scene.store.cancel(id, owner.id);
  const reader: FeedReader = { kind: "organisation", id: randomUUID() };
  const readPlace = async (seconds: number) => {
    const { events, position } = await feed.read({ ...question(begin, seconds), reader });
    expect(events).toEqual([]);
    return position;
  };
  await waitUntil(async () => (await readPlace(0)) >= begin + 2);
  expect(await readPlace(0.05)).toBeGreaterThanOrEqual(begin + 2);
  // What is behind it is not passed over.
  const next = await start();
  const { events } = await feed.read(question(await readPlace(0)));
  expect(events.map(({ executionId }) => executionId)).toEqual([next]);
  await scene.store.cancel(next, owner.id);
});

test("who waits is woken by the next round where the changes of one could not be read", async () => {
  const database = createExecutionDatabase(scene.home.target, { logger: scene.home.logger });
  const store = createFeedStore(database);
  let failures = 0;
  const read: FeedStore["read"] = async (reader, ...given) => {
    if (reader !== null || failures > 0) return await store.read(reader, ...given);
    failures += 1;
    throw new Error("away");
  };
  const feed = createFeed({ store: { ...store, read }, executions: scene.store, logger: SILENT });
  onTestFinished(async () => {
    await feed.close();
    await database.close();
  });
  // The first round wakes all.
  const begin = await feed.findStart(undefined);
  await waitUntil(async () => {
    const { position } = await feed.read({
      ...question(0, 0),
      limit: 1,
      reader: { kind: "organisation", id: randomUUID() },
    });
    return position >= begin;
  });
  const asked = { ...question(begin, 600) };
  const waiting = feed.read(asked);
  const id = await start();
  expect((await waiting).events.map(({ executionId }) => executionId)).toEqual([id]);
  expect(failures).toBe(1);
  await scene.store.cancel(id, owner.id);
});

test("changes get their positions while nobody reads", async () => {
  openFeed();
  const id = await start();
  const read = () =>
    scene.database.query<{ readonly status: string }>({
      text: "select status from feed_event where execution_id = $1",
      values: [id],
    });
  await waitUntil(async () => (await read()).length > 0);
  expect(await read()).toEqual([{ status: "PENDING" }]);
  await scene.store.cancel(id, owner.id);
});
