import { DAY } from "@platform/engine/base/time";
import type { Claim, NewExecution } from "@platform/engine/store/execution-store";
import { createExecution, createUuidAt, request } from "@platform/engine/testing/execution-fixtures";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase } from "../../testing/test-database.ts";
import type { TestDatabase } from "../../testing/test-database.ts";
import { createExecutionDatabase, createPostgresExecutionStore } from "./execution-store.ts";
import type { PostgresExecutionStore } from "./execution-store.ts";
import { ensurePartitions, maintainPartitions } from "./partitions.ts";

const DAYS_AGO = 40;
const BUSY = { status: "FAILED", code: "BUSY", detail: "Busy." } as const;

let home: TestDatabase;
let store: PostgresExecutionStore;

beforeAll(async () => {
  home = await createTestDatabase();
  store = createPostgresExecutionStore({ database: createExecutionDatabase(home.target, home) });
  const now = Date.now() - DAYS_AGO * DAY;
  await ensurePartitions(home.database, { logger: home.logger, retentionDays: 30, now });
});
afterAll(async () => {
  await store?.close();
  await home?.close();
});

async function claim({ id }: NewExecution): Promise<Claim> {
  const [claimed] = (await store.claim(request({ onlyId: id }))).claims;
  if (claimed === undefined) throw new Error("There was nothing to claim.");
  return claimed;
}

/** Has ended long ago, by its second claim; what the first one has reported came before `again`. */
async function runOld(again: (first: Claim) => Promise<unknown>): Promise<NewExecution> {
  const execution = createExecution({
    id: createUuidAt(Date.now() - DAYS_AGO * DAY),
    kept: { result: 50, log: null },
    retries: { onError: { max: 1, backoffSeconds: 0 } },
  });
  await store.create(execution);
  const first = await claim(execution);
  const progress = { fraction: 0.5, message: "half" };
  await store.noteProgress(first, { progress, checkpoint: Buffer.from('{"kept":1}') });
  await again(first);
  await store.finish(await claim(execution), BUSY);
  await home.database.query({
    text: "update execution set created_at = created_at - $2::interval, ended_at = ended_at - $2::interval where id = $1",
    values: [execution.id, `${DAYS_AGO} days`],
  });
  return execution;
}

const readReported = async ({ id, owner }: NewExecution) => ({
  checkpoint: (await store.readCheckpoint(id, owner.id))?.toString(),
  progress: (await store.find(id, owner.id))?.progress,
});

test("of a claim that never began nothing is kept, and of an attempt that was followed by another its checkpoint", async () => {
  const [never, failed] = [
    await runOld(async (first) => await store.giveBack(first, 0)),
    await runOld(async (first) => await store.retry(first, BUSY, 0)),
  ];
  const checkAll = async () => {
    expect(await readReported(never)).toEqual({ checkpoint: undefined, progress: undefined });
    expect(await readReported(failed)).toMatchObject({
      checkpoint: '{"kept":1}',
      progress: { fraction: null, message: null, checkpointAt: expect.any(Number) },
    });
  };
  await checkAll();
  await maintainPartitions(home.database, { logger: home.logger, retentionDays: 30, logRetentionDays: 7 });
  expect(await home.database.query({ text: "select id from execution" })).toEqual([]);
  await checkAll();
});
