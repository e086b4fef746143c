/**
 * `node bench/payloads.ts [upload|reference|value ...]`: large payloads next to bare counterparts in the same run. Without names all rows;
 * each takes a minute or so, and a gigabyte of disk.
 */
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { request as sendRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { argv, stdout } from "node:process";
import { randomUUID } from "node:crypto";
import { createPool, finishJob, startJob } from "../tests/support/pools.ts";
import { createWorld } from "../tests/support/world.ts";
import type { World } from "../tests/support/world.ts";
import { createHttpClient, measure, round, sample } from "./load.ts";
import { startHelper } from "./processes.ts";

const MEGABYTE = 1_000_000;
const TRANSFER_BYTES = 256 * MEGABYTE;
const REFERENCE_BYTES = 500 * MEGABYTE;
/** The body of a start has at most 1 MiB. */
const VALUE_BYTES = MEGABYTE;
const ROUNDS = 5;
const SAMPLE_EVERY_MS = 20;
const PROGRAM = `
def run(data):
    return {"size": len(data["content"])}
`;
const PROJECT = JSON.stringify({
  name: "payloads",
  runtime: "PYTHON_TEMPLATE",
  resources: { cpu: 1, memory: 3 },
});

type Headers = Readonly<Record<string, string>>;

/** One row: what was measured, and the most that it may be. */
function record(name: string, value: number, atMost: number): void {
  const isMet = value <= atMost;
  stdout.write(
    `${isMet ? "  met" : "UNMET"}  ${name.padEnd(70)} ${String(round(value)).padStart(8)}  (<= ${atMost})\n`,
  );
}

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
async function download(url: string, headers: Headers = {}): Promise<number> {
  const began = performance.now();
  const outgoing = sendRequest(url, { headers });
  outgoing.end();
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  let bytes = 0;
  for await (const chunk of incoming) bytes += (chunk as Buffer).length;
  if (bytes < TRANSFER_BYTES) throw new Error(`Of ${TRANSFER_BYTES} bytes only ${bytes} came.`);
  return performance.now() - began;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Both ways, in turn with the counterpart, so that both see the same machine. */
async function measureTransfer(world: World): Promise<void> {
  // On the same disk as the data of the platform.
  const folder = await mkdtemp(join(world.directory, "bare-"));
  const bare = await startHelper("file-server.ts", folder);
  const pool = await createPool(world, "transfer");
  const files = `${world.platform.apiUrl}/api/data-pools/${pool}/files`;
  const headers = { authorization: `Bearer ${world.login.personalAccessToken}` };
  const up: number[] = [];
  const down: number[] = [];
  for (let turn = 0; turn < ROUNDS; turn++) {
    const [bareUp] = await upload(bare.url, TRANSFER_BYTES);
    const [ownUp, answer] = await upload(`${files}/transfer.json`, TRANSFER_BYTES, headers);
    up.push(ownUp / bareUp);
    const bareDown = await download(bare.url);
    const { fileId } = JSON.parse(answer) as { fileId: string };
    down.push((await download(`${files}/${fileId}/content`, headers)) / bareDown);
  }
  await bare.close();
  await rm(folder, { recursive: true });
  record("upload of 256 MB, as a multiple of a bare stream to the same disk", median(up), 1 / 0.6);
  record("download of 256 MB, as a multiple of a bare stream", median(down), 1 / 0.6);
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
  record("a run that reads 500 MB by reference: growth of the platform, MB", most - before, 64);
}

/** A start with a value of 1 MB, against reading that JSON once in a process that does nothing else. */
async function measureValue(world: World, serviceKey: string): Promise<void> {
  const numbers = Array.from({ length: VALUE_BYTES / 8 }, (_, index) => 1_000_000 + index);
  const body = JSON.stringify({ data: { content: numbers } });
  const parse = await sample(100, 20, async () => {
    const began = performance.now();
    JSON.parse(body);
    return performance.now() - began;
  });
  const client = createHttpClient({ authorization: `Bearer ${world.login.personalAccessToken}` });
  const url = `${world.platform.apiUrl}/api/jobs?serviceKey=${serviceKey}`;
  const start = async () => {
    const answer = await client.send("POST", url, body);
    if (answer.status !== 201) throw new Error(`The start was answered ${answer.status}: ${answer.body}`);
  };
  await measure(5, 1, start);
  const started = await measure(50, 1, start);
  client.close();
  stdout.write(
    `       ${round(parse.p50)} ms for JSON.parse, ${round(started.p50)} ms for the start (p50)\n`,
  );
  record("start with 1 MB by value, as a multiple of JSON.parse of it", started.p50 / parse.p50, 2);
}

const ROWS: Readonly<Record<string, (world: World, serviceKey: string) => Promise<void>>> = {
  upload: measureTransfer,
  reference: measureReference,
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
