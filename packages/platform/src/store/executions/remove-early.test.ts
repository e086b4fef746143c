import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { KeptDays } from "@platform/contract/execution";
import type { NewExecution } from "@platform/engine/store/execution-store";
import { createLine, createOwner, createUuidAt, request } from "@platform/engine/testing/execution-fixtures";
import { DAY } from "@platform/engine/base/time";
import { createDatabase } from "../../postgres/database.ts";
import type { Database } from "../../postgres/database.ts";
import { MAINTENANCE } from "../../postgres/limits.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import type { TestDatabase } from "../../testing/test-database.ts";
import { createObjectRows, previewObjects } from "../objects/object-rows.ts";
import { createExecutionDatabase, createPostgresExecutionStore } from "./execution-store.ts";
import type { PostgresExecutionStore } from "./execution-store.ts";
import { ensurePartitions, maintainPartitions } from "./partitions.ts";
import { previewRemoval } from "./preview-removal.ts";

const RETENTION = { retentionDays: 30, logRetentionDays: 7 };
const HASH = "a".repeat(64);
const OBJECT_BYTES = 5_000;

let home: TestDatabase;
let database: Database;
/** As housekeeping has it: with time for large statements. */
let maintenance: Database;
let store: PostgresExecutionStore;

beforeEach(async () => {
  home = await createTestDatabase();
  database = createExecutionDatabase(home.target, { logger: home.logger });
  maintenance = createDatabase(home.target, { logger: home.logger, limits: MAINTENANCE });
  store = createPostgresExecutionStore({ database });
  for (const daysAgo of [5, 2, 0])
    await ensurePartitions(maintenance, {
      logger: home.logger,
      ...RETENTION,
      now: Date.now() - daysAgo * DAY,
    });
});

afterEach(async () => {
  await store?.close();
  await database?.close();
  await maintenance?.close();
  await home?.close();
});

/** An execution that was started and has ended so long ago, with result, log and an object, of a service that keeps them for so many days. */
async function runOld(daysAgo: number, kept?: KeptDays): Promise<string> {
  const execution: NewExecution = {
    id: createUuidAt(Date.now() - daysAgo * DAY),
    owner: createOwner(),
    versionId: randomUUID(),
    resources: { cpu: 1, memory: 1 },
    timeoutSeconds: 60,
    body: Buffer.from("{}"),
    references: {},
    ...(kept === undefined ? {} : { kept }),
  };
  await store.create(execution);
  const [claim] = (await store.claim(request())).claims;
  if (claim === undefined) throw new Error("There was nothing to claim.");
  await store.appendLog(claim, [createLine("said")]);
  await store.finish(claim, { status: "SUCCEEDED", result: Buffer.from('{"n":1}'), metadata: null });
  await run("update execution set ended_at = now() - make_interval(days => $2) where id = $1", [
    execution.id,
    daysAgo,
  ]);
  await run("insert into execution_output (execution_id, name, hash, bytes) values ($1, '', $2, $3)", [
    execution.id,
    HASH,
    OBJECT_BYTES,
  ]);
  return execution.id;
}

async function run(text: string, values: readonly unknown[] = []): Promise<void> {
  await maintenance.query({ text, values });
}

/** What there is of an execution. */
async function listParts(id: string): Promise<readonly string[]> {
  const rows = await database.query<{ name: string }>({
    text: `select 'execution' as name from execution where id = $1
      union all select 'input' from execution_input where id = $1
      union all select 'log' from execution_log where id = $1
      union all select 'object' from execution_output where execution_id = $1
      union all select 'result' from execution_result where id = $1`,
    values: [id],
  });
  return rows.map(({ name }) => name).toSorted();
}

const ALL = ["execution", "input", "log", "object", "result"];

const keepHouse = () => maintainPartitions(maintenance, { logger: home.logger, ...RETENTION });
const preview = () => previewRemoval(maintenance, { ...RETENTION, now: Date.now() });

test.each<[string, KeptDays | undefined, readonly string[]]>([
  ["as the platform does", undefined, ALL],
  ["results for a shorter time", { result: 2, log: null }, ["execution"]],
  ["logs for a shorter time", { result: null, log: 2 }, ["execution", "input", "object", "result"]],
  ["both for longer than it was", { result: 4, log: 4 }, ALL],
  ["logs for longer than results", { result: 2, log: 5 }, ["execution"]],
])(
  "of an execution whose service keeps %s, what has expired is removed before its day",
  async (_what, kept, left) => {
    const id = await runOld(2, kept);
    await keepHouse();
    expect(await listParts(id)).toEqual(left);
    const report = await keepHouse();
    expect(report?.expired).toBe(0);
  },
);

test("the result of an execution is removed after its log", async () => {
  const id = await runOld(2, { result: 4, log: 1 });
  await keepHouse();
  expect(await listParts(id)).toEqual(["execution", "input", "object", "result"]);
  await run("update execution set ended_at = ended_at - interval '2 days'");
  await maintainPartitions(maintenance, { logger: home.logger, ...RETENTION, now: Date.now() + 2 * DAY });
  expect(await listParts(id)).toEqual(["execution"]);
});

test("what an execution failed with is removed with its result", async () => {
  const id = await runOld(2, { result: 1, log: null });
  await run(
    "update execution set status = 'FAILED', failure_code = 'MINE', failure_detail = 'of a person', failure_metadata = '{}'",
  );
  await keepHouse();
  expect(
    await database.query({
      text: "select status, failure_code, failure_detail, failure_metadata from execution where id = $1",
      values: [id],
    }),
  ).toEqual([{ status: "FAILED", failure_code: "MINE", failure_detail: "", failure_metadata: null }]);
});

test("more than one group of executions is removed, by several processes at once", async () => {
  const id = await runOld(2, { result: 1, log: null });
  await run(
    `insert into execution select (e.row).* from (
        select jsonb_populate_record(execution, jsonb_build_object('id', left(id::text, 24) || lpad(n::text, 12, '0'))) as row
        from execution, generate_series(1, 1200) n where id = $1
      ) e`,
    [id],
  );
  await run("insert into execution_result (id, result) select id, '{}' from execution where id <> $1", [id]);
  await Promise.all([keepHouse(), keepHouse(), keepHouse()]);
  expect(await database.query({ text: "select id from execution_result" })).toEqual([]);
  expect(
    await database.query({ text: "select count(*)::int from execution where removed_days = 1" }),
  ).toEqual([{ count: 1201 }]);
});

test("what is removed early is named before, with the objects that nothing needs then", async () => {
  await runOld(2, { result: 1, log: null });
  const rows = createObjectRows(home.database, RETENTION.retentionDays);
  const countObjects = async () =>
    await previewObjects(maintenance, RETENTION.retentionDays, (await preview()).named);
  await rows.note({ hash: HASH, bytes: OBJECT_BYTES });
  // Noted a moment ago.
  expect(await countObjects()).toEqual({ objects: 0, bytes: 0 });
  await run("update object set kept_at = now() - interval '2 days'");
  expect(await countObjects()).toEqual({ objects: 1, bytes: OBJECT_BYTES });
  const { services, days } = await preview();
  expect([services, days]).toEqual([
    [{ serviceKey: null, service: null, executions: 1, logs: 1, bytes: expect.any(Number) }],
    [],
  ]);
  // Another result that stays has the same content.
  const other = await runOld(2);
  expect(await countObjects()).toEqual({ objects: 0, bytes: 0 });
  await run("delete from execution_output where execution_id = $1", [other]);
  expect(await countObjects()).toEqual({ objects: 1, bytes: OBJECT_BYTES });
  await keepHouse();
  expect((await rows.listUnneeded()).map(({ hash }) => hash)).toEqual([HASH]);
  expect((await preview()).services).toEqual([]);
});
