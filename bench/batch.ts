/*
 * Measures a batch of 1,000 small items through a gateway, from the request to its answer, when all of them are durable: in turns with as many
 * single starts over HTTP, 32 at a time, and with one bare insert of as many rows of the same bodies in one transaction, on an embedded
 * PostgreSQL of its own. Prints one JSON object: milliseconds of each turn, and the medians of the turns' ratios.
 *
 *   node bench/batch.ts [--turns 7] [--items 1000]
 */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createUuidV7 } from "@platform/engine/base/uuid";
import { startEmbeddedPostgres } from "../packages/platform/src/postgres/supervisor.ts";
import {
  createExecutionDatabase,
  createPostgresExecutionStore,
} from "../packages/platform/src/store/executions/execution-store.ts";
import { prepareDatabase } from "../packages/platform/src/store/prepare.ts";
import {
  createTestClient,
  createTestService,
  createTestUser,
  fetchAccessToken,
} from "../packages/platform/src/testing/fixtures.ts";
import { createTestInstance } from "../packages/platform/src/testing/instance.ts";
import { createHttpClient, measure, round } from "./load.ts";

const { values: flags } = parseArgs({
  options: { turns: { type: "string", default: "7" }, items: { type: "string", default: "1000" } },
});
const ITEMS = Number(flags.items);
const CONCURRENT = 32;

const silent = () => undefined;
const logger = { debug: silent, info: silent, warn: silent, error: silent };
const directory = await mkdtemp(join(tmpdir(), "platform-bench-batch-"));
await chmod(directory, 0o755);
const server = await startEmbeddedPostgres({
  directory: join(directory, "postgres"),
  user: undefined,
  logger,
});
const database = createExecutionDatabase(server.connection, { logger });
await prepareDatabase(database, { logger, retentionDays: 30 });
await database.query({ text: "create table bare (id uuid primary key, body bytea)" });
const executionStore = createPostgresExecutionStore({ database });
const instance = await createTestInstance({ database, executionStore, startsPerSecond: 100_000 });
const owner = await createTestUser(instance);
const service = await createTestService(instance, owner);
const client = await createTestClient(instance, owner, service);
const origin = await instance.gateway.listen({ host: "127.0.0.1", port: 0 });
const base = `${origin}/${service.serviceKey}/${service.serviceName}/${service.version}`;
const http = createHttpClient({ authorization: `Bearer ${await fetchAccessToken(instance, client)}` });

const bodies = Array.from({ length: ITEMS }, (_, n) => JSON.stringify({ data: { n, name: `item ${n}` } }));
const batch = `{"items":[${bodies.join(",")}]}`;

async function time(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function startBatch(): Promise<void> {
  const { status, body } = await http.send("POST", `${base}/batch`, batch);
  const { refused } = JSON.parse(body) as { refused?: number };
  if (status !== 201 || refused !== 0)
    throw new Error(`The batch was answered ${status}: ${body.slice(0, 300)}`);
}

async function startOne(number: number): Promise<void> {
  const { status } = await http.send("POST", `${base}/`, bodies[number] ?? "{}");
  if (status !== 201) throw new Error(`A start was answered ${status}.`);
}

async function insertBare(): Promise<void> {
  await database.query({
    text: "insert into bare select * from unnest($1::uuid[], $2::bytea[])",
    values: [bodies.map(() => createUuidV7()), bodies.map((body) => Buffer.from(body))],
  });
}

/** Nothing waits in the next turn, so that all meet the same. */
async function empty(): Promise<void> {
  for (const table of ["execution", "execution_input", "execution_batch", "feed_new", "bare"])
    await database.query({ text: `truncate ${table}` });
}

const median = (values: readonly number[]) =>
  round(values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN);

const turns: { readonly batch: number; readonly single: number; readonly bare: number }[] = [];
try {
  // The first is not counted: Node.js compiles, and connections are made.
  for (let turn = -1; turn < Number(flags.turns); turn++) {
    const times = {
      batch: await time(startBatch),
      single: await time(() => measure(ITEMS, CONCURRENT, startOne)),
      bare: await time(insertBare),
    };
    if (turn >= 0) turns.push(times);
    await empty();
  }
  const report = {
    items: ITEMS,
    batchMs: median(turns.map((turn) => turn.batch)),
    toSingle: median(turns.map((turn) => turn.batch / turn.single)),
    toBare: median(turns.map((turn) => turn.batch / turn.bare)),
    turns: turns.map(({ batch: all, single, bare }) => [round(all), round(single), round(bare)]),
  };
  process.stdout.write(`${JSON.stringify(report)}\n`);
} finally {
  http.close();
  await instance.close();
  await executionStore.close();
  await database.close();
  await server.stop();
  await rm(directory, { recursive: true, force: true });
}
