import { createHash } from "node:crypto";
import { readFile, readdir, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CONNECT, openLine } from "../support/line.ts";
import { ALL_IN_BUCKETS, HAS_S3_SERVER, nameBucket, startS3Server } from "../support/s3-store.ts";
import type { S3Server } from "../support/s3-store.ts";
import { killPostgres } from "../support/postmaster.ts";
import { createWorld } from "../support/world.ts";
import type { Consumer, World } from "../support/world.ts";
import type { PlatformProcess } from "../../tools/platform-process.ts";
import { IS_FULL_LENGTH } from "../support/full-length.ts";

/*
 * SIGKILL while a result of 72 MB and a file of 24 MB are being stored, at points that do not pass by themselves:
 * - half of the result has come from the user code, which sends nothing more;
 * - all of it is an object already, and the row that names it waits for a lock;
 * - half of the first part of the result is on its way to the bucket, and no more of it comes through.
 */

const MEGABYTE = 1024 * 1024;
const FILE_BYTES = 24 * MEGABYTE;
/** More than one part of an upload to a bucket. */
const RESULT_BYTES = 72 * MEGABYTE;
/** Of the answer, which has the file before the result. */
const HELD_AT = FILE_BYTES + RESULT_BYTES / 2;
/** Of the first part of the result, which has 64 MB. */
const HELD_IN_BUCKET = 32 * MEGABYTE;
const WITHIN = { timeout: 120_000 };
const DAY_SECONDS = 24 * 3600;
const FLAGS = ["--lease-seconds", "8", "--worker-cpu", "2", "--worker-memory", "4"];
const REST = "gateway,control,builder";

const PROGRAM = `
import hashlib, os, socket

def hold(after):
    ${CONNECT}
    write, sent = os.write, 0

    def write_some(descriptor, content):
        nonlocal sent
        done = write(descriptor, content[:${MEGABYTE}])
        sent += done
        if sent >= after:
            line.recv(1)
        return done

    os.write = write_some

def run(data):
    seed = data["seed"].encode()
    with open(os.path.join(os.environ["OUTPUT_DIRECTORY"], "table.bin"), "wb") as file:
        file.write(hashlib.shake_256(b"file " + seed).digest(${FILE_BYTES}))
    if data["holdAfter"]:
        hold(data["holdAfter"])
    return {"text": hashlib.shake_256(b"result " + seed).hexdigest(${RESULT_BYTES / 2})}
`;

const hash = (content: Uint8Array) => createHash("sha256").update(content).digest("hex");
const stretch = (text: string, outputLength: number) =>
  createHash("shake256", { outputLength }).update(text).digest();

/** What a run with this seed returns: the hashes of its file and of its result, and how the result begins. */
function foresee(seed: string): Foreseen {
  const known = foreseen.get(seed);
  if (known !== undefined) return known;
  const file = hash(stretch(`file ${seed}`, FILE_BYTES));
  const text = stretch(`result ${seed}`, RESULT_BYTES / 2).toString("hex");
  const made = { file, result: hash(Buffer.from(`{"text":"${text}"}`)), begin: text.slice(0, 40) };
  foreseen.set(seed, made);
  return made;
}

type Foreseen = Readonly<Record<"file" | "result" | "begin", string>>;
const foreseen = new Map<string, Foreseen>();
const hashesOf = (seed: string) => [foresee(seed).file, foresee(seed).result];

/** An execution that is held at one of the points. */
interface Held {
  readonly seed: string;
  readonly id: string;
  /** Whether its content is there as a whole already. */
  readonly isKept: boolean;
}

/** A platform whose worker can be killed apart from the rest, and where it stores objects. */
interface Scene {
  readonly world: World;
  readonly consumer: Consumer;
  readonly worker: PlatformProcess;
  readonly rest: PlatformProcess;
  readonly environment: Readonly<Record<string, string>>;
  /** The folder of the objects. */
  readonly objects: string;
  /** Where that is which is on its way into it: files of the host, uploads in parts as the S3 server of the tests has them. */
  readonly incoming: readonly string[];
}

async function openScene(server: S3Server | null): Promise<Scene> {
  const environment = server === null ? {} : nameBucket(await server.makeBucket("objects"));
  const world = await createWorld({ role: REST, flags: FLAGS, environment });
  const worker = await world.start({ role: "worker", flags: FLAGS, environment });
  const project = {
    name: "large",
    runtime: "PYTHON_TEMPLATE",
    resources: { cpu: 1, memory: 1 },
  };
  const { serviceKey } = await world.deploy(
    await world.createProject("large", PROGRAM, { "platform.json": JSON.stringify(project) }),
  );
  const own = join(world.dataDirectory, "objects");
  const objects = server === null ? own : server.folderOf("objects");
  return {
    world,
    consumer: await world.subscribe(serviceKey),
    worker,
    rest: world.platform,
    environment,
    objects,
    incoming: [join(own, "incoming"), ...(server === null ? [] : [join(objects, ".sgwtmp")])],
  };
}

async function listFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** The objects that can be seen, each of which has the content of its name. */
async function listObjects({ objects }: Scene): Promise<readonly string[]> {
  const paths = (await listFiles(objects)).filter((path) => /\/..\/[0-9a-f]{64}$/u.test(path));
  for (const path of paths) expect(hash(await readFile(path))).toBe(path.slice(-64));
  return paths.map((path) => path.slice(-64));
}

/** Files of the host, and uploads in parts; the latter are folders that are named by an id. */
async function listUnfinished({ incoming }: Scene): Promise<readonly string[]> {
  const found: string[] = [];
  for (const folder of incoming) {
    const entries = await readdir(folder, { recursive: true }).catch(() => []);
    found.push(
      ...entries
        .filter((path) => /(?:^|\/)[0-9a-f]{8}-[0-9a-f-]{27}$/u.test(path))
        .map((path) => join(folder, path)),
    );
  }
  return found;
}

async function connect({ world }: Scene): Promise<Client> {
  const host = join(world.dataDirectory, "postgres", "socket");
  const client = new Client({ host, user: "platform", database: "platform" });
  // It is killed with the platform.
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

async function start({ consumer }: Scene, seed: string, holdAfter = 0): Promise<string> {
  const { status, body } = await consumer.start({ data: { seed, holdAfter } });
  expect(status).toBe(201);
  return body.id;
}

const isHalfResult = (size: number) => size > FILE_BYTES && size < RESULT_BYTES;

/** On a disk: one whose content is half there, and one whose content is there while its end cannot be written. */
async function holdOnDisk(scene: Scene, name: string): Promise<readonly Held[]> {
  const [half, kept] = [`${name} half`, `${name} kept`];
  const lock = await connect(scene);
  // Until its process or PostgreSQL is killed.
  await lock.query("begin; lock table execution_output in share mode");
  const before = new Set(await listUnfinished(scene));
  const halfId = await start(scene, half, HELD_AT);
  const countHalves = async () => {
    const begun = (await listUnfinished(scene)).filter((path) => !before.has(path));
    const sizes = await Promise.all(begun.map((path) => stat(path).then(({ size }) => size)));
    return sizes.filter(isHalfResult).length;
  };
  await expect.poll(countHalves, WITHIN).toBe(1);
  const keptId = await start(scene, kept);
  const hashes = hashesOf(kept);
  const isKept = async () => {
    const seen = await listObjects(scene);
    return hashes.every((each) => seen.includes(each));
  };
  await expect.poll(isKept, WITHIN).toBe(true);
  locks.push(lock);
  return [
    { seed: half, id: halfId, isKept: false },
    { seed: kept, id: keptId, isKept: true },
  ];
}

/** Connections with a lock. */
const locks: Client[] = [];

/** Whoever waits for one has gone: its statement would still be carried out. Does nothing where PostgreSQL was killed. */
async function releaseLocks(): Promise<void> {
  for (const lock of locks.splice(0)) {
    await lock
      .query(
        "select pg_terminate_backend(pid) from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0",
      )
      .catch(() => undefined);
    await lock.end().catch(() => undefined);
  }
}

/** On the way to a bucket: an upload in parts was begun there. */
async function holdInBucket(scene: Scene, server: S3Server, name: string): Promise<readonly Held[]> {
  server.proxy.set({ stopRequestAt: HELD_IN_BUCKET });
  const id = await start(scene, name);
  await expect.poll(() => server.proxy.countBroken(), WITHIN).toBeGreaterThan(0);
  return [{ seed: name, id, isKept: false }];
}

const read = ({ consumer }: Scene, path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${consumer.endpoint}${path}`, {
    headers: { authorization: `Bearer ${consumer.token}`, accept: "application/json", ...headers },
  });

/** It is over, nobody knows how, and nothing of what it returned can be fetched. */
async function expectLost(scene: Scene, { id, seed }: Held): Promise<void> {
  expect(await scene.consumer.finish(id, 60)).toMatchObject({ status: "UNKNOWN" });
  const { status, body } = await scene.consumer.call("GET", `${id}/result`);
  expect([status, body["code"], "result" in body]).toEqual([200, "WORKER_LOST", false]);
  expect(Object.keys(body["_links"] ?? {}).toSorted()).toEqual(["self", "status"]);
  for (const [path, headers, expected] of [
    ["result", { range: "bytes=0-99" }, 200],
    ["result/table.bin", {}, 404],
    ["result/table.bin", { range: "bytes=0-99" }, 404],
  ] as const) {
    const answer = await read(scene, `${id}/${path}`, headers);
    const text = await answer.text();
    expect([answer.status, text.length < 2_000]).toEqual([expected, true]);
    expect(text).not.toContain(foresee(seed).begin);
  }
}

/** The same input, started again, has a result that is the same byte by byte. */
async function runAgain(scene: Scene, seed: string): Promise<void> {
  const id = await start(scene, seed);
  expect(await scene.consumer.finish(id)).toMatchObject({ status: "SUCCEEDED" });
  const { result, file } = foresee(seed);
  const answer = await read(scene, `${id}/result`);
  const body = Buffer.from(await answer.arrayBuffer());
  const from = body.indexOf('{"text"');
  expect(hash(body.subarray(from, from + RESULT_BYTES + '{"text":""}'.length))).toBe(result);
  const table = new Uint8Array(await (await read(scene, `${id}/result/table.bin`)).arrayBuffer());
  expect(hash(table)).toBe(file);
}

/** As if two days had passed since everything there is was stored. */
async function age(scene: Scene): Promise<void> {
  const client = await connect(scene);
  await client.query("update object set kept_at = kept_at - interval '2 days'");
  await client.end();
  const time = Date.now() / 1_000 - 2 * DAY_SECONDS - 60;
  for (const folder of scene.incoming)
    for (const entry of await readdir(folder, { recursive: true }).catch(() => []))
      await utimes(join(folder, entry), time, time);
}

async function startAgain(scene: Scene, role: string, former: PlatformProcess): Promise<PlatformProcess> {
  const [gatewayPort, apiPort] = [former.gatewayUrl, former.apiUrl].map((url) => Number(new URL(url).port));
  const { environment } = scene;
  return scene.world.start({
    role,
    flags: FLAGS,
    environment,
    ...(gatewayPort ? { gatewayPort } : {}),
    ...(apiPort ? { apiPort } : {}),
  });
}

const STORES = [
  ...(ALL_IN_BUCKETS ? [] : [{ store: "on a disk", hasServer: false }]),
  ...(HAS_S3_SERVER && (ALL_IN_BUCKETS || IS_FULL_LENGTH) ? [{ store: "in a bucket", hasServer: true }] : []),
];

describe.each(STORES)("kill -9 while a result is being stored $store", ({ hasServer }) => {
  let server: S3Server | null = null;
  let scene: Scene;
  let line: Awaited<ReturnType<typeof openLine>>;
  const lost: Held[] = [];
  beforeAll(async () => {
    server = hasServer ? await startS3Server() : null;
    scene = await openScene(server);
    line = await openLine(scene.world.dataDirectory, () => undefined);
  });
  afterAll(async () => {
    await releaseLocks();
    await scene?.world.close();
    await line?.close();
    await server?.close();
  });

  const hold = (name: string) =>
    server === null ? holdOnDisk(scene, name) : holdInBucket(scene, server, name);

  /** Of what is held, what is whole can be seen, and nothing else. */
  async function expectNoPart(held: readonly Held[], before: readonly string[]): Promise<void> {
    const whole = held.filter(({ isKept }) => isKept).flatMap(({ seed }) => hashesOf(seed));
    expect((await listObjects(scene)).toSorted()).toEqual([...before, ...whole].toSorted());
    expect(await listUnfinished(scene)).not.toEqual([]);
  }

  test("of the worker loses the execution and nothing else", async () => {
    const before = await listObjects(scene);
    const held = await hold("worker");
    await scene.worker.kill();
    server?.proxy.set("none");
    await releaseLocks();
    await expectNoPart(held, before);
    for (const each of held) await expectLost(scene, each);
    await expectNoPart(held, before);
    scene = { ...scene, worker: await startAgain(scene, "worker", scene.worker) };
    await runAgain(scene, held[0]?.seed ?? "");
    lost.push(...held);
    expect(held.length).toBeGreaterThan(0);
  });

  test("of every process loses the execution and nothing else", async () => {
    const before = await listObjects(scene);
    const held = await hold("all");
    await Promise.all([scene.worker.kill(), scene.rest.kill(), killPostgres(scene.world.dataDirectory)]);
    server?.proxy.set("none");
    await releaseLocks();
    await expectNoPart(held, before);
    const rest = await startAgain(scene, REST, scene.rest);
    scene = { ...scene, rest, worker: await startAgain(scene, "worker", scene.worker) };
    for (const each of held) await expectLost(scene, each);
    await runAgain(scene, held[0]?.seed ?? "");
    lost.push(...held);
    expect(held.length).toBeGreaterThan(0);
  });

  test("leaves nothing behind: what no row names is removed after its time, and what is needed stays", async () => {
    const again = lost.filter(({ isKept }) => !isKept).map(({ seed }) => seed);
    const needed = again.flatMap(hashesOf);
    expect(again).toHaveLength(2);
    expect(await listUnfinished(scene)).not.toEqual([]);
    await age(scene);
    // Each process begins with a round.
    await scene.world.start({ role: "gateway", environment: scene.environment });
    await expect.poll(() => listUnfinished(scene), WITHIN).toEqual([]);
    const kept = new Set(lost.filter(({ isKept }) => isKept).flatMap(({ seed }) => hashesOf(seed)));
    await expect
      .poll(async () => (await listObjects(scene)).filter((each) => kept.has(each)), WITHIN)
      .toEqual([]);
    expect(await listObjects(scene)).toEqual(expect.arrayContaining(needed));
    for (const each of lost) await expectLost(scene, each);
    // Its objects were there once, and have gone.
    const last = lost.find(({ isKept }) => isKept);
    if (last !== undefined) await runAgain(scene, last.seed);
  });
});
