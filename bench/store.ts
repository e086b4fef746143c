/*
 * Measures the execution store on an embedded PostgreSQL of its own; user code and HTTP have no part in it.
 * Prints one JSON object: times in milliseconds, rates per second.
 *
 *   node bench/store.ts [--rows 1000000] [--seconds 4]
 *
 * `rows`: finished executions that are added for the second round (0: no second round), as many of them as two minutes allow.
 */
import { randomUUID } from "node:crypto";
import { chmod, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Claim, ExecutionStore } from "@platform/engine/store/execution-store";
import { DAY } from "@platform/engine/base/time";
import { createUuidV7, getLowestUuid } from "@platform/engine/base/uuid";
import type { Database } from "../packages/platform/src/postgres/database.ts";
import { startEmbeddedPostgres } from "../packages/platform/src/postgres/supervisor.ts";
import {
  createExecutionDatabase,
  createPostgresExecutionStore,
} from "../packages/platform/src/store/executions/execution-store.ts";
import { prepareDatabase } from "../packages/platform/src/store/prepare.ts";
import { createOwner } from "../packages/engine/src/testing/execution-fixtures.ts";

const WORKER = "bench";
const LEASE_SECONDS = 60;
const PLENTY = { cpu: 1_000_000, memory: 1_000_000 };
const CLAIM = {
  workerId: WORKER,
  sandboxLevel: "B" as const,
  free: PLENTY,
  leaseSeconds: LEASE_SECONDS,
  excludedVersionIds: [],
};
const BODY = Buffer.from(JSON.stringify({ data: { text: "x".repeat(1000) } }));
const RESULT = Buffer.from(JSON.stringify({ text: "y".repeat(1000) }));
const SAMPLES = 400;
const CALLERS = 256;
const CLAIM_LIMIT = 128;
const MAX_ADDING_MS = 120_000;

interface Latency {
  readonly p50: number;
  readonly p99: number;
}

function createExecution() {
  return {
    id: createUuidV7(),
    owner: createOwner(),
    versionId: randomUUID(),
    resources: { cpu: 1, memory: 1 },
    timeoutSeconds: 60,
    body: BODY,
    references: {},
  };
}

function summarize(samples: readonly number[]): Latency {
  const sorted = [...samples].sort((a, b) => a - b);
  const pick = (share: number) => Number((sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(3));
  return { p50: pick(0.5), p99: pick(0.99) };
}

async function time(samples: number[], work: () => Promise<unknown>): Promise<void> {
  const started = performance.now();
  await work();
  samples.push(performance.now() - started);
}

/** One caller, one execution at a time: what a lone request waits for. */
async function measureLatencies(store: ExecutionStore) {
  const create: number[] = [];
  const claim: number[] = [];
  const finish: number[] = [];
  const find: number[] = [];
  const readResult: number[] = [];
  for (let index = 0; index < SAMPLES; index++) {
    const execution = createExecution();
    await time(create, () => store.create(execution));
    let claims: readonly Claim[] = [];
    await time(claim, async () => {
      claims = (await store.claim({ ...CLAIM, limit: 32 })).claims;
    });
    for (const claim of claims) {
      await time(finish, () => store.finish(claim, { status: "SUCCEEDED", result: RESULT, metadata: null }));
    }
    await time(find, () => store.find(execution.id, execution.owner.id));
    await time(readResult, () => store.readResult(execution.id, execution.owner.id));
  }
  return {
    create: summarize(create),
    claim: summarize(claim),
    finish: summarize(finish),
    find: summarize(find),
    readResult: summarize(readResult),
  };
}

/** Many callers create while one dispatcher claims and all ends are written: executions through the store per second. */
async function measureCycle(store: ExecutionStore, seconds: number, postmaster: number) {
  const until = performance.now() + seconds * 1000;
  const creates: number[] = [];
  const finishes: Promise<unknown>[] = [];
  let finished = 0;
  const call = async () => {
    while (performance.now() < until) {
      await time(creates, () => store.create(createExecution()));
    }
  };
  const finish = async (claim: Claim) => {
    await store.finish(claim, { status: "SUCCEEDED", result: RESULT, metadata: null });
    finished++;
  };
  const creating = { isOver: false };
  const dispatch = async () => {
    for (;;) {
      const wasOver = creating.isOver;
      const claims = (await store.claim({ ...CLAIM, limit: CLAIM_LIMIT })).claims;
      // Running executions are bounded as in a worker: claims wait for capacity.
      const group = Promise.all(claims.map(finish));
      finishes.push(group);
      if (finishes.length > 3) await finishes.shift();
      if (claims.length === 0 && wasOver) break;
    }
    await Promise.all(finishes);
  };
  const started = performance.now();
  const clientBefore = process.cpuUsage();
  const serverBefore = await readServerCpu(postmaster);
  const dispatching = dispatch();
  await Promise.all(Array.from({ length: CALLERS }, call));
  creating.isOver = true;
  await dispatching;
  const elapsed = (performance.now() - started) / 1000;
  const client = process.cpuUsage(clientBefore);
  const server = (await readServerCpu(postmaster)) - serverBefore;
  return {
    executionsPerSecond: Math.round(finished / elapsed),
    executions: finished,
    create: summarize(creates),
    cpuMicrosecondsPerExecution: {
      client: Math.round((client.user + client.system) / finished),
      server: Math.round(server / finished),
    },
  };
}

const BACKLOG = 10_000;
const BACKLOG_OWNERS = 100;

/** Creates and claims where much waits: what fair turns cost. Per second, and the server's processor time for each. */
async function measureBacklog(store: ExecutionStore, postmaster: number) {
  const owners = Array.from({ length: BACKLOG_OWNERS }, () => createOwner());
  const before = await readServerCpu(postmaster);
  const started = performance.now();
  await Promise.all(
    Array.from({ length: BACKLOG }, (_, index) =>
      store.create({ ...createExecution(), owner: owners[index % BACKLOG_OWNERS] ?? createOwner() }),
    ),
  );
  const created = performance.now();
  const between = await readServerCpu(postmaster);
  const claims: Claim[] = [];
  while (claims.length < BACKLOG) claims.push(...(await store.claim({ ...CLAIM, limit: 32 })).claims);
  const claimed = performance.now();
  const after = await readServerCpu(postmaster);
  await Promise.all(
    claims.map((claim) => store.finish(claim, { status: "SUCCEEDED", result: RESULT, metadata: null })),
  );
  return {
    createsPerSecond: Math.round((BACKLOG / (created - started)) * 1000),
    claimsPerSecond: Math.round((BACKLOG / (claimed - created)) * 1000),
    serverCpuMicroseconds: {
      create: Math.round((between - before) / BACKLOG),
      claim: Math.round((after - between) / BACKLOG),
    },
  };
}

const MICROSECONDS_PER_TICK = 10_000;

/** CPU time that the server's processes have used, in microseconds; 0 where there is no /proc. */
async function readServerCpu(postmaster: number): Promise<number> {
  let ticks = 0;
  for (const pid of await readdir("/proc").catch(() => [])) {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const isServer = pid === String(postmaster) || fields[1] === String(postmaster);
    if (isServer) ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks * MICROSECONDS_PER_TICK;
}

/** Adds finished executions of today, as a busy day leaves them; returns how many. */
async function addFinished(database: Database, rows: number): Promise<number> {
  const chunk = 50_000;
  const today = Math.floor(Date.now() / DAY) * DAY;
  const prefix = getLowestUuid(today).slice(0, 11);
  const began = performance.now();
  let done = 0;
  for (; done < rows && performance.now() - began < MAX_ADDING_MS; done += chunk) {
    const count = Math.min(chunk, rows - done);
    await database.query({
      text: `with made as (
          insert into execution (id, owner_kind, owner_id, organisation_id, version_id, status, cpu_milli, memory_milli, timeout_seconds, attempt, worker_id,
            started_at, ended_at)
          select ($2 || right(lpad(to_hex(n), 6, '0'), 2) || '-' || '7' || substr(md5(n::text), 1, 3) || '-8'
              || substr(md5(n::text), 4, 3) || '-' || substr(md5(n::text), 7, 12))::uuid,
            'subscription', gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'SUCCEEDED', 1000, 1000, 60, 1, 'bench', now(), now()
          from generate_series($1::int + 1, $1::int + $3::int) n returning id
        ), inputs as (insert into execution_input (id, body) select id, convert_to(repeat('x', 200), 'UTF8') from made)
        insert into execution_result (id, result) select id, convert_to(repeat('y', 200), 'UTF8') from made`,
      values: [done, prefix, count],
    });
  }
  for (const table of ["execution", "execution_input", "execution_result"]) {
    await database.query({ text: `vacuum analyze ${table}` });
  }
  return Math.min(done, rows);
}

async function measureRound(store: ExecutionStore, seconds: number, postmaster: number) {
  await measureLatencies(store);
  const latencies = await measureLatencies(store);
  const cycle = await measureCycle(store, seconds, postmaster);
  const backlog = await measureBacklog(store, postmaster);
  return { latencies, cycle, backlog };
}

const { values } = parseArgs({ options: { rows: { type: "string" }, seconds: { type: "string" } } });
const rows = Number(values.rows ?? 1_000_000);
const seconds = Number(values.seconds ?? 4);
const ignore = () => undefined;
const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

const directory = await mkdtemp(join(tmpdir(), "platform-bench-"));
await chmod(directory, 0o755);
const server = await startEmbeddedPostgres({ directory: join(directory, "postgres"), logger });
const database = createExecutionDatabase(server.connection, { logger });
const store = createPostgresExecutionStore({ database });
const postmaster = Number(
  (await readFile(join(directory, "postgres", "data", "postmaster.pid"), "utf8")).split("\n")[0],
);
try {
  await prepareDatabase(database, { logger, retentionDays: 30 });
  await measureCycle(store, 1, postmaster);
  const empty = await measureRound(store, seconds, postmaster);
  const added = await addFinished(database, rows);
  const full = rows > 0 ? await measureRound(store, seconds, postmaster) : null;
  const report = {
    bench: "store",
    date: new Date().toISOString(),
    machine: { cpus: cpus().length, model: cpus()[0]?.model ?? "", node: process.version },
    empty,
    rows: added,
    full,
  };
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
} finally {
  await store.close();
  await database.close();
  await server.stop();
  await rm(directory, { recursive: true, force: true });
}
