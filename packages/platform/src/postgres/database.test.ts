import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Problem } from "@platform/contract/problems";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { createDatabase } from "./database.ts";
import type { Database } from "./database.ts";
import { SCHEMA_FILE, renderSchema } from "../testing/dump-schema.ts";
import { migrate } from "./migrate.ts";
import { createRecordingLogger, createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
let migrations = "";

beforeAll(async () => {
  home = await createTestDatabase({ isEmpty: true });
});

afterAll(async () => {
  await home.close();
});

beforeEach(async () => {
  migrations = await mkdtemp(join(tmpdir(), "platform-migrations-"));
});

afterEach(async () => {
  await home.database.query({ text: "drop table if exists schema_migration, counted, t" });
  await rm(migrations, { recursive: true });
});

/** Ends all server processes of other sessions, as a restart of the server does. */
async function breakOthers(database: Database): Promise<void> {
  await database.query({
    text: "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  });
}

test("twenty processes that migrate at once apply each migration once", async () => {
  await writeFile(
    join(migrations, "0001_counted.sql"),
    "create table counted (n integer); select pg_sleep(0.05);",
  );
  await writeFile(join(migrations, "0002_more.sql"), "insert into counted values (1);");
  const pools = Array.from({ length: 20 }, () => home.connect({ maxConnections: 1 }));
  const applied = await Promise.all(pools.map((pool) => migrate(pool, migrations)));
  expect(applied.flat().sort()).toEqual(["0001_counted.sql", "0002_more.sql"]);
  expect(await home.database.query({ text: "select n from counted" })).toEqual([{ n: 1 }]);
  await Promise.all(pools.map((pool) => pool.close()));
});

test("a migration that fails leaves nothing of itself and is tried again", async () => {
  await writeFile(join(migrations, "0001_bad.sql"), "create table counted (n integer); select 1 / 0;");
  await expect(migrate(home.database, migrations)).rejects.toThrow(/division by zero/u);
  await writeFile(join(migrations, "0001_bad.sql"), "create table counted (n integer);");
  expect(await migrate(home.database, migrations)).toEqual(["0001_bad.sql"]);
});

test("a database that a newer program has migrated is refused", async () => {
  await writeFile(join(migrations, "0001_a.sql"), "create table counted (n integer);");
  await writeFile(join(migrations, "0002_b.sql"), "select 1;");
  await migrate(home.database, migrations);
  await rm(join(migrations, "0002_b.sql"));
  await expect(migrate(home.database, migrations)).rejects.toThrow(/older than the release that last used/u);
});

test("a gap in the numbers of the migrations is refused", async () => {
  await writeFile(join(migrations, "0002_b.sql"), "select 1;");
  await expect(migrate(home.database, migrations)).rejects.toThrow(/not numbered/u);
});

test("schema.sql is what the migrations add up to", async () => {
  const migrated = await createTestDatabase();
  try {
    expect(await renderSchema(migrated.database)).toBe(await readFile(SCHEMA_FILE, "utf8"));
  } finally {
    await migrated.close();
  }
});

const findSleeping = () =>
  home.database.query({
    text: `select 1 from pg_stat_activity where datname = current_database() and query like '%pg_sleep%'
      and pid <> pg_backend_pid() and state = 'active'`,
  });
const untilSleeping = () => waitUntil(async () => (await findSleeping()).length > 0);

test("a repeatable statement survives the loss of its connection", async () => {
  const other = home.connect({ maxConnections: 1 });
  const running = other.query<{ answer: number }>({
    text: "select 42 as answer, pg_sleep(4)",
    idempotent: true,
  });
  await untilSleeping();
  await breakOthers(home.database);
  expect((await running)[0]?.answer).toBe(42);
});

test("a statement that may not be repeated says that its fate is not known", async () => {
  const other = home.connect({ maxConnections: 1 });
  const running = other.query({ text: "select pg_sleep(8)" });
  await untilSleeping();
  const [outcome] = await Promise.allSettled([running, breakOthers(home.database)]);
  expect(outcome).toMatchObject({
    reason: { code: "UNAVAILABLE", message: expect.stringContaining("unknown whether the change was made") },
  });
});

test("without a server a statement fails with UNAVAILABLE after the time for retries", async () => {
  const logger = createRecordingLogger();
  const target = { host: join(tmpdir(), "no-such-socket"), port: 5432, user: "nobody", database: "none" };
  const database = createDatabase(target, { logger, retryMilliseconds: 150 });
  const started = performance.now();
  await expect(database.query({ text: "select 1" })).rejects.toBeInstanceOf(Problem);
  expect(performance.now() - started).toBeGreaterThanOrEqual(150);
  await database.close();
});

test("a mistake in a statement is not retried", async () => {
  const started = performance.now();
  await expect(home.database.query({ text: "select nonsense", idempotent: true })).rejects.toThrow(
    /nonsense/u,
  );
  expect(performance.now() - started).toBeLessThan(5_000);
});

test("a listener hears notifications, and hears of a reset when its connection broke", async () => {
  const other = home.connect();
  const heard: string[] = [];
  let resets = 0;
  const stop = other.listen("some-channel", {
    onNotify: (payload) => heard.push(payload),
    onReset: () => void resets++,
  });
  await waitUntil(() => resets === 1);
  await home.database.query({ text: "select pg_notify('some-channel', 'one')" });
  await waitUntil(() => heard.length === 1);
  await breakOthers(home.database);
  // Once when it broke and once when it is whole again.
  await waitUntil(() => resets >= 3);
  await home.database.query({ text: "select pg_notify('some-channel', 'two')" });
  await waitUntil(() => heard.length === 2);
  expect(heard).toEqual(["one", "two"]);
  stop();
});

test("a transaction that throws changes nothing", async () => {
  await home.database.query({ text: "create table t (n integer)" });
  const failing = home.database.transaction(async (run) => {
    await run({ text: "insert into t values (1)" });
    throw new Error("changed my mind");
  });
  await expect(failing).rejects.toThrow("changed my mind");
  expect(await home.database.query({ text: "select n from t" })).toEqual([]);
});

test("a connection that breaks between two statements of a transaction fails that transaction, not the process", async () => {
  const other = home.connect({ maxConnections: 1, retryMilliseconds: 0 });
  const failing = other.transaction(async (run) => {
    const [session] = await run<{ pid: number }>({ text: "select pg_backend_pid() as pid" });
    await home.database.query({ text: "select pg_terminate_backend($1)", values: [session?.pid] });
    await untilGone(session?.pid ?? 0);
    await run({ text: "select 1" });
  });
  await expect(failing).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(await other.query({ text: "select 1 as one" })).toEqual([{ one: 1 }]);
});

async function untilGone(pid: number): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (performance.now() < deadline) {
    const rows = await home.database.query({
      text: "select 1 from pg_stat_activity where pid = $1",
      values: [pid],
    });
    if (rows.length === 0) return;
  }
  throw new Error("The session does not end.");
}
