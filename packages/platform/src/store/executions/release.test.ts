import { HOUR, SECOND } from "@platform/engine/base/time";
import type { NewExecution } from "@platform/engine/store/execution-store";
import type { DueRound } from "@platform/engine/store/held";
import { createExecution, createUuidAt, read, request } from "@platform/engine/testing/execution-fixtures";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Database } from "../../postgres/database.ts";
import { RELEASE_LOCK } from "../../postgres/locks.ts";
import { createTestDatabase, withClockStep } from "../../testing/test-database.ts";
import type { TestDatabase } from "../../testing/test-database.ts";
import { createEvents } from "./events.ts";
import { createExecutionDatabase, createPostgresExecutionStore } from "./execution-store.ts";
import type { PostgresExecutionStore } from "./execution-store.ts";
import { createRelease } from "./release.ts";

const LEASE_SECONDS = 30;

/** What the clock of the database's host has been set ahead by. */
let step: string;
let home: TestDatabase;
let database: Database;
let store: PostgresExecutionStore;

beforeEach(async () => {
  step = "0 s";
  home = await createTestDatabase();
  database = withClockStep(createExecutionDatabase(home.target, { logger: home.logger }), () => step);
  store = createPostgresExecutionStore({ database, leaseSeconds: LEASE_SECONDS });
});

afterEach(async () => {
  await store?.close();
  await database?.close();
  await home?.close();
});

async function hold(more: Partial<NewExecution> = {}): Promise<NewExecution> {
  const execution = createExecution({ startAt: Date.now() + HOUR, ...more });
  await store.create(execution);
  return execution;
}

test("a clock of the database's host that is set ahead releases nothing for the length of a lease, and then what is due by it", async () => {
  const execution = await hold();
  const time = { now: 0 };
  const release = createRelease(database, createEvents(database), {
    leaseSeconds: LEASE_SECONDS,
    now: () => time.now,
  });
  const released: number[] = [];
  const round = async () => released.push((await release()).released);
  await round();
  step = "2 hours";
  for (time.now of [3, 20, 32, 34, 36].map((seconds) => seconds * SECOND)) await round();
  expect(released).toEqual([0, 0, 0, 0, 0, 1]);
  expect((await store.claim(request())).claims.map(({ id }) => id)).toEqual([execution.id]);
});

test("while another process is at a round, one does nothing; what that one leaves when it is killed is released by the next", async () => {
  await hold();
  step = "2 hours";
  const meanwhile: DueRound[] = [];
  const killed = home.database.transaction(async (run) => {
    await run({ text: "select pg_advisory_xact_lock($1)", values: [RELEASE_LOCK] });
    meanwhile.push(await store.releaseDue());
    throw new Error("killed");
  });
  await expect(killed).rejects.toThrow("killed");
  expect(meanwhile.map(({ released }) => released)).toEqual([0]);
  expect(meanwhile[0]?.nextMs).toBeLessThanOrEqual(0);
  expect((await store.releaseDue()).released).toBe(1);
  expect(await store.releaseDue()).toEqual({ released: 0, nextMs: null, waitsForPlace: false });
});

test("many that are due at the same time are released by several statements, each once", async () => {
  const executions = await Promise.all(Array.from({ length: 300 }, () => hold()));
  step = "2 hours";
  const first = await store.releaseDue();
  expect(first.released).toBe(256);
  expect(first.nextMs).toBeLessThanOrEqual(0);
  expect((await store.releaseDue()).released).toBe(44);
  const { claims } = await store.claim(request());
  expect(claims).toHaveLength(executions.length);
});

test("an idle worker does not get what is to begin later as it is created", async () => {
  const answers: unknown[] = [];
  store.onCreate?.((claim) => void answers.push(claim(request())));
  const execution = await hold();
  expect(answers).toEqual([null]);
  expect((await read(store, execution)).status).toBe("PENDING");
});

test("rounds and claims read few rows, however many are held", async () => {
  await Promise.all(Array.from({ length: 500 }, () => hold()));
  await home.database.query({ text: "analyze execution" });
  expect(await readRows(() => store.claim(request()))).toBeLessThan(50);
  expect(await readRows(() => store.releaseDue())).toBeLessThan(50);
});

async function readRows(work: () => Promise<unknown>): Promise<number> {
  const before = await countRead();
  await work();
  return (await countRead()) - before;
}

/** Rows that the sessions of this database have read of `execution`, also those that go on. */
async function countRead(): Promise<number> {
  await database.query({ text: "select pg_stat_force_next_flush()" });
  const [row] = await database.query<{ count: number }>({
    text: `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as count from pg_stat_user_tables
      where relname ~ '^execution_(p[0-9]+|default)$'`,
  });
  return row?.count ?? 0;
}

test("what has waited for days when it is released gets no room before those that have waited for longer in the queue", async () => {
  const day = 24 * HOUR;
  const old = await hold({ id: createUuidAt(Date.now() - 3 * day), resources: { cpu: 4, memory: 4 } });
  await home.database.query({
    text: "update execution set created_at = now() - interval '3 days' where id = $1",
    values: [old.id],
  });
  step = "61 minutes";
  expect((await store.releaseDue()).released).toBe(1);
  const report = {
    workerId: "worker",
    capacity: { cpu: 4, memory: 4 },
    free: { cpu: 1, memory: 1 },
    excludedVersionIds: [],
    reservedId: null,
    reservesAfterSeconds: 10 * 60,
  };
  expect(await store.report(report)).toBe(null);
  step = "71 minutes";
  expect(await store.report(report)).toMatchObject({ id: old.id });
});
