import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Database } from "../../postgres/database.ts";
import { createTestDatabase, withClockStep } from "../../testing/test-database.ts";
import type { TestDatabase } from "../../testing/test-database.ts";
import { createEvents } from "./events.ts";
import { createExecutionDatabase, createPostgresExecutionStore } from "./execution-store.ts";
import { createExecution } from "@platform/engine/testing/execution-fixtures";
import { createSweep } from "./sweep.ts";

/** What the clock of the database's host has been set ahead by. */
let step = "0 s";
let home: TestDatabase;
let database: Database;

beforeAll(async () => {
  home = await createTestDatabase();
  database = withClockStep(createExecutionDatabase(home.target, { logger: home.logger }), () => step);
});

afterEach(() => {
  step = "0 s";
});

afterAll(async () => {
  await database.close();
  await home.close();
});

async function claimOne(leaseSeconds: number) {
  const store = createPostgresExecutionStore({ database });
  const execution = createExecution();
  await store.create(execution);
  const free = { cpu: 100, memory: 100 };
  const request = {
    workerId: "worker",
    sandboxLevel: "B" as const,
    limit: 1,
    free,
    leaseSeconds,
    excludedVersionIds: [],
  };
  const [claim] = (await store.claim(request)).claims;
  if (claim === undefined) throw new Error("There was nothing to claim.");
  return { store, execution, claim };
}

test("when the clock of the database's host is set ahead, no execution whose worker lives is called lost", async () => {
  const { store, execution, claim } = await claimOne(30);
  expect(await store.sweep()).toBe(0);
  step = "1 hour";
  expect(await store.sweep()).toBe(0);
  expect(await store.renew("worker", [claim], 30)).toEqual({ lost: [], cancelled: [], busy: [] });
  expect(await store.sweep()).toBe(0);
  expect(await store.find(execution.id, execution.owner.id)).toMatchObject({ status: "RUNNING" });
  await store.close();
});

test("what a vanished worker held is settled all the same: in time, or one lease after the clock was set ahead", async () => {
  const before = await claimOne(30);
  const time = { now: 0 };
  const sweep = createSweep(database, createEvents(database), { leaseSeconds: 30, now: () => time.now });
  const swept = [await sweep()];
  step = "1 hour";
  time.now = 3_000;
  swept.push(await sweep());
  const after = await claimOne(0.001);
  for (time.now of [20_000, 32_000, 34_000, 36_000]) swept.push(await sweep());
  expect(swept).toEqual([0, 0, 0, 1, 0, 1]);
  for (const { store, execution } of [before, after]) {
    expect(await store.find(execution.id, execution.owner.id)).toMatchObject({ status: "UNKNOWN" });
    await store.close();
  }
});

test("a clock that was set back delays no sweep of what is over by it", async () => {
  const { store } = await claimOne(0.001);
  const time = { now: 0 };
  const sweep = createSweep(database, createEvents(database), { leaseSeconds: 30, now: () => time.now });
  step = "1 hour";
  expect(await sweep()).toBe(1);
  step = "0 s";
  await sweep();
  await claimOne(0.001);
  time.now = 3_000;
  await expect.poll(sweep).toBe(1);
  await store.close();
});
