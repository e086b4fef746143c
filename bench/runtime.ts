/**
 * `node bench/runtime.ts`: the Python runtime alone, without HTTP and database, as JSON. What is compared is done in turns.
 */
import { setTimeout as delay } from "node:timers/promises";
import { stdout } from "node:process";
import { createFixture } from "../packages/engine/src/testing/python-fixture.ts";
import type { Fixture } from "../packages/engine/src/testing/python-fixture.ts";
import type { RunnableVersion } from "../packages/engine/src/python/port/runtime.ts";
import { measure, sample, summarize } from "./load.ts";
import type { Figures } from "./load.ts";

const NO_OP = "def run():\n    return {}\n";
const SLEEP = "import time\ndef run():\n    time.sleep(60)\n";
/** Half of it blocks as large arrays have them, written to, so that the memory is there; half of it small objects. */
const LARGE = `import os, time
BLOCKS = [bytearray(os.urandom(1 << 20)) for _ in range(250)]
OBJECTS = [str(number) * 3 for number in range(3_000_000)]
def run():
    times = []
    for _ in range(20):
        began = time.perf_counter()
        child = os.fork()
        if child == 0:
            os._exit(0)
        times.append((time.perf_counter() - began) * 1000)
        os.waitpid(child, 0)
    return sorted(times)[10]
`;
const LARGE_RESOURCES = { resources: { cpu: 1, memory: 2 } };
const ROUNDS = 5;
const CALLS = 100;
const VERSIONS = 50;
const CONCURRENT = 8;
/** Until the child after next is prepared: no caller but a benchmark comes sooner. */
const PAUSE_MS = 15;

/** What `bench.ts` reads of it. Milliseconds, but for rates a second. */
export interface RuntimeReport {
  /** From `run` to the outcome, in a child that was prepared. */
  readonly handOver: Figures;
  /** The same of a version in spawn mode. */
  readonly handOverSpawned: Figures;
  readonly oneVersion: Figures;
  readonly fiftyVersions: Figures;
  /** From the order to the end of all processes. */
  readonly cancel: Figures;
  /** A fork with 500 MB of the import, by the child itself. */
  readonly largeFork: number;
  readonly isolated: Figures;
  readonly bare: Figures;
}

const fixture = await createFixture();
const unconfined = await createFixture({}, "D");
try {
  stdout.write(`${JSON.stringify(await measureRuntime(), null, 2)}\n`);
} finally {
  await fixture.close();
  await unconfined.close();
}

async function measureRuntime(): Promise<RuntimeReport> {
  const version = fixture.createVersion(NO_OP);
  // Until Node has compiled what it runs often.
  await fire(fixture, version);
  const handOver = await measureHandOver(version);
  const handOverSpawned = await measureHandOver(fixture.createVersion(NO_OP, { startMode: "spawn" }));
  const many = await measureVersions();
  const cancel = await measureCancel();
  const { result } = await fixture.finish(fixture.createVersion(LARGE, LARGE_RESOURCES));
  const rates = await measureRates(version);
  return { handOver, handOverSpawned, ...many, cancel, largeFork: readNumber(result), ...rates };
}

async function measureHandOver(version: RunnableVersion): Promise<Figures> {
  return sample(CALLS, 10, async () => {
    await delay(version.startMode === "spawn" ? 10 * PAUSE_MS : PAUSE_MS);
    const began = performance.now();
    const run = fixture.start(version);
    await run.outcome;
    const elapsed = performance.now() - began;
    await run.ended;
    return elapsed;
  });
}

/** One version after the other, each with its zygote, against one version alone. */
async function measureVersions(): Promise<Pick<RuntimeReport, "oneVersion" | "fiftyVersions">> {
  const versions = Array.from({ length: VERSIONS }, () => fixture.createVersion(NO_OP));
  const [single] = versions;
  if (single === undefined) throw new Error("there are no versions");
  for (const version of versions) await fixture.finish(version);
  const one: number[] = [];
  const fifty: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1)
    for (const version of versions) {
      one.push(await time(single));
      fifty.push(await time(version));
    }
  return { oneVersion: summarize(one, 1), fiftyVersions: summarize(fifty, 1) };
}

async function time(version: RunnableVersion): Promise<number> {
  await delay(PAUSE_MS);
  const began = performance.now();
  await fixture.start(version).outcome;
  return performance.now() - began;
}

async function measureCancel(): Promise<Figures> {
  const version = fixture.createVersion(SLEEP);
  return sample(CALLS / 2, 0, async () => {
    const run = fixture.start(version);
    await run.began;
    await delay(PAUSE_MS);
    const began = performance.now();
    run.kill({ code: "CANCELLED", detail: "measured" });
    await run.ended;
    return performance.now() - began;
  });
}

/** Executions a second: isolated as well as this machine can, against a plain fork that opens the same connections. */
async function measureRates(version: RunnableVersion): Promise<Pick<RuntimeReport, "isolated" | "bare">> {
  const plain = unconfined.createVersion(NO_OP);
  const isolated: Figures[] = [];
  const bare: Figures[] = [];
  await fire(unconfined, plain);
  for (let round = 0; round < ROUNDS; round += 1) {
    isolated.push(await fire(fixture, version));
    bare.push(await fire(unconfined, plain));
  }
  return { isolated: middle(isolated), bare: middle(bare) };
}

function fire(where: Fixture, version: RunnableVersion): Promise<Figures> {
  return measure(3 * CALLS, CONCURRENT, async () => void (await where.finish(version)));
}

function middle(rounds: readonly Figures[]): Figures {
  const sorted = rounds.toSorted((left, right) => left.perSecond - right.perSecond);
  const found = sorted[Math.floor(sorted.length / 2)];
  if (found === undefined) throw new Error("nothing was measured");
  return found;
}

function readNumber(result: unknown): number {
  const value: unknown = typeof result === "object" && result !== null ? Reflect.get(result, "value") : null;
  if (typeof value !== "number") throw new Error(`unexpected result: ${JSON.stringify(result)}`);
  return value;
}
