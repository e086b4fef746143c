/*
 * Measures what the cap of a plan adds to a start, on an embedded PostgreSQL of its own: starts of subscriptions with and
 * without a cap in turns on empty tables, so that both meet the same. Prints one JSON object: starts per second of each
 * turn, and the median of the turns' ratios.
 *
 *   node bench/quota.ts [--turns 8] [--seconds 2] [--subscriptions 32]
 */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { ExecutionStore } from "@platform/engine/store/execution-store";
import type { Owner } from "@platform/engine/store/owner";
import { createExecution, createOwner } from "../packages/engine/src/testing/execution-fixtures.ts";
import type { Database } from "../packages/platform/src/postgres/database.ts";
import { startEmbeddedPostgres } from "../packages/platform/src/postgres/supervisor.ts";
import {
  createExecutionDatabase,
  createPostgresExecutionStore,
} from "../packages/platform/src/store/executions/execution-store.ts";
import { prepareDatabase } from "../packages/platform/src/store/prepare.ts";

const { values: flags } = parseArgs({
  options: {
    turns: { type: "string", default: "8" },
    seconds: { type: "string", default: "2" },
    subscriptions: { type: "string", default: "32" },
  },
});
const CALLERS = 128;
const silent = () => undefined;
const logger = { debug: silent, info: silent, warn: silent, error: silent };

async function addOwners(database: Database, cap: number | null): Promise<readonly Owner[]> {
  const owners = Array.from({ length: Number(flags.subscriptions) }, () => createOwner());
  if (cap === null) return owners;
  await database.query({
    text: `insert into quota (subscription_id, cap, month, used)
      select id, $2, date_trunc('month', now() at time zone 'UTC'), 0 from unnest($1::uuid[]) as i (id)`,
    values: [owners.map(({ id }) => id), cap],
  });
  return owners;
}

/** Starts per second. */
async function measure(store: ExecutionStore, owners: readonly Owner[]): Promise<number> {
  const began = performance.now();
  const until = began + Number(flags.seconds) * 1_000;
  let started = 0;
  const call = async (caller: number): Promise<void> => {
    const owner = owners[caller % owners.length] ?? createOwner();
    while (performance.now() < until) {
      await store.create(createExecution({ owner }));
      started += 1;
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(caller)));
  return Math.round((started / (performance.now() - began)) * 1_000);
}

function findMedian(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

const directory = await mkdtemp(join(tmpdir(), "platform-bench-"));
await chmod(directory, 0o755);
const server = await startEmbeddedPostgres({
  directory: join(directory, "postgres"),
  user: undefined,
  logger,
});
const database = createExecutionDatabase(server.connection, { logger });
await prepareDatabase(database, { logger, retentionDays: 30 });
const store = createPostgresExecutionStore({ database });
const [free, capped] = [await addOwners(database, null), await addOwners(database, 1_000_000_000)];
await measure(store, free);
const rates: { readonly free: number[]; readonly capped: number[] } = { free: [], capped: [] };
for (let turn = 0; turn < Number(flags.turns); turn++) {
  const kinds = [["free", free] as const, ["capped", capped] as const];
  for (const [name, owners] of turn % 2 === 0 ? kinds : kinds.toReversed()) {
    await database.query({ text: "truncate execution, execution_input" });
    rates[name].push(await measure(store, owners));
  }
}
const ratio = findMedian(rates.capped.map((rate, turn) => rate / (rates.free[turn] ?? Number.NaN)));
process.stdout.write(`${JSON.stringify({ ...rates, ratio: Number(ratio.toFixed(3)) })}\n`);
await store.close();
await database.close();
await server.stop();
await rm(directory, { recursive: true });
