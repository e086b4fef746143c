/**
 * `node bench/flood.ts`: what a run that prints without end costs the callers of another service, as JSON.
 *
 * Three situations in turn, so that all see the same machine: alone, beside a run that only computes, beside one that floods.
 */
import { stdout } from "node:process";
import { createWorld } from "../tests/support/world.ts";
import type { Consumer, World } from "../tests/support/world.ts";
import { createHttpClient, measure, summarize } from "./load.ts";
import type { Figures, HttpClient } from "./load.ts";

const ROUNDS = 5;
const CALLS = 200;
const CALLERS = 2;
const WAIT = { prefer: "wait=30" };

const PROGRAMS = {
  computing: "def run():\n    while True:\n        pass\n",
  flooding: "import os\nBLOCK = b'x\\n' * 32_768\ndef run():\n    while True:\n        os.write(1, BLOCK)\n",
} as const;
type Neighbour = "alone" | keyof typeof PROGRAMS;

async function main(): Promise<void> {
  const world = await createWorld();
  try {
    const quiet = await deploy(world, "quiet", "def run():\n    return {}\n");
    const neighbours = {
      computing: await deploy(world, "computing", PROGRAMS.computing),
      flooding: await deploy(world, "flooding", PROGRAMS.flooding),
    };
    const client = createHttpClient();
    await call(client, quiet, 100);
    const rounds: Record<Neighbour, Figures>[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const alone = await call(client, quiet, CALLS);
      const computing = await callBeside(client, neighbours.computing, quiet);
      const flooding = await callBeside(client, neighbours.flooding, quiet);
      rounds.push({ alone, computing, flooding });
    }
    client.close();
    stdout.write(`${JSON.stringify({ rounds, medians: findMedians(rounds) }, null, 2)}\n`);
  } finally {
    await world.close();
  }
}

async function deploy(world: World, name: string, program: string): Promise<Consumer> {
  const { serviceKey } = await world.deploy(await world.createProject(name, program));
  return world.subscribe(serviceKey);
}

function authorize(consumer: Consumer): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${consumer.token}` };
}

async function call(client: HttpClient, consumer: Consumer, count: number): Promise<Figures> {
  return measure(count, CALLERS, async () => {
    const answer = await client.send("POST", consumer.endpoint, "{}", { ...WAIT, ...authorize(consumer) });
    if (!answer.body.includes('"SUCCEEDED"')) throw new Error(`unexpected answer: ${answer.body}`);
  });
}

/** Starts the neighbour, waits until it runs, measures, and ends it. */
async function callBeside(client: HttpClient, neighbour: Consumer, quiet: Consumer): Promise<Figures> {
  const headers = authorize(neighbour);
  const started = await client.send("POST", neighbour.endpoint, "{}", headers);
  const { id } = JSON.parse(started.body) as { readonly id: string };
  const url = `${neighbour.endpoint}${id}`;
  while (!(await client.send("GET", url, undefined, headers)).body.includes('"RUNNING"'))
    await new Promise((resolve) => setTimeout(resolve, 20));
  const figures = await call(client, quiet, CALLS);
  await client.send("PUT", `${url}/cancel`, "", headers);
  while (!(await client.send("GET", url, undefined, headers)).body.includes('"terminal":true'))
    await new Promise((resolve) => setTimeout(resolve, 20));
  return figures;
}

function findMedians(rounds: readonly Record<Neighbour, Figures>[]): Record<Neighbour, Figures> {
  const of = (name: Neighbour): Figures => {
    const figures = rounds.map((round) => round[name]);
    const middle = (key: "p50" | "p95" | "p99"): number =>
      figures.map((item) => item[key]).toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ??
      Number.NaN;
    return { ...summarize([], 1), p50: middle("p50"), p95: middle("p95"), p99: middle("p99") };
  };
  return { alone: of("alone"), computing: of("computing"), flooding: of("flooding") };
}

await main();
