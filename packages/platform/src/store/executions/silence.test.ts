import { randomBytes, randomUUID } from "node:crypto";
import type { ClaimRequest } from "@platform/engine/store/execution-store";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../postgres/database.ts";
import { VITAL } from "../../postgres/limits.ts";
import type { Limits } from "../../postgres/limits.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import type { TestDatabase } from "../../testing/test-database.ts";
import { openSilentProxy } from "../../testing/silent-proxy.ts";
import { createExecution } from "@platform/engine/testing/execution-fixtures";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { createUuidV7 } from "@platform/engine/base/uuid";
import {
  createExecutionDatabase,
  createLargeDatabase,
  createPostgresExecutionStore,
  createVitalDatabase,
} from "./execution-store.ts";

/** As in operation, only shorter. */
const SHORT: Limits = { connectMs: 2000, lockMs: 2000, statementMs: 2000, holdMs: 3000 };
const REQUEST: ClaimRequest = {
  workerId: "worker",
  sandboxLevel: "B" as const,
  limit: 1,
  free: { cpu: 1, memory: 1 },
  leaseSeconds: 60,
  excludedVersionIds: [],
};

let home: TestDatabase;

beforeAll(async () => {
  home = await createTestDatabase();
});

afterAll(async () => {
  await home.close();
});

/** Takes every connection of a pool until `free` is called. */
async function occupy(database: Database): Promise<{ readonly free: () => void }> {
  const clients = await Promise.all(Array.from({ length: 8 }, () => database.pool.connect()));
  return { free: () => clients.forEach((client) => client.release()) };
}

test("reads that take every connection keep nobody from claiming, renewing and ending an execution", async () => {
  const logger = home.logger;
  const database = createExecutionDatabase(home.target, { logger, retryMilliseconds: 0 });
  const vital = createVitalDatabase(home.target, { logger, retryMilliseconds: 0 });
  const store = createPostgresExecutionStore({ database, vital });
  const execution = createExecution();
  await store.create(execution);
  const { free } = await occupy(database);
  try {
    const [claim] = (await store.claim(REQUEST)).claims;
    if (claim === undefined) throw new Error("There was nothing to claim.");
    expect(await store.renew("worker", [claim], 60)).toEqual({ lost: [], cancelled: [], busy: [] });
    await store.appendLog(claim, [{ time: 0, severity: "INFO", message: "one" }]);
    expect(
      await store.finish(claim, { status: "SUCCEEDED", result: Buffer.from("{}"), metadata: null }),
    ).toBe(true);
    expect(await store.sweep()).toBe(0);
  } finally {
    free();
    await store.close();
    await vital.close();
    await database.close();
  }
});

test("an end that takes long keeps no other lease of its worker from being renewed", async () => {
  const database = createExecutionDatabase(home.target, { logger: home.logger, retryMilliseconds: 0 });
  const store = createPostgresExecutionStore({ database });
  for (const execution of [createExecution(), createExecution()]) await store.create(execution);
  const { claims } = await store.claim({ ...REQUEST, limit: 2, free: { cpu: 2, memory: 2 } });
  const [ending, running] = claims;
  if (ending === undefined || running === undefined) throw new Error("There was nothing to claim.");
  await home.database.transaction(async (run) => {
    await run({ text: "update execution set status = status where id = $1", values: [ending.id] });
    const answer = await store.renew("worker", claims, 60);
    expect(answer).toEqual({ lost: [], cancelled: [], busy: [ending.id] });
  });
  expect(await store.renew("worker", claims, 60)).toEqual({ lost: [], cancelled: [], busy: [] });
  for (const claim of claims) await store.finish(claim, { status: "FAILED", code: "NO", detail: "no" });
  expect((await store.renew("worker", claims, 60)).lost).toEqual(claims.map(({ id }) => id));
  await store.close();
  await database.close();
});

test("a large result is given the time that writing it takes, which is more than a lease's renewal may", async () => {
  const database = createExecutionDatabase(home.target, { logger: home.logger });
  const hasty = { logger: home.logger, limits: { ...VITAL, statementMs: 20 }, retryMilliseconds: 0 };
  const vital = createVitalDatabase(home.target, hasty);
  const large = createLargeDatabase(home.target, { logger: home.logger });
  const store = createPostgresExecutionStore({ database });
  const ending = createPostgresExecutionStore({ database, vital, large });
  const execution = createExecution();
  await store.create(execution);
  const [claim] = (await store.claim(REQUEST)).claims;
  if (claim === undefined) throw new Error("There was nothing to claim.");
  const result = randomBytes(16 * MEGABYTE);
  expect(await ending.finish(claim, { status: "SUCCEEDED", result, metadata: null })).toBe(true);
  expect((await store.readResult(execution.id, execution.owner.id))?.result.length).toBe(result.length);
  await store.close();
  await ending.close();
  for (const each of [large, vital, database]) await each.close();
});

test("when the database falls silent, starts and reads are refused within a bound, and go on when it is back", async () => {
  const proxy = await openSilentProxy(home.target);
  const database = createExecutionDatabase(proxy.target, {
    logger: home.logger,
    limits: SHORT,
    retryMilliseconds: 2000,
  });
  const store = createPostgresExecutionStore({ database });
  const stop = store.subscribe(() => undefined);
  try {
    await Promise.all(Array.from({ length: 8 }, () => store.create(createExecution())));
    proxy.fallSilent();
    // More than fit into the flushes that may be under way at a time, one after the other.
    const [starts, read] = await Promise.all([
      Promise.allSettled(
        Array.from({ length: 20 }, async (_, index) => {
          for (let turn = 0; turn < index; turn++) await new Promise(setImmediate);
          return store.create(createExecution());
        }),
      ),
      Promise.allSettled([store.find(createUuidV7(), randomUUID())]),
    ]);
    // A start that was on its way may have arrived.
    const code = expect.stringMatching(/^(UNAVAILABLE|INTERNAL_ERROR)$/);
    for (const outcome of starts) expect(outcome).toMatchObject({ status: "rejected", reason: { code } });
    expect(read).toMatchObject([{ status: "rejected", reason: { code: "UNAVAILABLE" } }]);
    proxy.recover();
    const execution = createExecution();
    await store.create(execution);
    expect(await store.find(execution.id, execution.owner.id)).toMatchObject({ status: "PENDING" });
  } finally {
    stop();
    proxy.fallSilent();
    await store.close();
    await database.close();
    await proxy.close();
  }
});

test("a statement that the server works on for too long is cancelled there and fails as UNAVAILABLE", async () => {
  const database = createExecutionDatabase(home.target, {
    logger: home.logger,
    limits: { ...SHORT, statementMs: 200, holdMs: 60_000 },
    retryMilliseconds: 0,
  });
  await expect(database.query({ text: "select pg_sleep(60)", idempotent: true })).rejects.toMatchObject({
    code: "UNAVAILABLE",
  });
  // The server reports the error before it notes that it is idle.
  const findActive = () =>
    home.database.query({
      text: "select 1 from pg_stat_activity where query = 'select pg_sleep(60)' and state = 'active'",
    });
  await expect.poll(findActive).toEqual([]);
  await database.close();
});

test("a statement on the pool itself does not wait for ever either", async () => {
  const proxy = await openSilentProxy(home.target);
  const database = createExecutionDatabase(proxy.target, { logger: home.logger, limits: SHORT });
  await database.pool.query("select 1");
  proxy.fallSilent();
  await expect(database.pool.query("select 1")).rejects.toThrow("Connection terminated");
  await database.close();
  await proxy.close();
});
