import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createUuidV7 } from "@platform/engine/base/uuid";
import type { ExecutionStore } from "@platform/engine/store/execution-store";
import { toJobOwner } from "@platform/engine/store/owner";
import type { Owner } from "@platform/engine/store/owner";
import { createLocalObjects } from "../objects/local-objects.ts";
import type { Database } from "../postgres/database.ts";
import {
  createExecutionDatabase,
  createPostgresExecutionStore,
} from "../store/executions/execution-store.ts";
import type { PostgresExecutionStore } from "../store/executions/execution-store.ts";
import { sumOutputs } from "../store/executions/output-bytes.ts";
import { createTestClient, createTestService, createTestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { limitResults } from "./result-quota.ts";

const QUOTA_BYTES = 20;

let home: TestDatabase;
let database: Database;
let store: PostgresExecutionStore;
let limited: ExecutionStore;
let here: TestInstance;
let folder: string;
const clock = { ms: 0, sums: 0 };

beforeAll(async () => {
  home = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), "result-quota-"));
  database = createExecutionDatabase(home.target, { logger: home.logger });
  store = createPostgresExecutionStore({ database });
  here = await createTestInstance({ database: home.database, executionStore: store });
  limited = limitResults(store, {
    sumBytes: async (organisationId) => {
      const bytes = await sumOutputs(home.database, organisationId);
      clock.sums += 1;
      return bytes;
    },
    quotaBytes: QUOTA_BYTES,
    now: () => clock.ms,
  });
});
afterAll(async () => {
  await here?.close();
  await store?.close();
  await database?.close();
  await home?.close();
  await rm(folder, { recursive: true, force: true });
});

async function prepare() {
  const user = await createTestUser(here);
  const { organisationId } = user;
  const service = await createTestService(here, user);
  const { subscriptionId: id } = await createTestClient(here, user, service);
  const application: Owner = { kind: "subscription", id, organisationId };
  const start = async (owner: Owner): Promise<string> => {
    const { versionId } = service;
    const body = Buffer.from("{}");
    const resources = { cpu: 1, memory: 1 };
    const execution = {
      id: createUuidV7(),
      owner,
      versionId,
      resources,
      timeoutSeconds: 60,
      body,
      references: {},
    };
    return (await limited.create(execution)).id;
  };
  return { organisationId, job: toJobOwner(organisationId), application, start };
}

/** Ends an execution with ten bytes that are kept beside its row. */
async function end(id: string): Promise<void> {
  const { claims } = await store.claim({
    workerId: "worker",
    sandboxLevel: "B",
    limit: 100,
    free: { cpu: 100, memory: 100 },
    leaseSeconds: 60,
    excludedVersionIds: [],
  });
  const claim = claims.find((one) => one.id === id);
  if (claim === undefined) throw new Error("The execution was not claimed.");
  const received = await createLocalObjects(folder).receive(Readable.from(['{"a":1234}']), 100);
  const output = { result: received, files: [] };
  await store.finish(claim, { status: "SUCCEEDED", result: Buffer.alloc(0), metadata: null, output });
  await received.drop();
}

/** Whether a start goes ahead once what was asked in the background is known. */
async function startAfterSum(start: () => Promise<string>): Promise<string> {
  clock.ms += 31_000;
  const { sums } = clock;
  const first = await start().catch((error: unknown) => error);
  await expect.poll(() => clock.sums).toBeGreaterThan(sums);
  expect(first === undefined).toBe(false);
  return await start();
}

test("starts are refused while what executions of the organisation have returned takes all that it may", async () => {
  const { organisationId, job, application, start } = await prepare();
  await end(await start(job));
  expect(await sumOutputs(home.database, organisationId)).toBe(10);
  // What an application of the organisation gets back counts alike.
  await end(await startAfterSum(() => start(application)));
  expect(await sumOutputs(home.database, organisationId)).toBe(20);
  for (const owner of [job, application])
    await expect(startAfterSum(() => start(owner))).rejects.toMatchObject({
      code: "QUOTA_EXCEEDED",
      headers: { "retry-after": "300" },
    });
  const others = await prepare();
  await startAfterSum(() => others.start(others.job));
  const gone = "delete from execution_output where organisation_id = $1";
  await home.database.query({ text: gone, values: [organisationId] });
  expect(await startAfterSum(() => start(job))).toBeTypeOf("string");
});

test("starts wait for no sum, and one is asked for in half a minute", async () => {
  const { job, start } = await prepare();
  clock.ms += 31_000;
  const { sums } = clock;
  for (let count = 0; count < 20; count += 1) await start(job);
  await expect.poll(() => clock.sums).toBe(sums + 1);
});
