/**
 * `node bench/quantum.ts`: quantum jobs on sim.statevector, warm and cold, each in turns with what it is made of: the same circuits in Aer in a
 * process that is there already, and an execution of a service that does nothing. Needs the package index, which packages of the simulator come
 * from; takes two to four minutes.
 *
 *   node bench/quantum.ts [--turns 40]
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { env, stdout } from "node:process";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { findPython, SDK } from "../tests/quantum/pytest.ts";
import { createWorld } from "../tests/support/world.ts";
import type { Consumer, World } from "../tests/support/world.ts";
import { REPOSITORY, startPlatform } from "../tools/platform-process.ts";
import { createHttpClient, round } from "./load.ts";
import type { HttpClient } from "./load.ts";
import { median, report } from "./report.ts";

const BACKEND = "sim.statevector";
const SHOTS = 1_000;
const COLD_TURNS = 3;
const WAIT = { prefer: "wait=30" };
const ABSOLUTE = { "ghz-3": 60, "ghz-20": 120, batch: 300, cold: 3_000 } as const;
/** Times an execution that does nothing and the circuits in Aer, together. */
const MOST_TIMES = { "ghz-3": 5, "ghz-20": 4, batch: 4 } as const;
/** Of one job of 50 circuits, as a part of 50 jobs. */
const MOST_OF_SINGLE = 0.2;

const { values: flags } = parseArgs({ options: { turns: { type: "string", default: "40" } } });
const TURNS = Number(flags.turns);

type Name = keyof typeof MOST_TIMES;

async function time(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** A process of Python with Aer and the SDK. */
async function startAer(python: string, world: World) {
  const child = spawn(python, [join(REPOSITORY, "tests/quantum/aer_in_process.py")], {
    stdio: ["pipe", "pipe", "inherit"],
    env: {
      ...env,
      PYTHONPATH: SDK,
      PLATFORM_ENDPOINT: world.platform.apiUrl,
      PLATFORM_PERSONAL_ACCESS_TOKEN: world.login.personalAccessToken,
    },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const read = async (): Promise<unknown> => JSON.parse(String((await lines.next()).value));
  const circuits = (await read()) as Readonly<Record<Name, readonly string[]>>;
  const ask = async (words: string): Promise<number> => {
    child.stdin.write(`${words}\n`);
    return Number(await read());
  };
  const close = async () => {
    child.stdin.end();
    await once(child, "exit");
  };
  return { circuits, ask, close };
}

/** A job from its start to its result, as a waiting client has it. */
async function runJob(apiUrl: string, client: HttpClient, circuits: readonly string[]): Promise<void> {
  const input = { pubs: circuits.map((circuit) => ({ circuit })), primitive: "sampler", shape: "registers" };
  const body = JSON.stringify({ backend_id: BACKEND, shots: SHOTS, input, input_format: "QISKIT_QPY" });
  const started = await client.send("POST", `${apiUrl}/quantum/jobs`, body, WAIT);
  const { id, status } = JSON.parse(started.body) as { readonly id: string; readonly status: string };
  if (status !== "COMPLETED") throw new Error(`a job was answered ${started.status}: ${started.body}`);
  const result = await client.send("GET", `${apiUrl}/quantum/jobs/${id}/result`);
  if (!result.body.includes('"samples"')) throw new Error(`no result: ${result.body}`);
}

async function runNothing(client: HttpClient, { endpoint, token }: Consumer): Promise<void> {
  const { body } = await client.send("POST", endpoint, "{}", { ...WAIT, authorization: `Bearer ${token}` });
  if (!body.includes('"SUCCEEDED"')) throw new Error(`an execution was answered: ${body}`);
}

async function measureWarm(world: World, consumer: Consumer, python: string): Promise<void> {
  const client = createHttpClient({ authorization: `Bearer ${world.login.personalAccessToken}` });
  const aer = await startAer(python, world);
  const { apiUrl } = world.platform;
  const nothing: number[] = [];
  const found: Partial<Record<Name, number>> = {};
  for (const name of Object.keys(MOST_TIMES) as readonly Name[]) {
    const jobs: number[] = [];
    const inProcess: number[] = [];
    const bySdk: number[] = [];
    // In turns, so that all see the same machine; the first ones are not counted.
    for (let turn = -5; turn < TURNS; turn++) {
      const times = [
        await time(() => runJob(apiUrl, client, aer.circuits[name])),
        await aer.ask(`aer ${name}`),
        await time(() => runNothing(client, consumer)),
        await aer.ask(`sdk ${name}`),
      ];
      if (turn < 0) continue;
      for (const [index, list] of [jobs, inProcess, nothing, bySdk].entries()) list.push(times[index] ?? 0);
    }
    const job = median(jobs);
    found[name] = job;
    stdout.write(
      `${name}: a job ${round(job)} ms, by the SDK ${round(median(bySdk))}; in Aer alone ${round(median(inProcess))}, an execution that does nothing ${round(median(nothing))}\n`,
    );
    report(`${name}, ${SHOTS} shots each, warm, p50 ms`, job, { atMost: ABSOLUTE[name] });
    report(
      `${name}, times an execution that does nothing and Aer alone`,
      job / (median(nothing) + median(inProcess)),
      { atMost: MOST_TIMES[name] },
    );
  }
  report("50 circuits in one job, as a part of 50 jobs", (found.batch ?? 0) / (50 * (found["ghz-3"] ?? 0)), {
    atMost: MOST_OF_SINGLE,
  });
  await aer.close();
  client.close();
}

/** The first job of a platform that has just started: its process has to import Qiskit and Aer. */
async function measureCold(world: World, circuits: readonly string[], python: string): Promise<void> {
  await world.platform.stop();
  const cold: number[] = [];
  const imports: number[] = [];
  const client = createHttpClient({ authorization: `Bearer ${world.login.personalAccessToken}` });
  for (let turn = 0; turn < COLD_TURNS; turn++) {
    const { apiUrl, stop } = await startPlatform({ dataDirectory: world.dataDirectory });
    try {
      const { status } = await client.send("GET", `${apiUrl}/quantum/backends/${BACKEND}`);
      if (status !== 200) throw new Error(`the backend was answered ${status}`);
      cold.push(await time(() => runJob(apiUrl, client, circuits)));
    } finally {
      await stop();
    }
    imports.push(await time(() => importProgram(python)));
  }
  client.close();
  report("the first job of a platform that has just started, ms", median(cold), { atMost: ABSOLUTE.cold });
  report("... times an interpreter that imports the same", median(cold) / median(imports), { atMost: 2 });
}

async function importProgram(python: string): Promise<void> {
  const folder = join(REPOSITORY, "backends/statevector/src");
  const child = spawn(python, ["-c", "import program"], { env: { ...env, PYTHONPATH: `${SDK}:${folder}` } });
  const [code] = (await once(child, "exit")) as readonly unknown[];
  if (code !== 0) throw new Error(`the import ended with ${String(code)}`);
}

const found = await findPython();
if ("reason" in found) throw new Error(found.reason);
const world = await createWorld({ flags: ["--backend-cpu", "1"] });
try {
  const { code, stderr } = await world.cli(world.directory, "backends", "install", "statevector");
  if (code !== 0) throw new Error(stderr);
  const project = await world.createProject("no-op", "def run():\n    return {}\n");
  const consumer = await world.subscribe((await world.deploy(project)).serviceKey);
  await measureWarm(world, consumer, found.python);
  const aer = await startAer(found.python, world);
  await aer.close();
  await measureCold(world, aer.circuits["ghz-3"], found.python);
} finally {
  await world.close();
}
