/**
 * `node bench/payloads.ts [transfer|reference|result|value ...]`: large payloads next to bare counterparts in the same run. Without names all
 * rows; each takes a minute at most, and two gigabytes of disk. "value" ends the worker, so it is the last one.
 */
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { request as sendRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { argv, stdout } from "node:process";
import { randomUUID } from "node:crypto";
import { createPool, finishJob, startJob } from "../tests/support/pools.ts";
import { createWorld } from "../tests/support/world.ts";
import type { World } from "../tests/support/world.ts";
import { createHttpClient, round } from "./load.ts";
import { startHelper } from "./processes.ts";
import { median, report } from "./report.ts";

const MEGABYTE = 1_000_000;
const TRANSFER_BYTES = 256 * MEGABYTE;
const REFERENCE_BYTES = 500 * MEGABYTE;
const RESULT_BYTES = 54 * MEGABYTE;
const ROUNDS = 5;
const RESULT_ROUNDS = 15;
const VALUE_ROUNDS = 100;
/** Node.js compiles meanwhile, and PostgreSQL plans. */
const UNCOUNTED = 30;
const SAMPLE_EVERY_MS = 20;
/** The hints have the whole input checked before the start is accepted. */
const PROGRAM = `
from typing import TypedDict

class Place(TypedDict):
    id: int
    x: float
    y: float

class Data(TypedDict, total=False):
    content: str
    numbers: list[int]
    places: list[Place]
    result: int

def run(data: Data):
    if "result" in data:
        return {"content": "x" * data["result"]}
    return {"size": len(data["content"])}
`;
const PROJECT = JSON.stringify({
  name: "payloads",
  runtime: "PYTHON_TEMPLATE",
  resources: { cpu: 1, memory: 3 },
});

type Headers = Readonly<Record<string, string>>;

/** A JSON object of about so many bytes, another one each time, in pieces. */
function* createContent(bytes: number): Generator<Buffer> {
  const piece = Buffer.alloc(65_536, "x");
  yield Buffer.from(`{"id": "${randomUUID()}", "content": "`);
  for (let left = bytes; left > 0; left -= piece.length) yield piece;
  yield Buffer.from('"}');
}

/** Milliseconds until the answer has come. */
async function upload(url: string, bytes: number, headers: Headers = {}): Promise<[number, string]> {
  const began = performance.now();
  const outgoing = sendRequest(url, {
    method: "PUT",
    headers: { "content-type": "application/json", ...headers },
  });
  const answered = once(outgoing, "response") as Promise<[IncomingMessage]>;
  for (const piece of createContent(bytes)) if (!outgoing.write(piece)) await once(outgoing, "drain");
  outgoing.end();
  const [incoming] = await answered;
  let text = "";
  for await (const chunk of incoming) text += String(chunk);
  if (incoming.statusCode !== 201) throw new Error(`PUT was answered ${incoming.statusCode}: ${text}`);
  return [performance.now() - began, text];
}

/** Milliseconds to the last byte. */
async function download(url: string, atLeast: number, headers: Headers = {}): Promise<number> {
  const began = performance.now();
  const outgoing = sendRequest(url, { headers });
  outgoing.end();
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  let bytes = 0;
  for await (const chunk of incoming) bytes += (chunk as Buffer).length;
  if (bytes < atLeast) throw new Error(`Of ${atLeast} bytes only ${bytes} came.`);
  return performance.now() - began;
}

/** Times of the platform and of its counterpart, measured in turn, so that both see the same machine. */
interface Pairs {
  readonly own: number[];
  readonly bare: number[];
}

/** A row of medians: of the times, and of the ratio within each pair. */
function recordPairs(name: string, { own, bare }: Pairs, atMost: number): void {
  stdout.write(`       ${round(median(own))} ms next to ${round(median(bare))} ms\n`);
  report(name, median(own.map((time, index) => time / (bare[index] ?? Number.NaN))), { atMost });
}

/** Both ways. */
async function measureTransfer(world: World): Promise<void> {
  // On the same disk as the data of the platform.
  const folder = await mkdtemp(join(world.directory, "bare-"));
  const bare = await startHelper("file-server.ts", folder);
  const pool = await createPool(world, "transfer");
  const files = `${world.platform.apiUrl}/api/data-pools/${pool}/files`;
  const headers = { authorization: `Bearer ${world.login.personalAccessToken}` };
  const up: Pairs = { own: [], bare: [] };
  const down: Pairs = { own: [], bare: [] };
  for (let turn = 0; turn < ROUNDS; turn++) {
    up.bare.push((await upload(bare.url, TRANSFER_BYTES))[0]);
    const [took, answer] = await upload(`${files}/transfer.json`, TRANSFER_BYTES, headers);
    up.own.push(took);
    const { fileId } = JSON.parse(answer) as { fileId: string };
    down.bare.push(await download(bare.url, TRANSFER_BYTES));
    down.own.push(await download(`${files}/${fileId}/content`, TRANSFER_BYTES, headers));
  }
  await bare.close();
  await rm(folder, { recursive: true });
  recordPairs("upload of 256 MB, as a multiple of a bare stream to the same disk", up, 1 / 0.6);
  recordPairs("download of 256 MB, as a multiple of a bare stream", down, 1 / 0.6);
}

/** The result of an execution, next to the same bytes as a file of a server that does nothing else. */
async function measureResult(world: World, serviceKey: string): Promise<void> {
  const consumer = await world.subscribe(serviceKey);
  const headers = { authorization: `Bearer ${consumer.token}` };
  const { body } = await consumer.start({ data: { result: RESULT_BYTES } });
  const { status } = await consumer.finish(body.id);
  if (status !== "SUCCEEDED") throw new Error(`The run has ended as ${status}.`);
  const result = `${consumer.endpoint}/${body.id}/result`;
  const folder = await mkdtemp(join(world.directory, "bare-"));
  const bytes = Buffer.from(await (await fetch(result, { headers })).arrayBuffer());
  await writeFile(join(folder, "content"), bytes);
  const bare = await startHelper("file-server.ts", folder);
  const pairs: Pairs = { own: [], bare: [] };
  for (let turn = 0; turn < RESULT_ROUNDS; turn++) {
    pairs.bare.push(await download(bare.url, bytes.length));
    pairs.own.push(await download(result, bytes.length, headers));
  }
  await bare.close();
  await rm(folder, { recursive: true });
  recordPairs("a result of 54 MB to its last byte, as a multiple of a bare stream", pairs, 1.5);
}

/** Resident memory of a process, in MB. */
async function readResident(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/mu.exec(status)?.[1] ?? 0) / 1_024;
}

/** What the platform's process grows by while a run reads 500 MB by reference: from a start that has looked at it, to its end. */
async function measureReference(world: World, serviceKey: string): Promise<void> {
  const pool = await createPool(world, "reference");
  const files = `${world.platform.apiUrl}/api/data-pools/${pool}/files`;
  const headers = { authorization: `Bearer ${world.login.personalAccessToken}` };
  const store = async (bytes: number) => {
    const [, answer] = await upload(`${files}/${randomUUID()}.json`, bytes, headers);
    return (JSON.parse(answer) as { reference: object }).reference;
  };
  const run = async (dataRef: object) =>
    finishJob(world, await startJob(world, serviceKey, { dataRef, params: {} }));
  await run(await store(MEGABYTE));
  const dataRef = await store(REFERENCE_BYTES);
  const pid = world.platform.process.pid ?? 0;
  const before = await readResident(pid);
  let most = before;
  const timer = setInterval(
    () => void readResident(pid).then((now) => (most = Math.max(most, now))),
    SAMPLE_EVERY_MS,
  );
  const { result, code } = (await run(dataRef)) as { result?: { size: number }; code?: string };
  clearInterval(timer);
  if ((result?.size ?? 0) < REFERENCE_BYTES) throw new Error(`The run has failed: ${code}`);
  report("a run that reads 500 MB by reference: growth of the platform, MB", most - before, { atMost: 64 });
}

/** `data` of about a megabyte, nearly as much as a start takes. */
const VALUES = {
  "one text": { content: "x".repeat(MEGABYTE) },
  "125,000 numbers": { numbers: Array.from({ length: 125_000 }, (_, index) => 1_000_000 + index) },
  "16,000 records": {
    places: Array.from({ length: 16_000 }, (_, id) => ({ id, x: id / 7, y: id / 11 })),
  },
};

/**
 * A start with a value of 1 MB, from its first byte to the durable 201, next to reading that JSON once from its bytes. In a platform that takes starts
 * and runs nothing: a run would take a core meanwhile.
 */
async function measureValue(world: World, serviceKey: string): Promise<void> {
  const consumer = await world.subscribe(serviceKey);
  await world.platform.stop();
  await world.start({
    gatewayPort: Number(new URL(consumer.endpoint).port),
    role: "gateway,control",
    flags: ["--max-queued-per-subscription", "100000", "--starts-per-second", "100000"],
  });
  const client = createHttpClient({ authorization: `Bearer ${consumer.token}` });
  for (const [name, data] of Object.entries(VALUES)) {
    const body = JSON.stringify({ data });
    const bytes = Buffer.from(body);
    const durable: number[] = [];
    const pairs: Pairs = { own: [], bare: [] };
    for (let turn = -UNCOUNTED; turn < VALUE_ROUNDS; turn++) {
      const began = performance.now();
      JSON.parse(bytes.toString());
      const parsed = performance.now();
      const answer = await client.send("POST", consumer.endpoint, body);
      const started = performance.now();
      await writeFile(join(world.directory, "durable"), bytes, { flush: true });
      const written = performance.now();
      if (answer.status !== 201) throw new Error(`The start was answered ${answer.status}: ${answer.body}`);
      if (turn < 0) continue;
      pairs.bare.push(parsed - began);
      pairs.own.push(started - parsed);
      durable.push(written - started);
    }
    stdout.write(
      `       ${round(median(durable))} ms to write that body to a file of the same disk, with fsync\n`,
    );
    recordPairs(`start with 1 MB by value (${name}), as a multiple of JSON.parse of it`, pairs, 2);
  }
  client.close();
}

const ROWS: Readonly<Record<string, (world: World, serviceKey: string) => Promise<void>>> = {
  transfer: measureTransfer,
  reference: measureReference,
  result: measureResult,
  value: measureValue,
};

const wanted = argv.length > 2 ? argv.slice(2) : Object.keys(ROWS);
const world = await createWorld();
try {
  const project = await world.createProject("payloads", PROGRAM, { "platform.json": PROJECT });
  const { serviceKey } = await world.deploy(project);
  for (const name of wanted) {
    const row = ROWS[name];
    if (row === undefined) throw new Error(`There is no row ${name}: ${Object.keys(ROWS).join(", ")}.`);
    await row(world, serviceKey);
  }
} finally {
  await world.close();
}
