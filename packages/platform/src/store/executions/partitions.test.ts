import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestDatabase } from "../../testing/test-database.ts";
import type { TestDatabase } from "../../testing/test-database.ts";
import { createExecutionDatabase, createPostgresExecutionStore } from "./execution-store.ts";
import type { PostgresExecutionStore } from "./execution-store.ts";
import type { Database } from "../../postgres/database.ts";
import { ensurePartitions, maintainPartitions } from "./partitions.ts";
import { createOwner, createUuidAt } from "@platform/engine/testing/execution-fixtures";
import { DAY } from "@platform/engine/base/time";

let home: TestDatabase;
let database: Database;
let store: PostgresExecutionStore;

beforeEach(async () => {
  home = await createTestDatabase();
  database = createExecutionDatabase(home.target, { logger: home.logger });
  store = createPostgresExecutionStore({ database });
});

afterEach(async () => {
  await store.close();
  await database.close();
  await home.close();
});

function createOldExecution(daysAgo: number) {
  const id = createUuidAt(Date.now() - daysAgo * DAY);
  return {
    id,
    owner: createOwner(),
    versionId: randomUUID(),
    resources: { cpu: 1, memory: 1 },
    timeoutSeconds: 60,
    body: Buffer.from("{}"),
    references: {},
  };
}

async function finishEverything(): Promise<void> {
  const claims = (
    await store.claim({
      workerId: "worker",
      sandboxLevel: "B" as const,
      limit: 100,
      free: { cpu: 1000, memory: 1000 },
      leaseSeconds: 60,
      excludedVersionIds: [],
    })
  ).claims;
  for (const claim of claims) {
    await store.finish(claim, { status: "SUCCEEDED", result: Buffer.from("{}"), metadata: null });
  }
}

async function findTable(id: string): Promise<string | undefined> {
  const [row] = await database.query<{ name: string }>({
    text: "select tableoid::regclass::text as name from execution where id = $1",
    values: [id],
  });
  return row?.name;
}

function formatDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10).replaceAll("-", "");
}

/** Makes the days around this one, the next seven included. */
async function ensureDay(daysAgo: number): Promise<void> {
  await ensurePartitions(home.database, {
    logger: home.logger,
    retentionDays: 30,
    now: Date.now() - daysAgo * DAY,
  });
}

/** As if they had ended so long ago. */
async function backdateEnds(daysAgo: number): Promise<void> {
  await database.query({
    text: "update execution set ended_at = now() - make_interval(days => $1) where ended_at is not null",
    values: [daysAgo],
  });
}

async function keepDays(now: number) {
  return maintainPartitions(home.database, { logger: home.logger, retentionDays: 30, now });
}

test("days from yesterday to a week ahead exist, and an execution lies in its day", async () => {
  const now = Date.now();
  // The template was made when the tests began, which may have been yesterday.
  await keepDays(now);
  const execution = createOldExecution(0);
  await store.create(execution);
  expect(await findTable(execution.id)).toBe(`execution_p${formatDay(now)}`);
  expect(await keepDays(now + DAY)).toEqual({
    created: [formatDay(now + 8 * DAY)],
    dropped: [],
    expired: 0,
    strays: 0,
  });
});

test("an execution of a day that was missing is kept, told of, and moved to its day", async () => {
  const execution = createOldExecution(3);
  await store.create(execution);
  expect(await findTable(execution.id)).toBe("execution_default");
  const late = await maintainPartitions(home.database, { logger: home.logger, retentionDays: 30 });
  expect(late?.strays).toBe(1);
  expect(
    home.logger.entries.some(
      ({ level, message }) => level === "error" && message.includes("default partition"),
    ),
  ).toBe(true);
  const repaired = await maintainPartitions(home.database, {
    logger: home.logger,
    retentionDays: 30,
    now: Date.now() - 3 * DAY,
  });
  expect(repaired?.strays).toBe(0);
  expect(await findTable(execution.id)).toBe(`execution_p${formatDay(Date.now() - 3 * DAY)}`);
  expect(await store.find(execution.id, execution.owner.id)).toMatchObject({ status: "PENDING" });
});

test("a day past retention goes with inputs, results and logs; younger ones stay", async () => {
  await ensureDay(40);
  const [old, young] = [createOldExecution(40), createOldExecution(0)];
  await store.create(old);
  await finishEverything();
  await backdateEnds(39);
  await store.create(young);
  await finishEverything();
  expect(await store.readResult(old.id, old.owner.id)).not.toBeNull();
  const report = await keepDays(Date.now());
  expect(report?.dropped).toContain(formatDay(Date.now() - 40 * DAY));
  expect(await store.find(old.id, old.owner.id)).toBeNull();
  expect(await store.readResult(old.id, old.owner.id)).toBeNull();
  expect(await store.readResult(young.id, young.owner.id)).not.toBeNull();
  const left = await database.query({
    text: "select 1 from pg_class where relname ~ $1",
    values: [`_p${formatDay(Date.now() - 40 * DAY)}$`],
  });
  expect(left).toEqual([]);
});

test("a day past retention stays while an execution of it is unfinished; what has ended then leaves it, and the day goes", async () => {
  await ensureDay(40);
  const day = formatDay(Date.now() - 40 * DAY);
  const waiting = createOldExecution(40);
  await store.create(waiting);
  expect((await keepDays(Date.now()))?.dropped).not.toContain(day);
  expect(await store.find(waiting.id, waiting.owner.id)).toMatchObject({ status: "PENDING" });
  await finishEverything();
  await backdateEnds(29);
  expect((await keepDays(Date.now()))?.dropped).toEqual([day]);
  expect(await store.readResult(waiting.id, waiting.owner.id)).not.toBeNull();
  expect((await keepDays(Date.now() + 2 * DAY))?.expired).toBe(1);
  expect(await store.readResult(waiting.id, waiting.owner.id)).toBeNull();
});

test("what names the content of a result goes with its day, and with a stray, and not before", async () => {
  await ensureDay(40);
  const [old, stray, young] = [createOldExecution(40), createOldExecution(90), createOldExecution(1)];
  for (const execution of [old, stray, young]) {
    await store.create(execution);
    await database.query({
      text: "insert into execution_output (execution_id, name, hash, bytes) values ($1, '', $2, 1)",
      values: [execution.id, "0".repeat(64)],
    });
  }
  await finishEverything();
  const list = () => database.query({ text: "select execution_id as id from execution_output order by id" });
  await backdateEnds(29);
  await keepDays(Date.now());
  expect(await list()).toHaveLength(3);
  await database.query({
    text: "update execution set ended_at = ended_at - interval '5 days' where id <> $1",
    values: [young.id],
  });
  // What had left its day before.
  await database.query({ text: "update kept_execution set expires_at = expires_at - interval '5 days'" });
  await keepDays(Date.now());
  expect(await list()).toEqual([{ id: young.id }]);
});

test("what stands in the default partition expires as well", async () => {
  const [old, young] = [createOldExecution(90), createOldExecution(91)];
  await store.create(old);
  await finishEverything();
  await backdateEnds(31);
  await store.create(young);
  await finishEverything();
  expect(await findTable(old.id)).toBe("execution_default");
  expect((await keepDays(Date.now()))?.strays).toBe(1);
  expect(await store.find(old.id, old.owner.id)).toBeNull();
  expect(await store.readResult(young.id, young.owner.id)).not.toBeNull();
  const [left] = await database.query({
    text: `select (select count(*)::int from execution_input_default) as inputs,
      (select count(*)::int from execution_result_default) as results`,
  });
  expect(left).toEqual({ inputs: 1, results: 1 });
});

test("a lock on an old day keeps neither the next days from being made nor other old ones from being dropped", async () => {
  await ensureDay(40);
  const impatient = home.connect({ retryMilliseconds: 0 });
  const reader = await home.database.pool.connect();
  try {
    await reader.query("begin");
    await reader.query(`select 1 from execution_p${formatDay(Date.now() - 41 * DAY)}`);
    const report = await maintainPartitions(impatient, {
      logger: home.logger,
      retentionDays: 30,
      now: Date.now() + DAY,
    });
    expect(report?.created).toContain(formatDay(Date.now() + 8 * DAY));
    expect(report?.dropped).toContain(formatDay(Date.now() - 40 * DAY));
    expect(report?.dropped).not.toContain(formatDay(Date.now() - 41 * DAY));
  } finally {
    await reader.query("rollback");
    reader.release();
  }
  expect((await keepDays(Date.now()))?.dropped).toContain(formatDay(Date.now() - 41 * DAY));
});

test("processes that keep house at the same moment do not disturb each other", async () => {
  const now = Date.now() + 20 * DAY;
  const reports = await Promise.all(
    Array.from({ length: 6 }, () =>
      maintainPartitions(home.database, { logger: home.logger, retentionDays: 60, now }),
    ),
  );
  const created = reports.flatMap((report) => report?.created ?? []);
  expect(created).toHaveLength(9);
  expect(new Set(created).size).toBe(9);
  await Promise.all(
    Array.from({ length: 6 }, () =>
      ensurePartitions(home.database, { logger: home.logger, retentionDays: 60, now: now + 20 * DAY }),
    ),
  );
});
