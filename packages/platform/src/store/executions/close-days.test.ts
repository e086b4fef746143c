import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createExecutions } from "@platform/engine/executions/executions";
import type { Executions } from "@platform/engine/executions/executions";
import type { NewExecution } from "@platform/engine/store/execution-store";
import {
  createExecution,
  createLine,
  createOwner,
  createUuidAt,
  request,
} from "@platform/engine/testing/execution-fixtures";
import { DAY } from "@platform/engine/base/time";
import type { Database } from "../../postgres/database.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import type { TestDatabase } from "../../testing/test-database.ts";
import { createExecutionDatabase, createPostgresExecutionStore } from "./execution-store.ts";
import type { PostgresExecutionStore } from "./execution-store.ts";
import { formatDay } from "./days.ts";
import { ensurePartitions, maintainPartitions } from "./partitions.ts";
import { previewRemoval } from "./preview-removal.ts";

const RETENTION = { retentionDays: 30, logRetentionDays: 7 };
const LINE = createLine("said");

let home: TestDatabase;
let database: Database;
let store: PostgresExecutionStore;
let executions: Executions;

beforeEach(async () => {
  home = await createTestDatabase();
  database = createExecutionDatabase(home.target, { logger: home.logger });
  store = createPostgresExecutionStore({ database });
  executions = serve(7);
});

afterEach(async () => {
  executions?.close();
  await store?.close();
  await database?.close();
  await home?.close();
});

/** What callers see of a platform that keeps logs for so many days. */
function serve(log: number, result = 30): Executions {
  return createExecutions({
    store,
    retentionDays: { result, log, most: 60 },
    inputs: {
      pin: async (reference) => ({ ...reference, sha256: "0".repeat(64), bytes: 2 }),
      pinPools: async () => [],
      place: async () => "gone",
    },
  });
}

/** Runs an execution that was started and has ended so long ago, in the partitions of its day, with a log of one line. */
async function runOld(daysAgo: number, more: Partial<NewExecution> = {}): Promise<NewExecution> {
  await ensurePartitions(home.database, {
    logger: home.logger,
    retentionDays: 30,
    now: Date.now() - daysAgo * DAY,
  });
  const execution: NewExecution = {
    id: createUuidAt(Date.now() - daysAgo * DAY),
    owner: createOwner(),
    versionId: randomUUID(),
    resources: { cpu: 1, memory: 1 },
    timeoutSeconds: 60,
    body: Buffer.from("{}"),
    references: {},
    ...more,
  };
  await store.create(execution);
  const [claim] = (await store.claim(request())).claims;
  if (claim === undefined) throw new Error("There was nothing to claim.");
  await store.appendLog(claim, [LINE]);
  await store.finish(claim, { status: "SUCCEEDED", result: Buffer.from('{"n":1}'), metadata: null });
  await backdate(execution.id, daysAgo);
  return execution;
}

async function backdate(id: string, daysAgo: number): Promise<void> {
  for (const table of ["execution", "kept_execution"])
    await database.query({
      text: `update ${table} set created_at = now() - make_interval(days => $2), ended_at = now() - make_interval(days => $2) where id = $1`,
      values: [id, daysAgo],
    });
}

async function keepHouse(retention = RETENTION, now = Date.now()) {
  return await maintainPartitions(home.database, { logger: home.logger, ...retention, now });
}

function code(error: unknown): string {
  return (error as { readonly code: string }).code;
}

/** What a caller gets from a process that remembers nothing: state, result and log, or the codes of the refusals. */
async function readAll({ id, owner }: NewExecution, from = serve(7)) {
  const [state, result, log] = await Promise.all([
    from.state(id, owner.id).then(({ status }) => status, code),
    from.result(id, owner.id).then(({ output }) => Buffer.from(output?.result ?? []).toString(), code),
    from
      .log(id, owner.id)
      .then(({ lines }) => (JSON.parse(Buffer.from(lines).toString()) as unknown[]).length, code),
  ]);
  from.close();
  return [state, result, log];
}

async function listTables(id: string): Promise<readonly string[]> {
  const rows = await database.query<{ name: string }>({
    text: `select tableoid::regclass::text as name from execution where id = $1
      union all select tableoid::regclass::text from execution_log where id = $1
      union all select 'kept_execution' from kept_execution where id = $1
      union all select 'kept_result' from kept_result where id = $1
      union all select 'kept_log' from kept_log where id = $1`,
    values: [id],
  });
  return rows.map(({ name }) => name.replace(/_p\d{8}$/u, ""));
}

const ALL = ["SUCCEEDED", '{"n":1}', 1];

test("logs of a day go before its results, unless their service keeps them for longer", async () => {
  const [plain, longer, shorter] = [
    await runOld(9),
    await runOld(9, { kept: { result: null, log: 20 } }),
    await runOld(9, { kept: { result: null, log: 2 } }),
  ];
  await keepHouse();
  expect(await readAll(plain)).toEqual(["SUCCEEDED", '{"n":1}', "LOG_EXPIRED"]);
  expect(await readAll(longer)).toEqual(ALL);
  expect(await readAll(shorter)).toEqual(["SUCCEEDED", '{"n":1}', "LOG_EXPIRED"]);
  expect(await listTables(plain.id)).toEqual(["execution"]);
  expect(await listTables(longer.id)).toEqual(["execution", "kept_log"]);
});

test("a day of which an execution is to begin later stays until that has ended, and its result is kept from then on", async () => {
  const other = await runOld(40);
  const held: NewExecution = {
    ...createExecution({ startAt: Date.now() + DAY }),
    id: createUuidAt(Date.now() - 40 * DAY),
  };
  await store.create(held);
  const day = formatDay(Date.now() - 40 * DAY);
  expect((await keepHouse())?.dropped).not.toContain(day);
  expect(await readAll(other)).toEqual(["RESULT_EXPIRED", "RESULT_EXPIRED", "RESULT_EXPIRED"]);
  expect(await readAll(held)).toEqual(["PENDING", "RESULT_NOT_READY", 0]);
  await store.cancel(held.id, held.owner.id);
  expect((await keepHouse())?.dropped).toEqual([day]);
  expect(await readAll(held)).toEqual(["FAILED", "", 0]);
});

test("what a service keeps for longer leaves its day, which is dropped, and can be read as before until it expires", async () => {
  const owner = createOwner();
  const plain = await runOld(40, { owner });
  const longer = await runOld(40, { owner, kept: { result: 50, log: 45 } });
  const before = await store.find(longer.id, owner.id);
  const report = await keepHouse();
  expect(report?.dropped).toContain(
    new Date(Date.now() - 40 * DAY).toISOString().slice(0, 10).replaceAll("-", ""),
  );
  expect(await listTables(longer.id)).toEqual(["kept_execution", "kept_result", "kept_log"]);
  expect(await readAll(longer)).toEqual(ALL);
  expect(await store.find(longer.id, owner.id)).toEqual(before);
  expect(await store.find(longer.id, randomUUID())).toBeNull();
  expect(await store.readLog(longer.id, randomUUID())).toBeNull();
  expect(await store.readResult(longer.id, randomUUID())).toBeNull();
  expect(await store.cancel(longer.id, owner.id)).toMatchObject({ status: "SUCCEEDED" });
  expect((await executions.list(owner.id, { limit: 10 })).items.map(({ id }) => id)).toEqual([longer.id]);
  expect(await readAll(plain)).toEqual(["RESULT_EXPIRED", "RESULT_EXPIRED", "RESULT_EXPIRED"]);
  // Eleven days later.
  expect((await keepHouse(RETENTION, Date.now() + 11 * DAY))?.expired).toBeGreaterThan(0);
  expect(await listTables(longer.id)).toEqual([]);
  expect((await readAll(longer))[0]).toBe("RESULT_EXPIRED");
});

test("a result that outlives its log is kept alone", async () => {
  const execution = await runOld(40, { kept: { result: 50, log: null } });
  await keepHouse();
  expect(await listTables(execution.id)).toEqual(["kept_execution", "kept_result"]);
  expect(await readAll(execution)).toEqual(["SUCCEEDED", '{"n":1}', "LOG_EXPIRED"]);
});

test("longer retention brings back nothing that was removed, and says so: no empty log, and no unknown id", async () => {
  const [withoutLog, gone] = [await runOld(9), await runOld(40)];
  await keepHouse();
  const later = serve(60, 60);
  expect(await readAll(withoutLog, serve(60, 60))).toEqual(["SUCCEEDED", '{"n":1}', "LOG_EXPIRED"]);
  const { items } = await later.list(withoutLog.owner.id, { limit: 1 });
  expect(items[0]?.logExpiresAt).toBeLessThan(Date.now());
  expect(await readAll(gone, serve(60, 60))).toEqual(["RESULT_EXPIRED", "RESULT_EXPIRED", "RESULT_EXPIRED"]);
  // Of a time in which nothing was removed.
  for (const time of [Date.now() + 5 * DAY, Date.now() - 2 * DAY])
    expect((await readAll({ ...gone, id: createUuidAt(time) }, serve(60, 60)))[0]).toBe(
      "EXECUTION_NOT_FOUND",
    );
  later.close();
});

test("an execution that ended late keeps its log and result for as long as others", async () => {
  const execution = await runOld(40);
  await backdate(execution.id, 3);
  await keepHouse();
  expect(await listTables(execution.id)).toEqual(["kept_execution", "kept_result", "kept_log"]);
  expect(await readAll(execution)).toEqual(ALL);
  const fresh = serve(7);
  const record = await fresh.state(execution.id, execution.owner.id);
  fresh.close();
  expect(record.expiresAt).toBe((record.endedAt ?? 0) + 30 * DAY);
  expect(record.logExpiresAt).toBe((record.endedAt ?? 0) + 7 * DAY);
});

test("a day with an execution that has not ended stays as it is, and readers find everything meanwhile", async () => {
  const longer = await runOld(40, { kept: { result: 50, log: 50 } });
  const waiting: NewExecution = { ...longer, id: createUuidAt(Date.now() - 40 * DAY) };
  await store.create(waiting);
  await keepHouse();
  expect(await listTables(longer.id)).toEqual(["execution", "execution_log"]);
  expect(await store.find(waiting.id, waiting.owner.id)).toMatchObject({ status: "PENDING" });
  await store.cancel(waiting.id, waiting.owner.id);
  await keepHouse();
  expect(await listTables(longer.id)).toEqual(["kept_execution", "kept_result", "kept_log"]);
  expect(await readAll(waiting)).toEqual(["FAILED", "", 0]);
});

test("what is killed after it has copied is done again, and shows nothing twice", async () => {
  const owner = createOwner();
  const longer = [
    await runOld(40, { owner, kept: { result: 50, log: 50 } }),
    await runOld(40, { owner, kept: { result: 50, log: 50 } }),
  ];
  // A reader holds the day, so that it is copied, but cannot be dropped.
  const impatient = home.connect({ retryMilliseconds: 0 });
  const reader = await home.database.pool.connect();
  const [{ name } = { name: "" }] = await database.query<{ name: string }>({
    text: "select tableoid::regclass::text as name from execution where id = $1",
    values: [longer[0]?.id],
  });
  try {
    await reader.query("begin");
    await reader.query(`select 1 from ${name}`);
    await maintainPartitions(impatient, { logger: home.logger, ...RETENTION });
    expect(await listTables(longer[0]?.id ?? "")).toContain("kept_execution");
    expect(await listTables(longer[0]?.id ?? "")).toContain("execution");
    for (const limit of [1, 2, 10]) {
      const page = await executions.list(owner.id, { limit });
      expect(page.items.map(({ id }) => id)).toEqual(
        longer
          .map(({ id }) => id)
          .toSorted()
          .toReversed()
          .slice(0, limit),
      );
      expect(page.nextCursor === null).toBe(limit > 1);
    }
    expect(await readAll(longer[0] ?? (await runOld(40)))).toEqual(ALL);
  } finally {
    await reader.query("rollback");
    reader.release();
  }
  // As if it had not been noted that everything was copied.
  await database.query({ text: "update closed_day set copied_at = null" });
  await keepHouse();
  for (const execution of longer) {
    expect(await listTables(execution.id)).toEqual(["kept_execution", "kept_result", "kept_log"]);
    expect(await readAll(execution)).toEqual(ALL);
  }
});

test("several processes that close the same days at once lose nothing, and warn of nothing", async () => {
  const longer = await runOld(40, { kept: { result: 50, log: 50 } });
  const others = Array.from({ length: 4 }, () => home.connect());
  await Promise.all(others.map((other) => maintainPartitions(other, { logger: home.logger, ...RETENTION })));
  await keepHouse();
  expect(await readAll(longer)).toEqual(ALL);
  expect(await listTables(longer.id)).toEqual(["kept_execution", "kept_result", "kept_log"]);
  expect(home.logger.entries.filter(({ message }) => message.includes("could not be closed"))).toEqual([]);
});

test("more than one group of executions is copied, and removed", async () => {
  const first = await runOld(40, { kept: { result: 50, log: 50 } });
  const [{ name } = { name: "" }] = await database.query<{ name: string }>({
    text: "select right(tableoid::regclass::text, 8) as name from execution where id = $1",
    values: [first.id],
  });
  for (const [table, columns] of [
    ["execution", "*"],
    ["execution_result", "*"],
    ["execution_log", "*"],
  ])
    await database.query({
      text: `insert into ${table}_p${name} select (jsonb_populate_record(r,
          jsonb_build_object('id', left(r.id::text, 24) || lpad(to_hex(n), 12, '0')))).${columns}
        from ${table}_p${name} r, generate_series(1, 2500) n where r.id = $1`,
      values: [first.id],
    });
  await keepHouse();
  const count = async () =>
    await database.query({
      text: `select (select count(*)::int from kept_execution) as executions, (select count(*)::int from kept_result) as results,
        (select count(*)::int from kept_log) as logs`,
    });
  expect(await count()).toEqual([{ executions: 2501, results: 2501, logs: 2501 }]);
  await keepHouse(RETENTION, Date.now() + 11 * DAY);
  expect(await count()).toEqual([{ executions: 0, results: 0, logs: 0 }]);
});

async function preview(now = Date.now()) {
  return await previewRemoval(home.database, { ...RETENTION, now });
}

test("what a round will remove is named before, per service, and nothing is changed by that", async () => {
  const [plain, ofLog, longer] = [
    await runOld(40),
    await runOld(9),
    await runOld(40, { kept: { result: 50, log: 45 } }),
  ];
  const before = await preview();
  expect(before.days).toContain(
    new Date(Date.now() - 40 * DAY).toISOString().slice(0, 10).replaceAll("-", ""),
  );
  expect(before.logDays.length).toBeGreaterThan(before.days.length);
  expect(before.services).toEqual([
    { serviceKey: null, service: null, executions: 1, logs: 2, bytes: expect.any(Number) },
  ]);
  expect(await readAll(plain)).toEqual(["RESULT_EXPIRED", "RESULT_EXPIRED", "RESULT_EXPIRED"]);
  expect(await listTables(plain.id)).toEqual(["execution", "execution_log"]);
  expect(await listTables(ofLog.id)).toEqual(["execution", "execution_log"]);
  expect((await keepHouse())?.dropped).toEqual(before.days);
  expect(await preview()).toEqual({ days: [], logDays: [], waiting: [], services: [], named: new Map() });
  expect((await preview(Date.now() + 11 * DAY)).services).toMatchObject([{ executions: 1, logs: 1 }]);
  expect(await readAll(longer)).toEqual(ALL);
});

/** The executions that have content in the object store. */
async function listNamed(): Promise<readonly string[]> {
  const rows = await database.query<{ id: string }>({
    text: "select execution_id as id from execution_output",
  });
  return rows.map(({ id }) => id);
}

test("the content of a result is named for as long as its execution is kept", async () => {
  const [plain, longer] = [await runOld(40), await runOld(40, { kept: { result: 50, log: null } })];
  for (const [index, { id }] of [plain, longer].entries()) {
    await database.query({
      text: "insert into execution_output (execution_id, name, hash, bytes) values ($1, '', $2, 5)",
      values: [id, String(index).repeat(64)],
    });
    await database.query({
      text: "update execution_result set has_output = true where id = $1",
      values: [id],
    });
  }
  await keepHouse();
  expect(await listNamed()).toEqual([longer.id]);
  expect(await store.readResult(longer.id, longer.owner.id)).toMatchObject({
    output: { result: { hash: "1".repeat(64), bytes: 5 } },
  });
  // The input does not move with what is kept.
  expect(await store.readDigests(longer.id, longer.owner.id)).toMatchObject({
    input: null,
    result: { hash: "1".repeat(64), bytes: 5 },
  });
  await keepHouse(RETENTION, Date.now() + 11 * DAY);
  expect(await listNamed()).toEqual([]);
});

async function listColumns(table: string) {
  return await database.query({
    text: `select column_name, data_type from information_schema.columns where table_name = $1 order by 1`,
    values: [table],
  });
}

test("what is moved is all that a result has", async () => {
  expect(await listColumns("kept_result")).toEqual(await listColumns("execution_result"));
});
