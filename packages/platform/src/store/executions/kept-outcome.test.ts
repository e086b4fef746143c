import { randomUUID } from "node:crypto";
import { createDispatcher } from "@platform/engine/worker/dispatcher";
import { createFixture } from "@platform/engine/testing/python-fixture";
import { afterEach, expect, test } from "vitest";
import { createRecordingLogger, createTestDatabase } from "../../testing/test-database.ts";
import type { TestDatabase } from "../../testing/test-database.ts";
import { createExecutionDatabase, createPostgresExecutionStore } from "./execution-store.ts";
import { createOwner } from "@platform/engine/testing/execution-fixtures";
import { createUuidV7 } from "@platform/engine/base/uuid";

const WITHIN = { interval: 20 };
/** So short that the database is away for much longer than one statement is tried. */
const RETRY_MS = 100;

let home: TestDatabase | undefined;

afterEach(() => home?.close());

/** As after a failover to a standby, or a server that its operator set read-only since its disk was full. */
async function setWrites(database: TestDatabase, mode: "allowed" | "refused"): Promise<void> {
  const name = database.target.database ?? "";
  const setting =
    mode === "refused" ? "set default_transaction_read_only = on" : "reset default_transaction_read_only";
  await database.database.query({
    text: `set default_transaction_read_only = off; alter database ${name} ${setting}`,
  });
  await database.database.query({
    text: "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  });
}

test("a result arrives though the database took no writes for longer than a statement is tried", async () => {
  home = await createTestDatabase();
  const logger = createRecordingLogger();
  const database = createExecutionDatabase(home.target, { logger, retryMilliseconds: RETRY_MS });
  const postgres = createPostgresExecutionStore({ database });
  let refused = 0;
  const store: typeof postgres = {
    ...postgres,
    finish: async (claim, outcome) => {
      try {
        return await postgres.finish(claim, outcome);
      } catch (error) {
        refused++;
        throw error;
      }
    },
  };
  const fixture = await createFixture();
  const version = fixture.createVersion("def run(): return {'sum': 3}\n");
  const dispatcher = createDispatcher({
    store,
    versions: { prepare: async () => version },
    inputs: {
      pin: async (reference) => ({ ...reference, sha256: "0".repeat(64), bytes: 2 }),
      pinPools: async () => [],
      place: async () => "gone",
    },
    runtime: {
      ...fixture.runtime,
      run: (request) => {
        const run = fixture.runtime.run(request);
        // The writes are refused from the moment on that the outcome is known.
        const outcome = run.outcome.then(async (known) => {
          if (home !== undefined) await setWrites(home, "refused");
          return known;
        });
        return { ...run, outcome };
      },
    },
    workerId: randomUUID(),
    sandboxLevel: "B" as const,
    capacity: { cpu: 1, memory: 1 },
    leaseSeconds: 60,
    logger,
  });
  const execution = {
    id: createUuidV7(),
    owner: createOwner(),
    versionId: randomUUID(),
    resources: { cpu: 1, memory: 1 },
    timeoutSeconds: 60,
    body: Buffer.from("{}"),
    references: {},
  };
  await store.create(execution);
  dispatcher.start();
  await expect.poll(() => refused, WITHIN).toBeGreaterThan(3);
  expect((await store.find(execution.id, execution.owner.id))?.status).toBe("RUNNING");
  await setWrites(home, "allowed");
  await expect
    .poll(async () => (await store.find(execution.id, execution.owner.id))?.status, WITHIN)
    .toBe("SUCCEEDED");
  const result = await store.readResult(execution.id, execution.owner.id);
  expect(Buffer.from(result?.result ?? []).toString()).toBe('{"sum":3}');
  await dispatcher.drain(5);
  await fixture.close();
  await dispatcher.close();
  await postgres.close();
  await database.close();
});
