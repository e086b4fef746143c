/*
 * Measures what the limits of a plan and idempotency keys add to a start, on an embedded PostgreSQL of its own: starts of subscriptions
 * without a limit, with a cap of executions, with a cap of CPU-seconds and a limit of executions at one time, with a key each,
 * and repetitions of one, in turns on empty tables, so that all meet the same. Prints one JSON object: starts per second of each turn,
 * and the medians of the turns' ratios to those without a limit.
 *
 *   node bench/quota.ts [--turns 8] [--seconds 2] [--subscriptions 32]
 */
import { readFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Owner } from "@platform/engine/store/owner";
import { createIdempotencyKey } from "@platform/engine/store/idempotency";
import type { IdempotencyKey } from "@platform/engine/store/idempotency";
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

interface Rates {
  readonly perSecond: number;
  readonly serverMicros: number;
}

const silent = () => undefined;
const logger = { debug: silent, info: silent, warn: silent, error: silent };

/** `limits`: columns of `quota` with values that are never reached. */
async function addOwners(
  database: Database,
  limits: Readonly<Record<string, number>>,
): Promise<readonly Owner[]> {
  const owners = Array.from({ length: Number(flags.subscriptions) }, () => createOwner());
  const columns = Object.keys(limits);
  if (columns.length === 0) return owners;
  await database.query({
    text: `insert into quota (subscription_id, month, used, ${columns.join(", ")})
      select id, date_trunc('month', now() at time zone 'UTC'), 0, ${Object.values(limits).join(", ")}
      from unnest($1::uuid[]) as i (id)`,
    values: [owners.map(({ id }) => id)],
  });
  return owners;
}

/** CPU time of the server's processes that serve connections, in milliseconds. */
async function readServerTime(database: Database): Promise<number> {
  const rows = await database.query<{ readonly pid: number }>({
    text: "select pid from pg_stat_activity where backend_type = 'client backend'",
  });
  const times = rows.map(({ pid }) => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    // utime and stime, in hundredths of a second.
    return (Number(fields[11]) + Number(fields[12])) * 10;
  });
  return times.reduce((sum, time) => sum + time, 0);
}

/** Of the start of this number; undefined: it has none. */
type ChooseKey = (started: number) => IdempotencyKey | undefined;

const BODY = Buffer.from("{}");
const chooseNone: ChooseKey = () => undefined;
const chooseNew: ChooseKey = (started) => createIdempotencyKey(String(started), "", BODY);
const chooseSame: ChooseKey = () => createIdempotencyKey("same", "", BODY);

/** Starts per second, and microseconds of the server's CPU time for each. */
async function measure(owners: readonly Owner[], choose: ChooseKey): Promise<Rates> {
  const serverBefore = await readServerTime(database);
  const began = performance.now();
  const until = began + Number(flags.seconds) * 1_000;
  let started = 0;
  const call = async (caller: number): Promise<void> => {
    const owner = owners[caller % owners.length] ?? createOwner();
    while (performance.now() < until) {
      started += 1;
      const key = choose(started);
      await store.create(createExecution({ owner, ...(key === undefined ? {} : { key }) }));
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(caller)));
  const perSecond = Math.round((started / (performance.now() - began)) * 1_000);
  const serverTime = (await readServerTime(database)) - serverBefore;
  return { perSecond, serverMicros: Math.round((serverTime * 1_000) / started) };
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
const kinds = [
  { name: "free", choose: chooseNone, owners: await addOwners(database, {}) },
  { name: "capped", choose: chooseNone, owners: await addOwners(database, { cap: 1e9 }) },
  {
    name: "settled",
    choose: chooseNone,
    owners: await addOwners(database, { cpu_cap: 1e15, concurrent: 1e9 }),
  },
  { name: "keyed", choose: chooseNew, owners: await addOwners(database, {}) },
  { name: "repeated", choose: chooseSame, owners: await addOwners(database, {}) },
].map((kind) => ({ ...kind, turns: new Array<Rates>() }));
const [free] = kinds;
if (free === undefined) throw new Error("There is nothing to compare with.");
await measure(free.owners, chooseNone);
for (let turn = 0; turn < Number(flags.turns); turn++) {
  for (const { owners, choose, turns } of turn % 2 === 0 ? kinds : kinds.toReversed()) {
    await database.query({ text: "truncate execution, execution_input, idempotency_key" });
    turns.push(await measure(owners, choose));
  }
}
const results = kinds.map(({ name, turns }) => {
  const compare = (figure: keyof Rates) =>
    Number(findMedian(turns.map((one, turn) => one[figure] / (free.turns[turn]?.[figure] ?? 0))).toFixed(3));
  return [name, { turns, perSecond: compare("perSecond"), serverMicros: compare("serverMicros") }];
});
process.stdout.write(`${JSON.stringify(Object.fromEntries(results))}\n`);
await store.close();
await database.close();
await server.stop();
await rm(directory, { recursive: true });
