import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createServiceExecutionStore } from "../store/service-executions.ts";
import { createTestMember, createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { TEST_JOB, createQuantumScene, succeedWith } from "../testing/quantum-scene.ts";
import type { QuantumScene } from "../testing/quantum-scene.ts";

const JOB = { ...TEST_JOB, backend_id: "sim.own" };

let scene: QuantumScene;
let user: TestUser;
let serviceKey: string;

beforeAll(async () => {
  scene = await createQuantumScene();
});
afterAll(() => scene?.close());
beforeEach(async () => {
  user = await createTestUser(scene.instance);
  serviceKey = await scene.createBackend(user, "sim.own");
});

const call: QuantumScene["call"] = (...given) => scene.call(...given);
const open = async (more: object = {}, caller = user) => {
  const { status, body } = await call(caller, "POST /sessions", { backend_id: "sim.own", ...more });
  expect([status, body["code"]]).toEqual([201, undefined]);
  return String(body["id"]);
};
const start = async (more: object = {}, caller = user) => {
  const { status, body } = await call(caller, "POST /jobs", { ...JOB, ...more });
  expect([status, body["detail"]]).toEqual([201, undefined]);
  return String(body["id"]);
};
const read = async (path: string) => (await call(user, `GET ${path}`)).body;
const ask = async (text: string, ...values: readonly unknown[]) =>
  await scene.home.database.query({ text, values });
const finish = async () => (await scene.runNext(succeedWith({}))).id;

test("a session runs its jobs on the version that was the latest when it was opened", async () => {
  const id = await open({ ttl: 600, mode: "dedicated", metadata: { a: 1 }, provider: "AWS" });
  const session = await read(`/sessions/${id}`);
  expect(session).toMatchObject({
    backend_id: "sim.own",
    backend_version: "2.0.0",
    status: "OPEN",
    final: false,
    accept_jobs: true,
    job_count: 0,
    mode: "dedicated",
    metadata: { a: 1 },
    closed_at: null,
  });
  const seconds = (name: string) => Date.parse(`${String(session[name])}Z`) / 1000;
  expect(seconds("expires_at") - seconds("created_at")).toBe(600);
  await scene.addVersion({ serviceKey, id: "sim.own" }, "2.1.0");
  const pinned = await start({ session_id: id.toUpperCase() });
  expect(await read(`/jobs/${pinned}`)).toMatchObject({ backend_version: "2.0.0", session_id: id });
  expect(await read(`/sessions/${id}/status`)).toEqual({ status: "ACTIVE" });
  const other = await start();
  expect(await read(`/jobs/${other}`)).toMatchObject({ backend_version: "2.1.0", session_id: null });
  await finish();
  await finish();
  expect(await read(`/sessions/${id}`)).toMatchObject({ status: "INACTIVE", job_count: 1 });
  expect(await read(`/sessions/${id}/jobs`)).toMatchObject({ content: [{ id: pinned }], total_elements: 1 });
  expect(await read(`/jobs?sessionId=${id}`)).toMatchObject({ content: [{ id: pinned }] });
  await scene.instance.stores.versions.retire(user.organisationId, serviceKey, "2.0.0");
  expect(await call(user, "POST /jobs", { ...JOB, session_id: id })).toMatchObject({
    status: 410,
    body: { code: "VERSION_RETIRED" },
  });
});

test("its jobs go before those of the organisation that wait behind the next, in their order", async () => {
  const id = await open();
  const ordinary: string[] = [];
  for (let count = 4; count > 0; count--) ordinary.push(await start());
  const first = await start({ session_id: id });
  const second = await start({ session_id: id });
  const order: string[] = [];
  for (let count = 6; count > 0; count--) order.push(await finish());
  const [a, b, c, d] = ordinary;
  expect(order).toEqual([a, first, b, second, c, d]);
});

test("no organisation waits for sessions of another one: each has its turns, whoever has how many jobs in sessions", async () => {
  const other = await createTestUser(scene.instance);
  await scene.createBackend(other, "sim.own");
  const id = await open();
  for (let count = 5; count > 0; count--) await start();
  const theirs: string[] = [];
  for (let count = 3; count > 0; count--) theirs.push(await start({}, other));
  for (let count = 10; count > 0; count--) await start({ session_id: id });
  const order: string[] = [];
  for (let count = 18; count > 0; count--) {
    order.push(await finish());
    // And sessions go on while others wait.
    if (count > 8) await start({ session_id: id });
  }
  expect(theirs.map((job) => order.indexOf(job))).toEqual([1, 4, 7]);
  expect(order.filter((job) => theirs.includes(job))).toEqual(theirs);
  for (;;) if (!(await finish().catch(() => null))) break;
});

test("a session that drains takes no jobs, until it takes them again; one that is closed or over takes none for ever", async () => {
  const id = await open();
  const job = await start({ session_id: id });
  const refused = async () => await call(user, "POST /jobs", { ...JOB, session_id: id });
  expect((await call(user, `PATCH /sessions/${id}`, { accept_jobs: false })).body).toMatchObject({
    status: "DRAINING",
    accept_jobs: false,
  });
  expect(await refused()).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
  expect((await call(user, `PATCH /sessions/${id}`, { accept_jobs: true })).body).toMatchObject({
    status: "ACTIVE",
  });
  for (const _ of [1, 2]) expect((await call(user, `DELETE /sessions/${id}`)).status).toBe(204);
  expect(await read(`/sessions/${id}`)).toMatchObject({ status: "CLOSED", final: true, accept_jobs: false });
  expect(await refused()).toMatchObject({ status: 409 });
  expect((await call(user, `PATCH /sessions/${id}`, { accept_jobs: true })).status).toBe(409);
  expect(await read(`/jobs/${job}/status`)).toEqual({ status: "PENDING" });
  expect(await finish()).toBe(job);
  const over = await open({ ttl: 60 });
  await scene.home.database.query({
    text: "update quantum_session set expires_at = now() - interval '1 s' where id = $1",
    values: [over],
  });
  expect(await read(`/sessions/${over}/status`)).toEqual({ status: "CLOSED" });
  expect(await call(user, "POST /jobs", { ...JOB, session_id: over })).toMatchObject({ status: 409 });
});

test("a session that is cancelled ends its jobs, and no others", async () => {
  const id = await open();
  const others = [await start(), await start({ session_id: await open() })];
  const jobs = [await start({ session_id: id }), await start({ session_id: id })];
  expect((await call(user, `POST /sessions/${id}/cancel`)).status).toBe(204);
  expect(await read(`/sessions/${id}/status`)).toEqual({ status: "CLOSED" });
  for (const job of jobs) expect(await read(`/jobs/${job}/status`)).toEqual({ status: "CANCELLED" });
  for (const job of others) expect(await read(`/jobs/${job}/status`)).toEqual({ status: "PENDING" });
  await finish();
  await finish();
});

test("a job that starts while its session is being cancelled ends with it", async () => {
  const id = await open();
  const blocker = await scene.home.database.pool.connect();
  await blocker.query("begin");
  // Executions can be read, and none is created.
  await blocker.query("lock table execution in exclusive mode");
  const started = start({ session_id: id });
  await expect
    .poll(
      async () => await ask("select 1 from pg_locks where not granted and relation = 'execution'::regclass"),
    )
    .not.toEqual([]);
  expect((await call(user, `POST /sessions/${id}/cancel`)).status).toBe(204);
  await blocker.query("commit");
  blocker.release();
  const job = await started;
  expect(await read(`/jobs/${job}/status`)).toEqual({ status: "CANCELLED" });
});

test("jobs of a session whose cancelling was cut off are found, and no others", async () => {
  const [cancelled, closed] = [await open(), await open()];
  const jobs = [await start({ session_id: cancelled }), await start({ session_id: cancelled })];
  const others = [await start({ session_id: closed }), await start()];
  await call(user, `DELETE /sessions/${closed}`);
  const { listLeftJobs } = createServiceExecutionStore(scene.home.database);
  expect(await listLeftJobs(10)).toEqual([]);
  await ask("update quantum_session set closed_at = now(), cancelled_at = now() where id = $1", cancelled);
  const left = (await listLeftJobs(10)).map((job) => job.id);
  expect(left.toSorted()).toEqual(jobs);
  for (const job of [...jobs, ...others]) await call(user, `DELETE /jobs/${job}`);
});

test("a job that fits no worker does not take those of its organisation's sessions before all others", async () => {
  const other = await createTestUser(scene.instance);
  await scene.createBackend(other, "sim.own");
  const large = await start();
  await ask("update execution set cpu_milli = 1000000 where id = $1", large);
  const theirs: string[] = [];
  for (let count = 3; count > 0; count--) theirs.push(await start({}, other));
  const id = await open();
  const runs = [(await scene.runNext(null)).id];
  for (let count = 3; count > 0; count--) {
    await start({ session_id: id });
    runs.push((await scene.runNext(null)).id);
  }
  expect(runs.map((job) => theirs.indexOf(job))).toEqual([0, 1, -1, 2]);
  await ask(`update execution set status = 'FAILED', failure_code = 'X', failure_detail = '', lease_until = null,
    started_at = now(), ended_at = now() where ended_at is null`);
});

test("a session is of one organisation and one backend, and open for eight hours at most", async () => {
  const id = await open();
  const other = await createTestUser(scene.instance);
  await scene.createBackend(other, "sim.own");
  for (const [request, body] of [
    ["GET /sessions/ID", undefined],
    ["GET /sessions/ID/status", undefined],
    ["GET /sessions/ID/jobs", undefined],
    ["PATCH /sessions/ID", { accept_jobs: false }],
    ["DELETE /sessions/ID", undefined],
    ["POST /sessions/ID/cancel", undefined],
  ] as const)
    for (const [caller, one] of [
      [other, id],
      [user, "x"],
    ] as const)
      expect([request, (await call(caller, request.replace("ID", one), body)).status]).toEqual([
        request,
        404,
      ]);
  expect(await read(`/sessions/${id}/status`)).toEqual({ status: "OPEN" });
  await scene.createBackend(user, "sim.second");
  for (const [caller, more] of [
    [other, { session_id: id }],
    [user, { session_id: id, backend_id: "sim.second" }],
    [user, { session_id: "x" }],
  ] as const)
    expect(await call(caller, "POST /jobs", { ...JOB, ...more })).toMatchObject({
      status: 400,
      body: { code: "INVALID_INPUT", errors: [{ path: "/session_id" }] },
    });
  for (const ttl of [0, 28_801])
    expect(await call(user, "POST /sessions", { backend_id: "sim.own", ttl })).toMatchObject({ status: 400 });
  expect(await call(user, "POST /sessions", { backend_id: "sim.none" })).toMatchObject({ status: 404 });
  const viewer = await createTestMember(scene.instance, user.organisationId, "viewer");
  const there = { "x-organizationid": user.organisationId };
  expect(await call(viewer, "POST /sessions", { backend_id: "sim.own" }, there)).toMatchObject({
    status: 403,
  });
  expect((await call(viewer, `GET /sessions/${id}`, undefined, there)).status).toBe(200);
});

test("jobs and sessions are listed together, jobs of sessions by these", async () => {
  const alone = await start({ name: "alone", tags: ["t"] });
  const id = await open();
  await start({ session_id: id });
  await start({ dry_run: true });
  expect(await read("/workloads")).toMatchObject({
    content: [
      { id, type: "SESSION", status: "ACTIVE", job_count: 1, name: null },
      { id: alone, type: "JOB", status: "PENDING", job_count: null, name: "alone", tags: ["t"] },
    ],
    total_elements: 2,
    last: true,
  });
  expect(await read("/workloads?size=1&page=1")).toMatchObject({ content: [{ id: alone }], page: 1 });
  for (const [type, only] of Object.entries({ SESSION: id, JOB: alone }))
    expect(await read(`/workloads?type=${type}`)).toMatchObject({
      content: [{ id: only }],
      total_elements: 1,
    });
  expect(await read("/runtime-minutes")).toEqual({ allowances: [] });
  for (let count = 3; count > 0; count--) await finish();
});
