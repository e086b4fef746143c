import { randomUUID } from "node:crypto";
import { createUuidV7 } from "@platform/engine/base/uuid";
import { createExecution, createOwner } from "@platform/engine/testing/execution-fixtures";
import { expect, test } from "vitest";
import type { Database } from "../../postgres/database.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import type { TestDatabase } from "../../testing/test-database.ts";
import { createExecutionDatabase, createPostgresExecutionStore } from "./execution-store.ts";
import type { PostgresExecutionStore } from "./execution-store.ts";
import { maintainPartitions } from "./partitions.ts";

/*
 * PostgreSQL keeps the plan of a statement until it analyses the tables, and on a new installation it plans while they are
 * empty.
 */

const ROUNDS = 150;
const AT_ONCE = 8;
/** What a few lookups of one row read, and what its older versions add. Reading an index whole takes half of ROUNDS * AT_ONCE. */
const MOST_READ = 30;
const LEASE_SECONDS = 60;
/** The queue and the leases are in partial indexes, which hold only what waits or runs. */
const SHORT_INDEX =
  /_(priority_rank(_id)?|lease_until|held_start_at_owner_id|start_by|limit_key_owner_id(_id)?)_idx$/;
const OWNER = createOwner();
const REQUEST = {
  workerId: "worker",
  sandboxLevel: "B",
  limit: AT_ONCE,
  free: { cpu: AT_ONCE, memory: AT_ONCE },
  leaseSeconds: LEASE_SECONDS,
  excludedVersionIds: [],
} as const;
const OUTCOME = { status: "SUCCEEDED", result: Buffer.from("{}"), metadata: null } as const;

async function startExecutions(store: PostgresExecutionStore): Promise<void> {
  const start = () =>
    store.create({
      id: createUuidV7(),
      owner: OWNER,
      versionId: randomUUID(),
      resources: { cpu: 1, memory: 1 },
      timeoutSeconds: 60,
      body: Buffer.from("{}"),
      references: {},
    });
  await Promise.all(Array.from({ length: AT_ONCE }, start));
}

/** Runs so many executions at once as a gateway and a worker would. The ids. */
async function serve(store: PostgresExecutionStore): Promise<readonly string[]> {
  await startExecutions(store);
  const { claims } = await store.claim(REQUEST);
  expect(claims).toHaveLength(AT_ONCE);
  const renewed = await store.renew("worker", claims, LEASE_SECONDS);
  expect(renewed).toEqual({ lost: [], cancelled: [], busy: [] });
  const line = { time: Date.now(), severity: "INFO", message: "hello" } as const;
  await Promise.all(claims.map((claim) => store.appendLog(claim, [line])));
  const ends = await Promise.all(claims.map((claim) => store.finish(claim, OUTCOME)));
  expect(ends).not.toContain(false);
  await Promise.all(claims.map(({ id }) => store.readResult(id, OWNER.id)));
  return claims.map(({ id }) => id);
}

/** Calls what `serve` leaves out. */
async function callRest(store: PostgresExecutionStore): Promise<void> {
  const [id = ""] = await serve(store);
  const ended = { id, attempt: 1, workerId: "worker" };
  await store.claim({ ...REQUEST, onlyId: id });
  await store.finish(ended, OUTCOME);
  await store.giveBack(ended, null);
  await store.cancel(id, OWNER.id);
  await store.find(id, OWNER.id);
  await store.readLog(id, OWNER.id);
  await store.list(OWNER.id, { limit: 1 });
  await store.sweep();
  await store.expire();
  // A service without a policy: there is a place for it.
  await store.create(createExecution({ owner: OWNER, limitKey: id }));
  await store.surveyLimits();
  await store.releaseDue();
  await store.countPending();
  await store.countDelayed();
  await store.surveyQueue();
  const capacity = { cpu: 1, memory: 1 };
  const free = capacity;
  await store.report({
    workerId: "worker",
    capacity,
    free,
    excludedVersionIds: [],
    reservedId: null,
    reservesAfterSeconds: 1,
  });
}

async function createFreshDatabase(): Promise<TestDatabase> {
  const home = await createTestDatabase();
  await maintainPartitions(home.database, { logger: home.logger, retentionDays: 30 });
  return home;
}

async function awaitSessions({ database }: TestDatabase): Promise<void> {
  // What a session has read is counted for others to see when it ends.
  const sessions = `select 1 from pg_stat_activity where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`;
  await expect.poll(() => database.query({ text: sessions }), { interval: 20 }).toEqual([]);
}

/**
 * Entries that the statements of one execution have read, by index of the whole table. Of those that hold only what waits or runs, the
 * entries of rows that still do: the others stay while any transaction is open that began before them, and on a busy machine the
 * server's own analysis is one that lasts.
 */
async function measureReads({ database }: TestDatabase): Promise<Record<string, number>> {
  const rows = await database.query<{ name: string; count: number }>({
    text: `select regexp_replace(indexrelname, '_(p\\d{8}|default)', '') as name,
        sum(case when indexrelname ~ $1 then idx_tup_fetch else idx_tup_read end)::int as count
      from pg_stat_user_indexes where relname ~ '^execution' group by 1`,
    values: [SHORT_INDEX.source],
  });
  return Object.fromEntries(rows.map(({ name, count }) => [name, count / (ROUNDS * AT_ONCE)]));
}

/** Days in whose partitions a row was looked for; it is one, or two when a day begins meanwhile. */
async function listDaysRead({ database }: TestDatabase): Promise<readonly string[]> {
  const rows = await database.query<{ day: string }>({
    text: `select distinct right(relname, 8) as day from pg_stat_user_indexes
      where relname ~ '^execution_.*(p[0-9]{8}|default)$' and indexrelname ~ '_pkey$' and idx_scan > 0`,
  });
  return rows.map(({ day }) => day);
}

const TABLES = ["execution", "execution_input", "execution_result", "execution_log"];

test.each(["left alone", "analysed"])(
  "an execution reads few entries of each index, however many came before: empty tables were %s",
  async (what) => {
    const home = await createFreshDatabase();
    if (what === "analysed")
      for (const table of TABLES) await home.database.query({ text: `analyze ${table}` });
    const database = createExecutionDatabase(home.target, { logger: home.logger });
    const store = createPostgresExecutionStore({ database });
    for (let round = 0; round < ROUNDS; round++) await serve(store);
    await store.close();
    await database.close();
    await awaitSessions(home);
    const reads = Object.entries(await measureReads(home));
    expect(reads.filter(([, count]) => count > MOST_READ)).toEqual([]);
    expect((await listDaysRead(home)).length).toBeLessThanOrEqual(2);
    await home.close();
  },
);

/** The statements of the store, by name or beginning. */
async function recordStatements(): Promise<ReadonlyMap<string, string>> {
  const home = await createFreshDatabase();
  const database = createExecutionDatabase(home.target, { logger: home.logger });
  const seen = new Map<string, string>();
  const query: Database["query"] = (statement) => {
    seen.set(statement.name ?? statement.text.slice(0, 40), statement.text);
    return database.query(statement);
  };
  const store = createPostgresExecutionStore({ database: { ...database, query } });
  await callRest(store);
  await store.close();
  await database.close();
  await home.close();
  return seen;
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

function listScans(node: PlanNode): readonly PlanNode[] {
  const below = (node.Plans ?? []).flatMap(listScans);
  const isScan =
    node["Node Type"].includes("Scan") && node["Relation Name"]?.startsWith("execution") === true;
  return isScan ? [node, ...below] : below;
}

/** The plan for all values. The server leaves out partitions that an id is not in: only ids are given, of today. */
async function explain(database: Database, name: string, text: string): Promise<PlanNode | undefined> {
  return database.transaction(async (run) => {
    await run({ text: `prepare "${name}" as ${text}` });
    const [prepared] = await run<{ types: string }>({
      text: `select coalesce('(' || nullif(array_to_string(array(
          select case type when 'uuid' then '''${createUuidV7()}''' else 'null' end from unnest(parameter_types::text[]) type
        ), ','), '') || ')', '') as types from pg_prepared_statements where name = $1`,
      values: [name],
    });
    const [row] = await run<{ "QUERY PLAN": readonly { Plan: PlanNode }[] }>({
      text: `explain (format json) execute "${name}" ${prepared?.types ?? ""}`,
    });
    return row?.["QUERY PLAN"][0]?.Plan;
  });
}

function isShort({ "Index Name": index = "" }: PlanNode): boolean {
  return SHORT_INDEX.test(index);
}

/** Also of what one execution has in another table, whose primary key begins with the execution. */
function isLookup({ "Index Name": index = "", "Index Cond": condition = "" }: PlanNode): boolean {
  return index.endsWith("_pkey") && /^\(+(?:execution_)?id = /.test(condition);
}

test("statements that are planned while the tables are empty find an execution by its primary key alone", async () => {
  const statements = await recordStatements();
  expect(statements.size).toBeGreaterThan(16);
  const home = await createFreshDatabase();
  const database = createExecutionDatabase(home.target, { logger: home.logger });
  for (const [name, text] of statements) {
    if (/^execution-(create|list)$/.test(name) || !/\bexecution/.test(text)) continue;
    const plan = await explain(database, name, text);
    const scans = plan === undefined ? [] : listScans(plan);
    const first = scans.find((scan) => !isShort(scan) && !isLookup(scan));
    expect({ name, first, isEmpty: scans.length === 0 }).toEqual({ name, isEmpty: false });
  }
  await database.close();
  await home.close();
});
