import { DAY, HOUR, MINUTE, SECOND } from "@platform/engine/base/time";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Statement } from "../../postgres/database.ts";
import { createHistoryScene } from "../../testing/history-scene.ts";
import type { HistoryScene, StoredExecution } from "../../testing/history-scene.ts";
import { createHistoryDatabase } from "./history.ts";
import { listHistory } from "./list.ts";
import type { HistoryEntry } from "./list.ts";
import type { Asker, HistoryFilter } from "./scope.ts";
import { findHistory, locateExecution } from "./find.ts";
import type { Database } from "../../postgres/database.ts";

const NOW = Date.now();

let scene: HistoryScene;
let database: Database;
let job: string;
let outgoing: string;
let own: string;
let foreignJob: string;
let provider: Asker;
let subscriber: Asker;
let stranger: Asker;

beforeAll(async () => {
  scene = await createHistoryScene();
  database = createHistoryDatabase(scene.home.target, { logger: scene.home.logger });
  const { service, subscriberService } = scene;
  const ofService = { versionId: service.versionId };
  [job = "", own = "", outgoing = "", foreignJob = ""] = await scene.insert([
    { ...ofService, ownerId: scene.provider.organisationId, at: NOW - 4 * HOUR },
    {
      ...ofService,
      ownerId: scene.own.subscriptionId,
      at: NOW - 3 * HOUR,
      status: "FAILED",
      code: "TIMEOUT",
    },
    { ...ofService, ownerId: scene.foreign.subscriptionId, at: NOW - 2 * HOUR, ranMs: 5_000 },
    {
      versionId: subscriberService.versionId,
      ownerId: scene.subscriber.organisationId,
      at: NOW - HOUR,
      status: "RUNNING",
    },
  ]);
  provider = { organisationId: scene.provider.organisationId, areSubscribersShown: true };
  subscriber = { organisationId: scene.subscriber.organisationId, areSubscribersShown: true };
  stranger = { organisationId: scene.stranger.organisationId, areSubscribersShown: true };
});

afterAll(async () => {
  await database?.close();
  await scene?.close();
});

/** All there is: a page ends early where a machine is busy for a second. */
const list = async (asker: Asker, filter: HistoryFilter = {}) => {
  const found: HistoryEntry[] = [];
  let cursor: string | undefined;
  do {
    const page = await listHistory(database, asker, { limit: 25, cursor, ...filter });
    found.push(...page.items);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return found;
};
const locate = (userId: string, id: string) => locateExecution(database, userId, id);
const kinds = (items: readonly HistoryEntry[]) => items.map(({ id, kind }) => [id, kind]);

test("an organisation has its jobs, those of its applications, and those of its services; each once", async () => {
  expect(kinds(await list(provider))).toEqual([
    [outgoing, "incoming"],
    [own, "outgoing"],
    [job, "job"],
  ]);
  expect(kinds(await list(subscriber))).toEqual([
    [foreignJob, "job"],
    [outgoing, "outgoing"],
  ]);
  expect(await list(stranger)).toEqual([]);
});

test("each kind is listed alone; what an own application starts of an own service is both", async () => {
  expect(kinds(await list(provider, { kind: "job" }))).toEqual([[job, "job"]]);
  expect(kinds(await list(provider, { kind: "outgoing" }))).toEqual([[own, "outgoing"]]);
  expect(kinds(await list(provider, { kind: "incoming" }))).toEqual([
    [outgoing, "incoming"],
    [own, "outgoing"],
  ]);
});

test("a filter that names what is another's finds nothing of it", async () => {
  const { foreign, subscriberService, service } = scene;
  expect(await list(provider, { serviceKey: subscriberService.serviceKey })).toEqual([]);
  expect(await list(stranger, { serviceKey: service.serviceKey })).toEqual([]);
  expect(await list(stranger, { applicationId: foreign.applicationId })).toEqual([]);
  expect(await list(stranger, { q: outgoing })).toEqual([]);
  expect(kinds(await list(provider, { applicationId: foreign.applicationId }))).toEqual([
    [outgoing, "incoming"],
  ]);
});

test("names of subscribers are neither shown to those who may not list them, nor found", async () => {
  const viewer = { ...provider, areSubscribersShown: false };
  expect(await list(viewer, { kind: "incoming" })).toMatchObject([
    { applicationId: scene.foreign.applicationId, applicationName: null, organisationName: null },
    { applicationName: "client" },
  ]);
  expect(kinds(await list(viewer, { q: "CLIENT" }))).toEqual([[own, "outgoing"]]);
  expect(await list(provider, { q: "CLIENT" })).toHaveLength(2);
  expect(await list(provider, { kind: "incoming", q: outgoing })).toMatchObject([
    { applicationName: "client", organisationName: "Somebody" },
  ]);
});

describe("filters", () => {
  test.each<readonly [string, () => HistoryFilter, () => readonly string[]]>([
    ["state", () => ({ status: ["FAILED", "RUNNING"] }), () => [own]],
    ["code", () => ({ code: "TIMEOUT" }), () => [own]],
    ["code and a state without codes", () => ({ code: "TIMEOUT", status: ["SUCCEEDED"] }), () => []],
    ["time from which on", () => ({ createdAfter: NOW - 3.5 * HOUR }), () => [outgoing, own]],
    ["time before which", () => ({ createdBefore: NOW - 3.5 * HOUR }), () => [job]],
    ["how long it ran", () => ({ minRanMs: 5_000 }), () => [outgoing]],
    ["version", () => ({ version: "1.0.0", kind: "job" }), () => [job]],
    ["another version", () => ({ version: "1.0.1" }), () => []],
    ["service", () => ({ serviceKey: scene.service.serviceKey, kind: "job" }), () => [job]],
    ["beginning of the id", () => ({ q: own.slice(0, 23).toUpperCase() }), () => [own]],
    ["id", () => ({ q: own }), () => [own]],
    ["part of a code", () => ({ q: "meou" }), () => [own]],
    ["part of the service's name", () => ({ q: "LANNE" }), () => [outgoing, own, job]],
    ["what SQL patterns would match", () => ({ q: "pl%r" }), () => []],
  ])("by %s", async (_what, filter, expected) => {
    expect((await list(provider, filter())).map(({ id }) => id)).toEqual(expected());
  });
});

test("one execution is found by the organisations that it concerns, and nowhere else", async () => {
  expect(await findHistory(database, provider, outgoing)).toMatchObject({
    kind: "incoming",
    isLogShown: false,
  });
  expect(await findHistory(database, subscriber, outgoing)).toMatchObject({
    kind: "outgoing",
    isLogShown: true,
  });
  expect(await findHistory(database, provider, own)).toMatchObject({ kind: "outgoing", code: "TIMEOUT" });
  for (const id of [job, own, outgoing, foreignJob])
    expect(await findHistory(database, stranger, id)).toBeNull();
  expect(await findHistory(database, subscriber, job)).toBeNull();
  expect(await findHistory(database, provider, foreignJob)).toBeNull();
  expect(await findHistory(database, provider, "no id")).toBeNull();
});

test("an execution is located where its user is a member, in the organisation whose own it is if possible", async () => {
  const { provider: first, subscriber: second, instance, stranger: nobody } = scene;
  expect(await locate(first.userId, outgoing)).toMatchObject({
    organisationId: first.organisationId,
    kind: "incoming",
  });
  expect(await locate(first.userId, foreignJob)).toBeNull();
  expect(await locate(nobody.userId, outgoing)).toBeNull();
  await instance.identity.addMember(second.organisationId, first.userId, "viewer");
  expect(await locate(first.userId, outgoing)).toMatchObject({
    organisationId: second.organisationId,
    kind: "outgoing",
  });
  expect(await locate(first.userId, foreignJob)).toMatchObject({ kind: "job" });
  expect(await locate(first.userId, own)).toMatchObject({
    organisationId: first.organisationId,
    kind: "outgoing",
  });
});

describe("many executions of many owners", () => {
  let many: HistoryScene;
  let pool: Database;
  let stored: readonly (StoredExecution & { readonly id: string })[];
  let asker: Asker;

  beforeAll(async () => {
    many = await createHistoryScene();
    pool = createHistoryDatabase(many.home.target, { logger: many.home.logger });
    asker = { organisationId: many.provider.organisationId, areSubscribersShown: true };
    const owners = [many.provider.organisationId, many.own.subscriptionId, many.foreign.subscriptionId];
    const statuses = ["SUCCEEDED", "FAILED", "RUNNING", "UNKNOWN", "PENDING"] as const;
    const executions = Array.from({ length: 3_000 }, (_, index) => ({
      ownerId: owners[index % 7 === 0 ? 1 : index % 11 === 0 ? 2 : 0] ?? "",
      versionId: many.service.versionId,
      // The newest 2,900 within an hour; the others are spread over two months.
      at: index < 2_900 ? NOW - index * SECOND : NOW - HOUR - (index - 2_899) * 14 * HOUR,
      status: statuses[index % 13 === 0 ? 1 : index % 101 === 0 ? 2 : 0] ?? ("SUCCEEDED" as const),
      ...(index === 2_950 ? { ranMs: 77 * MINUTE, status: "SUCCEEDED" as const } : {}),
    }));
    const ids = await many.insert(executions);
    stored = executions.map((one, index) => ({ ...one, id: ids[index] ?? "" }));
  });
  afterAll(async () => {
    await pool?.close();
    await many?.close();
  });

  /** All pages. */
  const readAll = async (filter: HistoryFilter, limit: number, run: Pick<Database, "query"> = pool) => {
    const pages = [];
    let cursor: string | undefined;
    do {
      const page = await listHistory(run, asker, { ...filter, limit, cursor });
      pages.push(page);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    return { ids: pages.flatMap(({ items }) => items.map(({ id }) => id)), pages };
  };

  test.each<readonly [string, HistoryFilter, (one: StoredExecution) => boolean]>([
    ["all", {}, () => true],
    ["of a rare state", { status: ["RUNNING"] }, ({ status }) => status === "RUNNING"],
    ["of two states", { status: ["RUNNING", "FAILED"] }, ({ status }) => status !== "SUCCEEDED"],
    [
      "of one month",
      { createdBefore: NOW - 10 * DAY, createdAfter: NOW - 40 * DAY },
      ({ at }) => at < NOW - 10 * DAY && at >= NOW - 40 * DAY,
    ],
    [
      "that ran for long",
      { minRanMs: MINUTE },
      ({ ranMs = 0, status }) => ranMs > MINUTE || status === "RUNNING",
    ],
  ])("pages have each once, newest first: %s", async (_what, filter, isWanted) => {
    const expected = stored.filter(isWanted).map(({ id }) => id);
    expect((await readAll(filter, 100)).ids).toEqual(expected.toSorted().toReversed());
    expect(expected.length).toBeGreaterThan(0);
  });

  test("a step that cannot see all of a list ends where the list does", async () => {
    const depths: unknown[] = [];
    const shallow: Pick<Database, "query"> = {
      query: async <Row extends object>(statement: Statement) => {
        if (statement.name?.match(/list|search/u) === null) return await pool.query<Row>(statement);
        const values = [...(statement.values ?? [])];
        depths.push((values[7] = 3));
        return await pool.query<Row>({ ...statement, values });
      },
    };
    const { ids } = await readAll({ createdAfter: NOW - 5 * MINUTE }, 20, shallow);
    expect(ids).toEqual(stored.slice(0, 301).map(({ id }) => id));
    expect(depths.length).toBeGreaterThan(60);
  });

  test("a page says when it ended before all was looked at, and the next one goes on", async () => {
    let steps = 0;
    const slow: Pick<Database, "query"> = {
      query: async <Row extends object>(statement: Statement) => {
        const rows = await pool.query<Row>(statement);
        if (statement.name?.match(/list|search/u) === null) return rows;
        steps += 1;
        return rows.map((row) => ({ ...row, looked: 20_000 }));
      },
    };
    const { ids, pages } = await readAll({ minRanMs: MINUTE, status: ["SUCCEEDED"] }, 25, slow);
    expect(ids).toEqual([stored[2_950]?.id]);
    expect(pages.map(({ isComplete }) => isComplete)).toEqual([...Array(pages.length - 1).fill(false), true]);
    expect(pages.length).toBe(steps);
  });
});
