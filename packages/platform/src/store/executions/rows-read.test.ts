import type { Claim } from "@platform/engine/store/execution-store";
import {
  LONG_LEASE,
  PLENTY,
  createExecution,
  finishAll,
  request,
} from "@platform/engine/testing/execution-fixtures";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { expect, test } from "vitest";
import type { TestStore } from "../../testing/test-store.ts";
import { createTestStore } from "../../testing/test-store.ts";
import { createExecutionDatabase, createPostgresExecutionStore } from "./execution-store.ts";
import type { PostgresExecutionStore } from "./execution-store.ts";

const FINISHED = 5000;

/** What the planner knows, which PostgreSQL counts by itself at a moment that nobody chooses. */
test.each(["as they come", "as they were while all waited", "as they were while all ran"])(
  "no statement reads more than what it names, however many executions have finished: statistics %s",
  async (statistics) => {
    // Of its own: sessions say what they have read up to ten seconds later, or when they end.
    const own = await createTestStore();
    await Promise.all(Array.from({ length: FINISHED }, () => own.store.create(createExecution())));
    if (statistics === "as they were while all waited") await analyze(own);
    const claims = await claimAll(own.store);
    expect(claims).toHaveLength(FINISHED);
    if (statistics === "as they were while all ran") await analyze(own);
    await finishAll(own.store, claims);
    await own.store.close();
    await own.database.close();
    const before = await readCounters(own);
    const fresh = createExecutionDatabase(own.home.target, { logger: own.home.logger });
    const store = createPostgresExecutionStore({ database: fresh });
    await callEach(store);
    await store.close();
    await fresh.close();
    const after = await readCounters(own);
    await own.home.close();
    expect(after.fetched).toBeGreaterThan(before.fetched);
    expect(after.scanned - before.scanned).toBe(0);
    expect(after.fetched - before.fetched).toBeLessThan(FINISHED / 10);
  },
);

async function analyze({ home }: TestStore): Promise<void> {
  await home.database.query({ text: "analyze" });
}

async function claimAll(store: PostgresExecutionStore): Promise<readonly Claim[]> {
  const all: Claim[] = [];
  await waitUntil(async () => {
    const { claims } = await store.claim(request());
    all.push(...claims);
    return claims.length === 0;
  });
  return all;
}

async function callEach(store: PostgresExecutionStore): Promise<void> {
  const execution = createExecution();
  await store.create(execution);
  const [claim] = (await store.claim(request())).claims;
  if (claim === undefined) throw new Error("There was nothing to claim.");
  await store.renew("worker", [claim], LONG_LEASE);
  await store.appendLog(claim, [{ time: 0, severity: "INFO", message: "one" }]);
  await finishAll(store, [claim]);
  store.onCreate?.((claimNew) => void claimNew(request()));
  await store.create(createExecution());
  const { id, owner } = execution;
  await store.find(id, owner.id);
  await store.readResult(id, owner.id);
  await store.readLog(id, owner.id);
  await store.list(owner.id, { limit: 10 });
  await store.sweep();
  await store.countPending();
  await store.expire();
  await store.releaseDue();
  await store.measureQueue();
  await store.report({
    workerId: "worker",
    capacity: PLENTY,
    free: { cpu: 0, memory: 0 },
    excludedVersionIds: [],
    reservedId: null,
    reservesAfterSeconds: 0,
  });
  // It looks at what runs only where there is a worker.
  await store.foresee(execution);
}

/** Rows that were read, when all sessions but the asking one have ended and said so. */
async function readCounters({ home: { database: asked } }: TestStore) {
  await waitUntil(async () => {
    const others = await asked.query({
      text: "select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'",
    });
    return others.length === 0;
  });
  const [row] = await asked.query<{ scanned: number; fetched: number }>({
    text: `select sum(seq_tup_read)::float8 as scanned, sum(idx_tup_fetch)::float8 as fetched
      from pg_stat_user_tables where relname like 'execution%'`,
  });
  return row ?? { scanned: 0, fetched: 0 };
}
