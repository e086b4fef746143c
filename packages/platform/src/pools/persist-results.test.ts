import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { PoolFile } from "@platform/contract/platform-api/data-pools";
import type { Outcome } from "@platform/engine/python/port/runtime";
import type { Claim } from "@platform/engine/store/execution-store";
import { createKeptObjects } from "../objects/kept-objects.ts";
import { createLocalObjects } from "../objects/local-objects.ts";
import { StoreFull } from "../objects/object-store.ts";
import type { Objects } from "../objects/object-store.ts";
import type { Database } from "../postgres/database.ts";
import {
  createExecutionDatabase,
  createPostgresExecutionStore,
} from "../store/executions/execution-store.ts";
import type { PostgresExecutionStore } from "../store/executions/execution-store.ts";
import { createObjectRows } from "../store/objects/object-rows.ts";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import {
  createTestClient,
  createTestService,
  createTestUser,
  fetchAccessToken,
} from "../testing/fixtures.ts";
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

beforeAll(async () => {
  home = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), "persisted-"));
  database = createExecutionDatabase(home.target, { logger: home.logger });
  objects = createKeptObjects(createLocalObjects(folder), createObjectRows(home.database, 30));
  store = persistResults(createPostgresExecutionStore({ database, poolBytes: TEST_POOL_BYTES }), {
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
  pool = String((await call(owner, "POST /data-pools", { name: "Results" })).body["id"]);
});

const RESULT = '{"route":[1,2,3]}';
const SUCCEEDED: Outcome = { status: "SUCCEEDED", result: Buffer.from(RESULT), metadata: null };

/** Claims the execution, as a worker does. */
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

const startJob = (persistTo: object = { dataPoolId: pool }, by = owner) =>
  call(by, `POST /jobs?serviceKey=${service.serviceKey}`, { data: {}, persistTo });

/** A job whose result goes to the pool, and that runs. */
async function run(persistTo?: object): Promise<Claim> {
  const started = await startJob(persistTo);
  expect(started).toMatchObject({ status: 201 });
  return await claim(String(started.body["id"]));
}

async function readMetadata(id: string): Promise<Readonly<Record<string, unknown>>> {
  const { body } = await call(owner, `GET /jobs/${id}/result`);
  expect(body).toMatchObject({ result: JSON.parse(RESULT) });
  return body["metadata"] as Readonly<Record<string, unknown>>;
}

const listFiles = async () =>
  (await call(owner, `GET /data-pools/${pool}/files`)).body["items"] as readonly PoolFile[];

test("a result is stored as a file, which the metadata name, and is served as before", async () => {
  const running = await run({ dataPoolId: pool, name: "route.json" });
  expect(await listFiles()).toEqual([]);
  expect(await store.finish(running, { ...SUCCEEDED, metadata: Buffer.from('{"seconds":2}') })).toBe(true);
  const [file] = await listFiles();
  expect(file).toMatchObject({
    name: "route.json",
    bytes: RESULT.length,
    type: "application/json",
    sha256: createHash("sha256").update(RESULT).digest("hex"),
    createdBy: "Somebody",
  });
  expect(await readMetadata(running.id)).toEqual({
    seconds: 2,
    _persisted: { reference: file?.reference, name: "route.json" },
  });
  const content = await objects.read(file?.sha256 ?? "");
  expect(Buffer.concat(await content.toArray()).toString()).toBe(RESULT);
});

test("without a name it has that of the execution; with the name of a file it takes its place", async () => {
  const first = await run();
  await store.finish(first, SUCCEEDED);
  expect((await listFiles()).map(({ name }) => name)).toEqual([`${first.id}.json`]);
  for (const name of ["last.json", "LAST.json"])
    await store.finish(await run({ dataPoolId: pool, name }), SUCCEEDED);
  expect((await listFiles()).map(({ name }) => name)).toEqual([`${first.id}.json`, "LAST.json"]);
});

test("an end that is written again, since its answer was lost, makes one file; one of a lost claim makes none", async () => {
  const running = await run();
  expect(await store.finish({ ...running, attempt: 2 }, SUCCEEDED)).toBe(false);
  expect(await listFiles()).toEqual([]);
  const answers = await Promise.all([store.finish(running, SUCCEEDED), store.finish(running, SUCCEEDED)]);
  expect([...answers, await store.finish(running, SUCCEEDED)]).toEqual([true, true, true]);
  const files = await home.database.query({
    text: "select ended_at is null as lives from pool_file where pool_id = $1",
    values: [pool],
  });
  expect(files).toEqual([{ lives: true }]);
});

test("a result that is kept beside its row is the file as it is", async () => {
  const running = await run({ dataPoolId: pool, name: "large.json" });
  const received = await objects.receive(Readable.from([`${RESULT}\n`]), 100);
  await received.keep();
  const outcome: Outcome = { ...SUCCEEDED, result: Buffer.alloc(0), output: { result: received, files: [] } };
  expect(await store.finish(running, outcome)).toBe(true);
  await received.drop();
  expect(await listFiles()).toMatchObject([{ name: "large.json", sha256: received.hash }]);
  const stored = await store.readResult(running.id, owner.organisationId);
  expect(stored?.output?.result).toEqual({ hash: received.hash, bytes: received.bytes });
  expect(Buffer.from(stored?.metadata ?? []).toString()).toContain("_persisted");
});

test("an execution that fails stores nothing", async () => {
  const running = await run();
  expect(await store.finish(running, { status: "FAILED", code: "USER_ERROR", detail: "It failed." })).toBe(
    true,
  );
  expect(await listFiles()).toEqual([]);
});

/** What happens while an execution runs, and what its metadata say of that. */
const MEANWHILE: readonly (readonly [string, () => Promise<unknown>, object])[] = [
  [
    "the pool was deleted",
    () => call(owner, `DELETE /data-pools/${pool}`),
    { code: "DATA_REFERENCE_INVALID", detail: expect.stringMatching(/no such data pool/u) },
  ],
  [
    "who started it is no member any more",
    () =>
      home.database.query({
        text: "delete from member where organisation_id = $1 and user_id = $2",
        values: [owner.organisationId, owner.userId],
      }),
    { code: "DATA_REFERENCE_INVALID", detail: expect.stringMatching(/you may not/u) },
  ],
  [
    "who started it may only read any more",
    () =>
      home.database.query({
        text: "update member set role = 'viewer' where organisation_id = $1 and user_id = $2",
        values: [owner.organisationId, owner.userId],
      }),
    { code: "DATA_REFERENCE_INVALID", detail: expect.stringMatching(/you may not/u) },
  ],
  [
    "the organisation has stored as much as it may",
    () =>
      home.database.query({
        text: `with kept as (insert into object (hash) values (repeat('2', 64)) on conflict do nothing)
          insert into pool_file (id, pool_id, organisation_id, descriptor_id, name, name_key, media_type, hash, bytes, created_by)
          select gen_random_uuid(), $1, $2, gen_random_uuid(), 'big', 'big', '', repeat('2', 64), ${TEST_POOL_BYTES}, $3`,
        values: [pool, owner.organisationId, owner.userId],
      }),
    { code: "QUOTA_EXCEEDED", detail: expect.stringMatching(/hold/u) },
  ],
];

test.each(MEANWHILE)(
  "an execution succeeds, and its metadata say why there is no file, where %s",
  async (_what, change, said) => {
    const running = await run({ dataPoolId: pool, name: "small" });
    await change();
    expect(await store.finish(running, SUCCEEDED)).toBe(true);
    const stored = await store.readResult(running.id, owner.organisationId);
    expect(Buffer.from(stored?.result ?? []).toString()).toBe(RESULT);
    expect(JSON.parse(Buffer.from(stored?.metadata ?? []).toString())).toEqual({ _persisted: said });
    const written = await home.database.query({
      text: "select name from pool_file where pool_id = $1 and ended_at is null and bytes < 1000",
      values: [pool],
    });
    expect(written).toEqual([]);
  },
);

test("a refused file leaves the one whose place it would have taken", async () => {
  const running = await run({ dataPoolId: pool, name: "kept.json" });
  await here.api.inject({
    method: "PUT",
    url: `/api/data-pools/${pool}/files/kept.json`,
    headers: { authorization: `Bearer ${owner.token}` },
    payload: "{}",
  });
  await home.database.query({
    text: "update pool_file set bytes = $2 where pool_id = $1",
    values: [pool, TEST_POOL_BYTES * 2],
  });
  await home.database.query({
    text: `insert into pool_file (id, pool_id, organisation_id, descriptor_id, name, name_key, media_type, hash, bytes, created_by)
      select gen_random_uuid(), pool_id, organisation_id, gen_random_uuid(), 'other', 'other', '', hash, bytes, created_by
      from pool_file where pool_id = $1`,
    values: [pool],
  });
  await store.finish(running, SUCCEEDED);
  expect((await listFiles()).map(({ name }) => name)).toEqual(["kept.json", "other"]);
  expect(await readMetadata(running.id)).toMatchObject({ _persisted: { code: "QUOTA_EXCEEDED" } });
});

test("an execution succeeds, and says so, where its result finds no room in the store of objects", async () => {
  const full = persistResults(store, {
    objects: { receive: () => Promise.reject(new StoreFull({})) },
    logger: createRecordingLogger(),
  });
  const running = await run();
  expect(await full.finish(running, SUCCEEDED)).toBe(true);
  expect(await readMetadata(running.id)).toMatchObject({ _persisted: { code: "UNAVAILABLE" } });
  expect(await listFiles()).toEqual([]);
});

test("a result of an application is stored where it was let write, and no more once that was withdrawn", async () => {
  const client = await createTestClient(here, owner, service);
  const authorization = `Bearer ${await fetchAccessToken(here, client)}`;
  const grants = `/data-pools/${pool}/grants/${client.applicationId}`;
  const start = () =>
    here.gateway.inject({
      method: "POST",
      url: `/${service.serviceKey}/${service.serviceName}/${service.version}/`,
      headers: { authorization, "content-type": "application/json" },
      payload: JSON.stringify({ persistTo: { dataPoolId: pool, name: "theirs.json" } }),
    });
  await call(owner, `PUT ${grants}`, { access: "read" });
  expect((await start()).json()).toMatchObject({
    code: "DATA_REFERENCE_INVALID",
    errors: [{ path: "/persistTo" }],
  });
  await call(owner, `PUT ${grants}`, { access: "write" });
  const started = await Promise.all([start(), start()]);
  const [first, second] = started.map((answer) => answer.json<{ id: string }>().id);
  const claims = (
    await store.claim({
      workerId: "worker",
      sandboxLevel: "B",
      limit: 100,
      free: { cpu: 100, memory: 100 },
      leaseSeconds: 60,
      excludedVersionIds: [],
    })
  ).claims;
  const [one, other] = [first, second].map((id) => claims.find((found) => found.id === id));
  if (one === undefined || other === undefined) throw new Error("The executions were not claimed.");
  await store.finish(one, SUCCEEDED);
  expect(await listFiles()).toMatchObject([{ name: "theirs.json", createdBy: "client" }]);
  await call(owner, `PUT ${grants}`, { access: "read" });
  await store.finish(other, SUCCEEDED);
  const [left] = await listFiles();
  expect(left?.createdAt).toBeDefined();
  const read = await store.readResult(other.id, client.subscriptionId);
  expect(JSON.parse(Buffer.from(read?.metadata ?? []).toString())).toMatchObject({
    _persisted: { code: "DATA_REFERENCE_INVALID" },
  });
});

/** What the log of this user's organisation says of files of the pool. */
const listEntries = async (by: TestUser) =>
  (await call(by, "GET /audit-events?action=pool-file.create")).body["items"];

const describeEntry = (id: string, actor: object, name: string) => ({
  actor: { ...actor, credential: null },
  target: {
    type: "pool-file",
    path: expect.stringMatching(new RegExp(`^${pool}/${name}/[0-9a-f-]{36}$`, "u")),
  },
  outcome: "done",
  ip: "",
  changes: [{ field: "execution", before: null, after: id }],
});

test("a result that a job of another organisation stores is in the audit logs of both, once and with what it is in", async () => {
  const guest = await createTestUser(here);
  await call(owner, `PUT /data-pools/${pool}/shares/${guest.organisationId}`, { role: "maintainer" });
  await here.api.inject({
    method: "PUT",
    url: `/api/data-pools/${pool}/files/route.json`,
    headers: { authorization: `Bearer ${owner.token}` },
    payload: "{}",
  });
  service = await createTestService(here, guest);
  const started = await startJob({ dataPoolId: pool, name: "route.json" }, guest);
  const running = await claim(String(started.body["id"]));
  expect(await listEntries(guest)).toEqual([]);
  expect(await store.finish({ ...running, attempt: 2 }, SUCCEEDED)).toBe(false);
  for (const _ of [1, 2]) expect(await store.finish(running, SUCCEEDED)).toBe(true);
  const actor = { kind: "user", id: guest.userId, name: guest.email };
  const written = [describeEntry(running.id, actor, "route.json")];
  expect(await listEntries(guest)).toMatchObject(written);
  // The other one: its own file, whose place was taken.
  expect(await listEntries(owner)).toMatchObject([...written, { actor: { id: owner.userId } }]);
});

test("a result of an application is in the audit log under its name, and one that was refused is in none", async () => {
  const client = await createTestClient(here, owner, service);
  await call(owner, `PUT /data-pools/${pool}/grants/${client.applicationId}`, { access: "write" });
  const authorization = `Bearer ${await fetchAccessToken(here, client)}`;
  const start = async () => {
    const answer = await here.gateway.inject({
      method: "POST",
      url: `/${service.serviceKey}/${service.serviceName}/${service.version}/`,
      headers: { authorization, "content-type": "application/json" },
      payload: JSON.stringify({ persistTo: { dataPoolId: pool, name: "theirs.json" } }),
    });
    return await claim(answer.json<{ id: string }>().id);
  };
  const [first, second] = [await start(), await start()];
  await store.finish(first, SUCCEEDED);
  await call(owner, `DELETE /data-pools/${pool}/grants/${client.applicationId}`);
  await store.finish(second, SUCCEEDED);
  const actor = { kind: "application", id: client.applicationId, name: "client" };
  expect(await listEntries(owner)).toMatchObject([describeEntry(first.id, actor, "theirs.json")]);
  expect((await call(owner, "GET /audit-events?actor=client")).body["items"]).toHaveLength(1);
  expect((await call(owner, "GET /audit-events/verification")).body).toMatchObject({ firstBroken: null });
});

test("a start is refused alike for a pool that there is not, of somebody else, and that may only be read", async () => {
  const unknown = await startJob({ dataPoolId: "00000000-0000-4000-8000-000000000000" });
  expect(unknown).toMatchObject({
    status: 422,
    body: { code: "DATA_REFERENCE_INVALID", errors: [{ path: "/persistTo" }] },
  });
  const stranger = await createTestUser(here);
  const theirs = String((await call(stranger, "POST /data-pools", { name: "Theirs" })).body["id"]);
  expect(await startJob({ dataPoolId: theirs })).toEqual(unknown);
  const share = (role: string) =>
    call(stranger, `PUT /data-pools/${theirs}/shares/${owner.organisationId}`, { role });
  await share("viewer");
  expect(await startJob({ dataPoolId: theirs })).toEqual(unknown);
  await share("maintainer");
  expect((await startJob({ dataPoolId: theirs })).status).toBe(201);
  // A token that only starts jobs stores nothing.
  const { token } = await here.identity.createPersonalAccessToken(owner.userId, {
    name: "runs",
    scopes: ["run"],
  });
  expect(await startJob({ dataPoolId: pool }, { ...owner, token })).toEqual(unknown);
  expect((await startJob({ dataPoolId: pool, name: "a/b" })).body).toMatchObject({
    code: "DATA_REFERENCE_INVALID",
    errors: [{ path: "/persistTo/name" }],
  });
});
