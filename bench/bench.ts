/**
 * `npm run bench`: measures the platform as a whole on this machine, next to bare counterparts in the same run, and
 * saves the figures under bench/results/. Takes three to nine minutes; run it on an otherwise idle machine.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { cpus, release, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { execPath, stdout, version } from "node:process";
import { promisify } from "node:util";
import autocannon from "autocannon";
import { createWorld } from "../tests/support/world.ts";
import type { Consumer, World } from "../tests/support/world.ts";
import { REPOSITORY, startPlatform } from "../tools/platform-process.ts";
import { createHttpClient, measure, summarize } from "./load.ts";
import type { Figures, HttpClient } from "./load.ts";
import { readMemory, startHelper } from "./processes.ts";
import { median, report } from "./report.ts";
import type { Result, Target } from "./report.ts";
import type { RuntimeReport } from "./runtime.ts";

const WAIT = { prefer: "wait=30" };
const CONCURRENT = 32;
const POLL_SECONDS = 5;
const IDLE_MS = 5_000;
const NO_OP = "def run():\n    return {}\n";
const NO_OP_NUMPY = "import numpy\n\ndef run():\n    return {}\n";

const results: Result[] = [];
const details: Record<string, unknown> = {};

function record(name: string, value: number, target: Target): void {
  results.push(report(name, value, target));
}

async function main(): Promise<void> {
  const world = await createWorld();
  try {
    const { serviceKey } = await world.deploy(await world.createProject("no-op", NO_OP));
    const consumer = await world.subscribe(serviceKey);
    const client = createHttpClient({ authorization: `Bearer ${consumer.token}` });
    await measureWarm(world, consumer, client);
    await measureThroughput(world, consumer, client);
    await measurePolling(consumer, client);
    client.close();
    await measureStartUp(world, consumer);
    await measureStart(world, consumer);
  } finally {
    await world.close();
  }
  await measureRuntime();
  await measureStore();
  await measureFlood();
  await save();
}

/** A caller who waits, one at a time, against echo + insert + fork. */
async function measureWarm(world: World, consumer: Consumer, client: HttpClient): Promise<void> {
  const run = async () =>
    expectStatus(await client.send("POST", consumer.endpoint, "{}", WAIT), '"SUCCEEDED"');
  await measure(100, 1, run);
  const socketDirectory = await findSocketDirectory(world);
  const floor = await startHelper("floor-server.ts", socketDirectory);
  const echo = async () => void (await client.send("POST", floor.url, "{}"));
  await measure(100, 1, echo);
  const rounds: { readonly warm: Figures; readonly floor: Figures }[] = [];
  // In turn, so that both see the same machine.
  for (let round = 0; round < 5; round++)
    rounds.push({ warm: await measure(100, 1, run), floor: await measure(100, 1, echo) });
  await floor.close();
  const warm = median(rounds.map((item) => item.warm.p50));
  const bare = median(rounds.map((item) => item.floor.p50));
  details["warm"] = rounds;
  record("warm start -> result, waiting client, p50 ms", warm, { atMost: 6 });
  record("... as a multiple of echo + insert + fork", warm / bare, { atMost: 3.5 });
}

/** No-op executions with a fresh process each, against spawning an interpreter in the same sandbox for each. */
async function measureThroughput(world: World, consumer: Consumer, client: HttpClient): Promise<void> {
  const run = (endpoint: string, token: string) => async () =>
    expectStatus(
      await client.send("POST", endpoint, "{}", { ...WAIT, authorization: `Bearer ${token}` }),
      '"SUCCEEDED"',
    );
  const plain = await measure(2_000, CONCURRENT, run(consumer.endpoint, consumer.token));
  const spawnedPlain = await measure(60, 2, () => spawnOnce("/usr/bin/python3", NO_OP));
  details["throughput"] = { plain, spawnedPlain };
  record("no-op executions/s end to end, a fresh process each", plain.perSecond, { atLeast: 300 });
  record(
    "... as a multiple of spawning bubblewrap + Python for each",
    plain.perSecond / spawnedPlain.perSecond,
    { atLeast: 20 },
  );

  const files = { "requirements.txt": "numpy>=2,<3\n" };
  const { serviceKey } = await world.deploy(await world.createProject("no-op-numpy", NO_OP_NUMPY, files));
  const numpy = await world.subscribe(serviceKey);
  await measure(50, 4, run(numpy.endpoint, numpy.token));
  const withNumpy = await measure(1_000, CONCURRENT, run(numpy.endpoint, numpy.token));
  const interpreter = await findEnvironmentPython(world);
  const spawnedNumpy = await measure(40, 2, () => spawnOnce(interpreter, NO_OP_NUMPY));
  details["throughputNumpy"] = { withNumpy, spawnedNumpy };
  record("the same of a service that imports numpy, executions/s", withNumpy.perSecond, { atLeast: 150 });
  record(
    "... as a multiple of spawning bubblewrap + Python + numpy for each",
    withNumpy.perSecond / spawnedNumpy.perSecond,
    { atLeast: 20 },
  );
}

/** POST until the durable 201, in a process that takes starts but runs nothing. */
async function measureStart(world: World, consumer: Consumer): Promise<void> {
  const gatewayPort = Number(new URL(consumer.endpoint).port);
  const platform = await startPlatform({
    dataDirectory: world.dataDirectory,
    gatewayPort,
    role: "gateway,control",
    // More than are started here: a queue that is full refuses.
    flags: ["--max-queued-per-subscription", "100000", "--starts-per-second", "100000"],
  });
  const { one, many } = await measureStarts(consumer).finally(platform.stop);
  details["start"] = { one, many };
  record("start -> durable 201, one client, p50 ms", one.p50, { atMost: 2 });
  record("start -> durable 201, one client, p99 ms", one.p99, { atMost: 10 });
  record("starts/s with 32 clients", many.perSecond, { atLeast: 3_000 });
}

async function measureStarts(consumer: Consumer): Promise<{ readonly one: Figures; readonly many: Figures }> {
  const client = createHttpClient({ authorization: `Bearer ${consumer.token}` });
  const body = JSON.stringify({ data: { text: "x".repeat(1_000) } });
  const start = async () => expectStatus(await client.send("POST", consumer.endpoint, body), '"PENDING"');
  await measure(500, 1, start);
  const one = await measure(1_000, 1, start);
  await measure(2_000, CONCURRENT, start);
  const many = await measure(10_000, CONCURRENT, start);
  client.close();
  return { one, many };
}

/** Polls of a finished execution against a bare server with the same bytes, in turn. */
async function measurePolling(consumer: Consumer, client: HttpClient): Promise<void> {
  const started = await client.send("POST", consumer.endpoint, "{}", WAIT);
  const { id } = JSON.parse(started.body) as { readonly id: string };
  const url = `${consumer.endpoint}${id}`;
  const { body } = await client.send("GET", url);
  const bare = await startHelper("bare-server.ts", body);
  const fire = async (target: string) =>
    (
      await autocannon({
        url: target,
        connections: CONCURRENT,
        duration: POLL_SECONDS,
        headers: { authorization: `Bearer ${consumer.token}` },
      })
    ).requests.average;
  const rounds: { readonly polls: number; readonly bare: number }[] = [];
  for (let count = 0; count < 3; count++) rounds.push({ polls: await fire(url), bare: await fire(bare.url) });
  await bare.close();
  details["polling"] = rounds;
  record(
    "state polls/s as a part of a bare node:http server's",
    median(rounds.map((item) => item.polls / item.bare)),
    { atLeast: 0.5 },
  );
}

/** Start-up on a warm data directory, memory at rest, and the first execution of a version in this process. */
async function measureStartUp(world: World, consumer: Consumer): Promise<void> {
  await world.platform.stop();
  const gatewayPort = Number(new URL(consumer.endpoint).port);
  const ready: number[] = [];
  const cold: number[] = [];
  let memory: Readonly<Record<string, number>> = {};
  for (let count = 0; count < 5; count++) {
    const began = performance.now();
    const platform = await startPlatform({ dataDirectory: world.dataDirectory, gatewayPort });
    ready.push(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    memory = await readMemory(platform.process.pid ?? 0);
    const client = createHttpClient({ authorization: `Bearer ${consumer.token}` });
    await client.send("GET", consumer.endpoint);
    const start = performance.now();
    expectStatus(await client.send("POST", consumer.endpoint, "{}", WAIT), '"SUCCEEDED"');
    cold.push(performance.now() - start);
    client.close();
    await platform.stop();
  }
  details["startUp"] = { ready: summarize(ready, 1), cold: summarize(cold, 1), memory };
  record("platform ready on a warm data directory, median s", median(ready) / 1_000, { atMost: 2 });
  record("first execution of a cold stdlib-only version, median ms", median(cold), { atMost: 150 });
  const others = Object.entries(memory).filter(([name]) => name !== "postgres");
  record(
    "idle memory of the platform process, MB PSS",
    others.reduce((sum, [, value]) => sum + value, 0),
    { atMost: 150 },
  );
  record("idle memory of PostgreSQL, MB PSS", memory["postgres"] ?? Number.NaN, { atMost: 160 });
}

interface StoreReport {
  /** Executions that were there in the second round. */
  readonly rows: number;
  readonly empty: StoreFigures;
  readonly full: StoreFigures;
}

interface StoreFigures {
  readonly latencies: Readonly<Record<"create" | "claim" | "find", { readonly p50: number }>>;
  readonly cycle: { readonly executionsPerSecond: number };
}

/** The store alone, grouped, without user code; then again with a million finished executions in it. */
async function measureStore(): Promise<void> {
  const { stdout: text } = await promisify(execFile)(execPath, [join(REPOSITORY, "bench/store.ts")], {
    maxBuffer: 1 << 20,
  });
  const report = JSON.parse(text) as StoreReport;
  details["store"] = report;
  record("store cycle without user code, executions/s", report.empty.cycle.executionsPerSecond, {
    atLeast: 8_000,
  });
  for (const name of ["create", "claim", "find"] as const) {
    const ratio = report.full.latencies[name].p50 / report.empty.latencies[name].p50;
    const rows = report.rows.toLocaleString("en");
    record(`${name} with ${rows} finished executions, as a multiple of empty`, ratio, { atMost: 1.25 });
  }
}

/** Processes of versions, without HTTP and database. */
async function measureRuntime(): Promise<void> {
  const { stdout: text } = await promisify(execFile)(execPath, [join(REPOSITORY, "bench/runtime.ts")], {
    maxBuffer: 1 << 20,
  });
  const report = JSON.parse(text) as RuntimeReport;
  details["runtime"] = report;
  record("hand-over to a prepared child -> outcome, p50 ms", report.handOver.p50, { atMost: 1 });
  record("50 versions in turn, p50 as a multiple of one", report.fiftyVersions.p50 / report.oneVersion.p50, {
    atMost: 2,
  });
  record("cancel -> all processes have ended, p50 ms", report.cancel.p50, { atMost: 10 });
  record("fork of a process with 500 MB, median ms", report.largeFork, { atMost: 2 });
  record(
    "isolated executions/s as a part of those with a plain fork",
    report.isolated.perSecond / report.bare.perSecond,
    { atLeast: 0.75 },
  );
}

interface FloodReport {
  readonly medians: Readonly<Record<"alone" | "computing" | "flooding", Figures>>;
}

/** Callers of one service while a run of another prints without end. */
async function measureFlood(): Promise<void> {
  const { stdout: text } = await promisify(execFile)(execPath, [join(REPOSITORY, "bench/flood.ts")], {
    maxBuffer: 1 << 20,
  });
  const report = JSON.parse(text) as FloodReport;
  details["flood"] = report;
  const { alone, flooding } = report.medians;
  record("p99 of other callers beside a flooding run, as a multiple of alone", flooding.p99 / alone.p99, {
    atMost: 1.5,
  });
}

async function save(): Promise<void> {
  const machine = {
    cores: cpus().length,
    model: cpus()[0]?.model,
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    kernel: release(),
    node: version,
  };
  const date = new Date().toISOString();
  const file = join(REPOSITORY, "bench/results", `${date.slice(0, 10)}.json`);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify({ date, machine, results, details }, null, 2)}\n`);
  stdout.write(`saved ${file}\n`);
}

/** One execution the way without a zygote: a sandbox and an interpreter for each. */
async function spawnOnce(interpreter: string, program: string): Promise<void> {
  const environment = dirname(dirname(interpreter));
  const view = [
    "--ro-bind",
    "/usr",
    "/usr",
    "--symlink",
    "usr/bin",
    "/bin",
    "--symlink",
    "usr/lib",
    "/lib",
    "--symlink",
    "usr/lib64",
    "/lib64",
    "--ro-bind-try",
    "/etc/ld.so.cache",
    "/etc/ld.so.cache",
  ];
  const isolation = [
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--die-with-parent",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--tmpfs",
    "/tmp",
  ];
  const own = environment.startsWith("/usr") ? [] : ["--ro-bind", environment, environment];
  const child = spawn(
    "bwrap",
    [
      ...isolation,
      ...view,
      ...own,
      interpreter,
      "-I",
      "-c",
      `import json\n${program}\nprint(json.dumps(run()))`,
    ],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`bubblewrap ended with ${code}`);
}

async function findSocketDirectory(world: World): Promise<string> {
  const files = await readdir(join(world.dataDirectory, "postgres"), { recursive: true });
  const socket = files.find((path) => path.endsWith(".s.PGSQL.5432"));
  if (socket === undefined) throw new Error("the embedded PostgreSQL has no socket");
  return join(world.dataDirectory, "postgres", dirname(socket));
}

async function findEnvironmentPython(world: World): Promise<string> {
  const files = await readdir(join(world.dataDirectory, "environments"), { recursive: true });
  const python = files.find((path) => path.endsWith("venv/bin/python"));
  if (python === undefined) throw new Error("no environment was built");
  return join(world.dataDirectory, "environments", python);
}

function expectStatus(answer: { readonly status: number; readonly body: string }, text: string): void {
  if (answer.status !== 201 || !answer.body.includes(text))
    throw new Error(`unexpected answer ${answer.status}: ${answer.body}`);
}

await main();
