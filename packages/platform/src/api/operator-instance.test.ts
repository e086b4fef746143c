import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { AuditEvent } from "@platform/contract/platform-api/audit";
import type { Instance, Worker } from "@platform/contract/platform-api/operator-instance";
import { SECOND } from "@platform/engine/base/time";
import { createUuidV7 } from "@platform/engine/base/uuid";
import { createOwner } from "@platform/engine/testing/execution-fixtures";
import { createPostgresExecutionStore } from "../store/executions/execution-store.ts";
import type { ProcessReport } from "../store/instance/processes.ts";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import { createTestOperator, createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
let here: TestInstance;
let call: CallApi;
let operator: TestUser;
let id: string;

beforeAll(async () => {
  home = await createTestDatabase();
  here = await createTestInstance({ database: home.database, signUpMode: "open" });
  call = createApiCaller(here);
  operator = await createTestOperator(here);
});
afterAll(async () => {
  await here?.close();
  await home?.close();
});
beforeEach(async () => {
  await run("delete from worker");
  await run("delete from platform_process");
  id = randomUUID();
  await run("insert into worker (id, cpu_milli, memory_milli) values ($1, 2500, 8000)", id);
  await here.stores.processes.report(describe());
});

const run = (text: string, ...values: readonly unknown[]) => home.database.query({ text, values });

const MISSING = { piece: "control groups", why: "They are read-only.", remedy: "Run as root." } as const;

function describe(more: Partial<ProcessReport> = {}): ProcessReport {
  return {
    id,
    host: "node-1",
    pid: 4711,
    roles: ["builder", "worker"],
    version: "1.2.3",
    startedAt: Date.now() - 90 * SECOND,
    disk: { free: 5_000_000_000_000, total: 6_000_000_000_000 },
    faults: [{ part: "disk", detail: "It is full." }],
    sandbox: { level: "B", missing: [MISSING] },
    python: "3.13.1",
    ...more,
  };
}

const listWorkers = async () =>
  (await call(operator, "GET /operator/workers")).body["items"] as readonly Worker[];
const getInstance = async () => (await call(operator, "GET /operator/instance")).body as unknown as Instance;

test("a worker is listed with what it can do, what it does and how it isolates, in words", async () => {
  expect(await listWorkers()).toEqual([
    {
      id,
      kind: "service",
      host: "node-1",
      roles: ["builder", "worker"],
      version: "1.2.3",
      startedAt: expect.stringMatching(/^\d{4}-/u) as unknown,
      lastSeenAt: expect.stringMatching(/^\d{4}-/u) as unknown,
      live: true,
      draining: false,
      drainingSince: null,
      capacity: { cpu: 2.5, memory: 8 },
      used: { cpu: 0, memory: 0 },
      running: 0,
      builds: 0,
      sandbox: {
        level: "B",
        gives: expect.stringContaining("namespaces") as unknown,
        missing: [MISSING],
      },
      pythons: ["3.13.1"],
    },
  ]);
});

test("a worker that fell silent is shown as not live, and one of a release that does not describe itself as far as it is known", async () => {
  await run("update worker set seen_at = now() - interval '31 seconds'");
  await here.stores.processes.leave(id);
  expect(await listWorkers()).toMatchObject([
    { id, live: false, host: null, roles: [], sandbox: null, pythons: [] },
  ]);
});

test("lists come in pages", async () => {
  await run("insert into worker (id, cpu_milli, memory_milli) values ('another', 1000, 1000)");
  const first = await call(operator, "GET /operator/workers?limit=1");
  expect(first.body).toMatchObject({ items: [{ id }], nextCursor: "1" });
  const second = await call(operator, "GET /operator/workers?limit=1&cursor=1");
  expect(second.body).toMatchObject({ items: [{ id: "another" }], nextCursor: null });
});

test("draining is written in the operator's log, once for each change", async () => {
  const drain = `/operator/workers/${id}/drain`;
  expect(await call(operator, `PUT ${drain}`)).toMatchObject({ status: 200, body: { id, draining: true } });
  expect(await call(operator, `PUT ${drain}`)).toMatchObject({ status: 200, body: { draining: true } });
  expect(await call(operator, `DELETE ${drain}`)).toMatchObject({ status: 200, body: { draining: false } });
  const events = (await call(operator, "GET /audit-events")).body["items"] as readonly AuditEvent[];
  const actor = { kind: "operator", id: operator.userId };
  expect(events.filter(({ target }) => target.id === id)).toMatchObject([
    { action: "worker.resume", actor, changes: [{ field: "draining", before: "true", after: "false" }] },
    { action: "worker.drain", actor, changes: [{ field: "draining", before: "false", after: "true" }] },
  ]);
});

test.each(["PUT", "DELETE"])("%s of an unknown worker's drain is 404", async (method) => {
  for (const unknown of [randomUUID(), "nobody", "%20"])
    expect(await call(operator, `${method} /operator/workers/${unknown}/drain`)).toMatchObject({
      status: 404,
      body: { code: "NOT_FOUND" },
    });
});

test("who is no operator drains nothing", async () => {
  const user = await createTestUser(here);
  expect(await call(user, `PUT /operator/workers/${id}/drain`)).toMatchObject({ status: 403 });
  expect(await listWorkers()).toMatchObject([{ draining: false }]);
});

test("the instance is described: processes, database, disk, who can sign up", async () => {
  const lost = randomUUID();
  await here.stores.processes.report(describe({ id: lost, version: "1.2.2", sandbox: null, python: null }));
  await run("update platform_process set seen_at = now() - interval '31 seconds' where id = $1", lost);
  const instance = await getInstance();
  expect(instance.versions).toEqual(["1.2.3"]);
  expect(instance.processes.find((one) => one.id === id)).toMatchObject({
    host: "node-1",
    pid: 4711,
    live: true,
    disk: { freeBytes: 5_000_000_000_000, totalBytes: 6_000_000_000_000 },
    faults: [{ part: "disk", detail: "It is full." }],
    sandbox: { level: "B", missing: [MISSING] },
  });
  expect(instance.processes.find((one) => one.id === id)?.uptimeSeconds).toBeGreaterThanOrEqual(90);
  expect(instance.processes.find((one) => one.id === lost)).toMatchObject({ live: false, sandbox: null });
  expect(instance.database).toMatchObject({
    kind: "embedded",
    migration: expect.stringMatching(/\w/u) as unknown,
  });
  expect(instance.database.sizeBytes).toBeGreaterThan(1_000_000);
  expect(instance.database.connections).toBeGreaterThan(0);
  expect(instance.database.maxConnections).toBeGreaterThan(instance.database.connections);
  expect(instance.disk).toEqual({ freeBytes: 2_000, totalBytes: 3_000, floorBytes: 1_000, low: false });
  expect(instance.signUp).toMatchObject({ mode: "open", changeable: false });
});

test("what waits is described by its reason, that which has waited longest first", async () => {
  const store = createPostgresExecutionStore({ database: home.database });
  const start = async (memory: number, createdAt: string) => {
    const execution = createUuidV7();
    const resources = { cpu: 1, memory };
    const rest = { versionId: randomUUID(), timeoutSeconds: 60, body: Buffer.from("{}"), references: {} };
    await store.create({ id: execution, owner: createOwner(), resources, ...rest });
    await run("update execution set created_at = $2::timestamptz where id = $1", execution, createdAt);
  };
  await start(1, "2026-01-03Z");
  await start(1, "2026-01-02Z");
  await start(64, "2026-01-01Z");
  // What was measured seconds ago is of before.
  const fresh = await createTestInstance({ database: home.connect() });
  try {
    const answer = await createApiCaller(fresh)(operator, "GET /operator/instance");
    expect(answer.body["queue"]).toEqual([
      {
        reason: "NO_LARGE_WORKER",
        meaning: "no running worker has the vCPUs and memory that the version requires",
        executions: 1,
        oldestSince: "2026-01-01 00:00:00",
      },
      {
        reason: "QUEUE",
        meaning: "it waits for its turn, or for free capacity",
        executions: 2,
        oldestSince: "2026-01-02 00:00:00",
      },
    ]);
  } finally {
    await fresh.close();
    await store.close();
  }
});

test("a process that was lost is forgotten after a day", async () => {
  await run("update platform_process set seen_at = now() - interval '25 hours' where id = $1", id);
  const other = randomUUID();
  await here.stores.processes.report(describe({ id: other }));
  expect((await getInstance()).processes.map((one) => one.id)).toEqual([other]);
});
