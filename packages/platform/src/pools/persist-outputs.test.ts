import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { PoolFile } from "@platform/contract/platform-api/data-pools";
import type { Outcome, OutputFile } from "@platform/engine/python/port/runtime";
import type { Claim } from "@platform/engine/store/execution-store";
import { createKeptObjects } from "../objects/kept-objects.ts";
import { createLocalObjects } from "../objects/local-objects.ts";
import { StoreUnavailable } from "../objects/object-store.ts";
import type { Objects } from "../objects/object-store.ts";
import type { Database } from "../postgres/database.ts";
import {
  createExecutionDatabase,
  createPostgresExecutionStore,
} from "../store/executions/execution-store.ts";
import type { PostgresExecutionStore } from "../store/executions/execution-store.ts";
import { BOUNDS } from "../store/base/bounds.ts";
import { createObjectRows } from "../store/objects/object-rows.ts";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import { createTestService, createTestUser } from "../testing/fixtures.ts";
import type { TestService, TestUser } from "../testing/fixtures.ts";
import { TEST_POOL_BYTES, createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createRecordingLogger, createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { persistResults } from "./persist-results.ts";

let home: TestDatabase;
let database: Database;
let store: PostgresExecutionStore;
let here: TestInstance;
let objects: Objects;
let folder: string;
let call: CallApi;
let owner: TestUser;
let service: TestService;
let pool: string;
/** Of transactions of the store, so far. */
let statements = 0;

beforeAll(async () => {
  home = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), "outputs-"));
  database = createExecutionDatabase(home.target, { logger: home.logger });
  objects = createKeptObjects(createLocalObjects(folder), createObjectRows(home.database, 30));
  const counting = countStatements(database);
  store = persistResults(createPostgresExecutionStore({ database: counting, poolBytes: TEST_POOL_BYTES }), {
    objects,
    logger: createRecordingLogger(),
  });
  here = await createTestInstance({ database: home.database, executionStore: store });
  call = createApiCaller(here);
});
afterAll(async () => {
  await here?.close();
  await store?.close();
  await database?.close();
  await home?.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  owner = await createTestUser(here);
  service = await createTestService(here, owner);
  pool = String((await call(owner, "POST /data-pools", { name: "Tours" })).body["id"]);
});

/** The same, which counts what transactions ask. */
function countStatements(counted: Database): Database {
  return {
    ...counted,
    transaction: (work) =>
      counted.transaction((runOne) =>
        work((statement) => {
          statements += 1;
          return runOne(statement);
        }),
      ),
  };
}

/** A job that runs and writes to the pool. */
async function run(body: object = {}): Promise<Claim> {
  const started = await call(owner, `POST /jobs?serviceKey=${service.serviceKey}`, { data: {}, ...body });
  const outputPool = { path: ["params", "tours"], dataPoolId: pool, userId: owner.userId };
  return { ...(await claim(String(started.body["id"]))), outputPool };
}

/** As a worker does. */
async function claim(id: string): Promise<Claim> {
  const { claims } = await store.claim({
    workerId: "worker",
    sandboxLevel: "B",
    limit: 100,
    free: { cpu: 100, memory: 100 },
    leaseSeconds: 60,
    excludedVersionIds: [],
  });
  const found = claims.find((one) => one.id === id);
  if (found === undefined) throw new Error("The execution was not claimed.");
  return found;
}

/** What a run has left: kept, as the worker does before the end. */
async function succeed(contents: Readonly<Record<string, string>>): Promise<Outcome> {
  const poolFiles: OutputFile[] = [];
  for (const [name, text] of Object.entries(contents)) {
    const content = await objects.receive(Readable.from([text]), 1000);
    await content.keep();
    await content.drop();
    poolFiles.push({ name, content });
  }
  const output = { result: null, files: [], poolFiles };
  return { status: "SUCCEEDED", result: Buffer.from("{}"), metadata: null, output };
}

const listFiles = async () =>
  (await call(owner, `GET /data-pools/${pool}/files`)).body["items"] as readonly PoolFile[];

async function readPersisted(id: string): Promise<unknown> {
  const { body } = await call(owner, `GET /jobs/${id}/result`);
  return (body["metadata"] as Readonly<Record<string, unknown>>)["_persisted"];
}

test("what a run has left is in the pool when it has succeeded, with new ids in the place of what was there, and the metadata name it", async () => {
  await store.finish(await run(), await succeed({ "Tour.csv": "old" }));
  const [before] = await listFiles();
  const running = await run();
  expect(await store.finish(running, await succeed({ "tour.csv": "a,b", "plot.png": "p" }))).toBe(true);
  const files = await listFiles();
  expect(files).toMatchObject([
    { name: "plot.png", type: "image/png", bytes: 1 },
    { name: "tour.csv", type: "text/csv", bytes: 3, dataSourceDescriptorId: before?.dataSourceDescriptorId },
  ]);
  expect(files[1]?.fileId).not.toBe(before?.fileId);
  const named = [files[1], files[0]].map((file) => ({ reference: file?.reference, name: file?.name }));
  expect(await readPersisted(running.id)).toEqual({
    pools: { "/params/tours": { dataPoolId: pool, files: named } },
  });
  expect((await call(owner, `GET /jobs/${running.id}/result/tour.csv`)).status).toBe(404);
});

test("the result and the files are stored together where a start asks for both", async () => {
  const running = await run({ persistTo: { dataPoolId: pool, name: "result.json" } });
  await store.finish(running, await succeed({ "tour.csv": "a,b" }));
  expect((await listFiles()).map(({ name }) => name)).toEqual(["result.json", "tour.csv"]);
  expect(await readPersisted(running.id)).toMatchObject({
    name: "result.json",
    pools: { "/params/tours": { files: [{ name: "tour.csv" }] } },
  });
});

test("a result that has the name of a file of the run is not stored where that is: the metadata name no file that is gone", async () => {
  const running = await run({ persistTo: { dataPoolId: pool.toUpperCase(), name: "Tour.csv" } });
  await store.finish(running, await succeed({ "tour.csv": "a,b" }));
  const files = await listFiles();
  expect(files).toMatchObject([{ name: "tour.csv", bytes: 3 }]);
  const persisted = await readPersisted(running.id);
  expect(persisted).toMatchObject({
    code: "CONFLICT",
    detail: expect.stringMatching(/Tour\.csv/u),
    pools: { "/params/tours": { files: [{ name: "tour.csv", reference: files[0]?.reference }] } },
  });
  const rows = await home.database.query({
    text: "select name from pool_file where pool_id = $1",
    values: [pool],
  });
  expect(rows).toEqual([{ name: "tour.csv" }]);
});

/** Statements of the end of a run that has left these files. */
const countEnd = async (left: Readonly<Record<string, string>>): Promise<number> => {
  const running = await run();
  const outcome = await succeed(left);
  const before = statements;
  await store.finish(running, outcome);
  return statements - before;
};

test("a hundred files take as many statements as one, and one entry in the audit log that names them", async () => {
  const contents = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`f${index}`, "1"]));
  // The first of a connection prepares statements.
  await countEnd({ f0: "0" });
  expect(await countEnd(contents)).toBeLessThan(2 * (await countEnd({ f0: "1" })));
  const { body: page } = await call(owner, `GET /data-pools/${pool}/files?limit=100`);
  expect(page["items"]).toHaveLength(100);
  const { body } = await call(owner, "GET /audit-events?action=pool-file.create&limit=10");
  const entries = body["items"] as readonly {
    readonly target: object;
    readonly changes: readonly object[];
  }[];
  expect(entries).toHaveLength(3);
  expect(entries[1]?.target).toMatchObject({ path: pool });
  expect(entries[1]?.changes).toHaveLength(101);
  expect(entries[1]?.changes).toContainEqual({
    field: "file",
    before: null,
    after: expect.stringMatching(/^f42\/[0-9a-f-]{36}$/u),
  });
});

test("two pools are held in one order, so that ends which store in both the other way round do not end each other", async () => {
  const other = String((await call(owner, "POST /data-pools", { name: "Results" })).body["id"]);
  // Ids of later pools are greater: it waits for the first one, and does not hold the other meanwhile.
  const running = await run({ persistTo: { dataPoolId: other, name: "r.json" } });
  const outcome = await succeed({ a: "1" });
  let ended: Promise<boolean> | undefined;
  await home.database.transaction(async (hold) => {
    await hold({ text: "select id from data_pool where id = $1 for no key update", values: [pool] });
    ended = store.finish(running, outcome);
    await expect.poll(async () => (await findWaiting()).length, { timeout: 60_000 }).toBe(1);
    const free = "select id from data_pool where id = $1 for no key update nowait";
    expect(await hold({ text: free, values: [other] })).toHaveLength(1);
  });
  expect(await ended).toBe(true);
});

const findWaiting = () =>
  home.database.query<{ readonly pid: number }>({
    text: `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    values: [],
  });

const away = () => Promise.reject(new StoreUnavailable("away"));

test("a store of objects that is away for a moment is asked again for the result, which is in the pool then", async () => {
  let tries = 0;
  const receive: Objects["receive"] = async (content, limit) => {
    const received = await objects.receive(content, limit);
    return { ...received, keep: () => ((tries += 1) < 3 ? away() : received.keep()) };
  };
  const busy = persistResults(store, { objects: { receive }, logger: createRecordingLogger() });
  const running = await run({ persistTo: { dataPoolId: pool, name: "result.json" } });
  expect(await busy.finish(running, await succeed({}))).toBe(true);
  expect([tries, await readPersisted(running.id)]).toMatchObject([3, { name: "result.json" }]);
});

test("an end that is written again makes the files once; one of a lost claim, and a failure, make none", async () => {
  const running = await run();
  const outcome = await succeed({ a: "1", b: "2" });
  expect(await store.finish({ ...running, attempt: 2 }, outcome)).toBe(false);
  expect(await listFiles()).toEqual([]);
  const answers = await Promise.all([store.finish(running, outcome), store.finish(running, outcome)]);
  expect([...answers, await store.finish(running, outcome)]).toEqual([true, true, true]);
  const rows = await home.database.query({
    text: "select count(*)::int as count from pool_file where pool_id = $1",
    values: [pool],
  });
  expect(rows).toEqual([{ count: 2 }]);
  const failing = await run();
  await store.finish(failing, { status: "FAILED", code: "USER_ERROR", detail: "It failed." });
  expect(await listFiles()).toHaveLength(2);
});

test("of files that the pool can take in part, none is stored: the execution succeeds, and its metadata say why", async () => {
  const big = { hash: "2".repeat(64), bytes: TEST_POOL_BYTES - 3 };
  await home.database.query({
    text: `with kept as (insert into object (hash) values ($4) on conflict do nothing)
      insert into pool_file (id, pool_id, organisation_id, descriptor_id, name, name_key, media_type, hash, bytes, created_by)
      select gen_random_uuid(), $1, $2, gen_random_uuid(), 'big', 'big', '', $4, $5, $3`,
    values: [pool, owner.organisationId, owner.userId, big.hash, big.bytes],
  });
  const running = await run();
  expect(await store.finish(running, await succeed({ a: "12", b: "345" }))).toBe(true);
  expect(await readPersisted(running.id)).toEqual({
    pools: {
      "/params/tours": { dataPoolId: pool, code: "QUOTA_EXCEEDED", detail: expect.stringMatching(/hold/u) },
    },
  });
  expect((await listFiles()).map(({ name }) => name)).toEqual(["big"]);
});

test("of more files than the pool has room for none is stored, also where it has room for some", async () => {
  await store.finish(await run(), await succeed({ a: "1" }));
  await home.database.query({
    text: `insert into pool_file (id, pool_id, organisation_id, descriptor_id, name, name_key, media_type, hash, bytes, created_by)
      select gen_random_uuid(), pool_id, organisation_id, gen_random_uuid(), 'x' || n, 'x' || n, media_type, hash, 0, created_by
      from pool_file, generate_series(1, $2) n where pool_id = $1`,
    values: [pool, BOUNDS.poolFiles.limit - 3],
  });
  const full = await run();
  await store.finish(full, await succeed({ a: "2", b: "3", c: "4", d: "5" }));
  expect(await readPersisted(full.id)).toMatchObject({
    pools: { "/params/tours": { code: "QUOTA_EXCEEDED", detail: expect.stringMatching(/room for/u) } },
  });
  // One of them takes the place of a file that is there.
  const fits = await run();
  await store.finish(fits, await succeed({ a: "2", b: "3", c: "4" }));
  expect(await readPersisted(fits.id)).toMatchObject({
    pools: { "/params/tours": { files: [{ name: "a" }, { name: "b" }, { name: "c" }] } },
  });
});

test("a right that was withdrawn meanwhile, and a pool that was deleted, store nothing", async () => {
  const refused = { code: "DATA_REFERENCE_INVALID", detail: expect.stringMatching(/no such data pool/u) };
  const viewed = await run();
  const deleted = await run();
  await home.database.query({
    text: "update member set role = 'viewer' where organisation_id = $1 and user_id = $2",
    values: [owner.organisationId, owner.userId],
  });
  expect(await store.finish(viewed, await succeed({ a: "1" }))).toBe(true);
  await home.database.query({
    text: "update member set role = 'owner' where organisation_id = $1 and user_id = $2",
    values: [owner.organisationId, owner.userId],
  });
  // Of who was disabled since, nothing is stored either.
  const disabled = await run();
  const setDisabled = (at: string) =>
    home.database.query({
      text: `update platform_user set disabled_at = ${at} where id = $1`,
      values: [owner.userId],
    });
  await setDisabled("now()");
  expect(await store.finish(disabled, await succeed({ a: "1" }))).toBe(true);
  await setDisabled("null");
  expect(await listFiles()).toEqual([]);
  await call(owner, `DELETE /data-pools/${pool}`);
  expect(await store.finish(deleted, await succeed({ a: "1" }))).toBe(true);
  for (const { id } of [viewed, disabled, deleted])
    expect(await readPersisted(id)).toEqual({
      pools: { "/params/tours": { dataPoolId: pool, ...refused } },
    });
});

test("a process that is killed while it stores files leaves all of them or none, and never an end without them", async () => {
  const running = await run();
  const outcome = await succeed({ a: "1", b: "2", c: "3" });
  // The execution is held by another, so that the transaction stands still when its files are written.
  let ended: Promise<string> | undefined;
  await home.database.transaction(async (hold) => {
    await hold({ text: "select id from execution where id = $1 for update", values: [running.id] });
    ended = store.finish(running, outcome).then(String, () => "broken");
    await expect.poll(async () => (await findWaiting()).length, { timeout: 60_000 }).toBe(1);
    const [{ pid } = { pid: 0 }] = await findWaiting();
    // What the server sees of a worker that is gone.
    await home.database.query({ text: "select pg_terminate_backend($1)", values: [pid] });
    expect(await ended).toBe("broken");
    expect(await readState(running.id)).toEqual({ rows: 0, state: "RUNNING" });
  });
  expect(await store.finish(running, outcome)).toBe(true);
  expect(await readState(running.id)).toEqual({ rows: 3, state: "SUCCEEDED" });
});

async function readState(id: string) {
  const [row] = await home.database.query<{ readonly rows: number; readonly state: string }>({
    text: `select (select count(*)::int from pool_file where pool_id = $2) as rows, status as state from execution where id = $1`,
    values: [id, pool],
  });
  return row ?? { rows: -1, state: "" };
}

test("a start says where the pool stands, is refused where the caller may not write, and its claim has the pool", async () => {
  const tours = { type: "object", format: "output-pool" };
  const schema = { type: "object", properties: { params: { type: "object", properties: { tours } } } };
  await home.database.query({
    text: "update version set input_schema = $2 where id = $1",
    values: [service.versionId, JSON.stringify(schema)],
  });
  const start = (dataPoolId: string, more: object = {}) =>
    call(owner, `POST /jobs?serviceKey=${service.serviceKey}`, {
      params: { tours: { dataPoolId } },
      ...more,
    });
  const stranger = await createTestUser(here);
  const foreign = String((await call(stranger, "POST /data-pools", { name: "Theirs" })).body["id"]);
  const unknown = await start("00000000-0000-4000-8000-000000000000");
  expect(unknown).toMatchObject({
    status: 422,
    body: { code: "DATA_REFERENCE_INVALID", errors: [{ path: "/params/tours" }] },
  });
  const { requestId: _, ...saidOfUnknown } = unknown.body;
  const { requestId: __, ...saidOfForeign } = (await start(foreign)).body;
  expect(saidOfForeign).toEqual(saidOfUnknown);
  const persistTo = { dataPoolId: pool, name: "r.json" };
  const running = await claim(String((await start(pool, { persistTo })).body["id"]));
  expect(running).toMatchObject({
    persistTo: { ...persistTo, userId: owner.userId },
    outputPool: { path: ["params", "tours"], dataPoolId: pool, userId: owner.userId },
    references: {},
  });
});
