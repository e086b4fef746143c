import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HAS_S3_SERVER, nameBucket, startS3Server } from "../support/s3-store.ts";
import type { S3Server } from "../support/s3-store.ts";
import { createPool, downloadFile, finishJob, startJob, storeFile } from "../support/pools.ts";
import { createWorld } from "../support/world.ts";
import type { PlatformProcess } from "../../tools/platform-process.ts";
import type { World } from "../support/world.ts";

/** Does to its input what it can, and says what it has read. */
const PROGRAM = `
import os

def run(data, params):
    tried = []
    for root in [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")] + params.get("paths", []):
        for flags in (os.O_WRONLY, os.O_RDWR | os.O_TRUNC):
            try:
                file = os.open(root, flags)
                if os.path.isfile(root):
                    tried.append(root)
                    os.write(file, b"poison")
                os.close(file)
            except OSError:
                pass
    return {"cities": len(data["cities"]), "first": data["cities"][0], "written": tried}
`;

const FOLDER_PROGRAM = `
from dataclasses import dataclass
from platform_service import DataPool

@dataclass
class Params:
    maps: DataPool

def run(params: Params):
    return {name: params.maps.open(name).read() for name in params.maps}
`;

const CONTENT = JSON.stringify({ cities: Array.from({ length: 200_000 }, (_, index) => index) });
const OUTCOME = { result: { cities: 200_000, first: 0, written: [] } };

// Without the server, which tools/s3-server.ts builds, there is nothing to test against.
describe.runIf(HAS_S3_SERVER)("a platform on a bucket", () => {
  let server: S3Server;
  /** Takes requests; `worker` does the rest. */
  let world: World;
  let worker: PlatformProcess;
  let startWorker: () => Promise<PlatformProcess>;
  let bucket: string;
  let pool: string;
  let serviceKey: string;
  beforeAll(async () => {
    server = await startS3Server();
    const settings = await server.makeBucket("objects");
    bucket = server.folderOf("objects");
    const environment = nameBucket(settings);
    world = await createWorld({ role: "gateway,control", environment });
    startWorker = () => world.start({ role: "worker,builder", environment });
    worker = await startWorker();
    pool = await createPool(world);
    ({ serviceKey } = await world.deploy(await world.createProject("tour", PROGRAM)));
  });
  afterAll(async () => {
    await world?.close();
    await server?.close();
  });

  const listObjects = async () =>
    (await readdir(bucket, { recursive: true })).filter((path) => /[0-9a-f]{64}$/u.test(path));
  const listCopies = () => readdir(join(world.dataDirectory, "object-cache"), { recursive: true });
  const run = async (body: object) => finishJob(world, await startJob(world, serviceKey, body));

  test("deploys, runs by value and by reference, gives results and files, and keeps nothing of its own that counts", async () => {
    const consumer = await world.subscribe(serviceKey);
    const { body: byValue } = await consumer.start({ data: { cities: [7] }, params: {} });
    expect(await consumer.finish(byValue.id)).toMatchObject({ status: "SUCCEEDED" });
    const file = await storeFile(world, pool, "map.json", CONTENT);
    expect(await (await downloadFile(world, pool, file.fileId)).text()).toBe(CONTENT);
    const range = await downloadFile(world, pool, file.fileId, { range: "bytes=2-7" });
    expect([range.status, await range.text()]).toEqual([206, "cities"]);
    expect(await run({ dataRef: file.reference, params: {} })).toMatchObject(OUTCOME);
    // The archive and the file.
    expect(await listObjects()).toHaveLength(2);
    expect(
      (await readdir(join(world.dataDirectory, "objects"))).filter((name) => name !== "incoming"),
    ).toEqual([]);
  });

  test("user code cannot change what later runs read, neither through its input nor where copies are kept", async () => {
    const { reference, sha256 } = await storeFile(world, pool, "map.json", CONTENT);
    const cached = join(world.dataDirectory, "object-cache", sha256.slice(0, 2), sha256);
    const body = { dataRef: reference, params: { paths: [cached, "/input/data", "/in/data"] } };
    for (let time = 0; time < 3; time++) expect(await run(body)).toMatchObject(OUTCOME);
    expect(await listCopies()).toContain(join(sha256.slice(0, 2), sha256));
  });

  test("a data pool is a folder of files that were fetched from the bucket, on a host that has seen none of them", async () => {
    const contents = { "a.txt": "one", "b.txt": "two" };
    const dataPoolId = await createPool(world, "Folder");
    for (const [name, content] of Object.entries(contents)) await storeFile(world, dataPoolId, name, content);
    const { serviceKey: key } = await world.deploy(await world.createProject("folder", FOLDER_PROGRAM));
    await rm(join(world.dataDirectory, "object-cache"), { recursive: true, force: true });
    const job = await startJob(world, key, { params: { maps: { dataPoolId } } });
    expect(await finishJob(world, job)).toMatchObject({ result: contents });
  });

  test("goes on with what is in the bucket when its processes were killed and all copies on the host are gone", async () => {
    const { reference } = await storeFile(world, pool, "map.json", CONTENT);
    const body = { dataRef: reference, params: {} };
    expect(await run(body)).toMatchObject(OUTCOME);
    await worker.kill();
    const waiting = await startJob(world, serviceKey, body);
    expect(await listCopies()).not.toEqual([]);
    for (const name of ["object-cache", "versions"])
      await rm(join(world.dataDirectory, name), { recursive: true });
    await startWorker();
    expect(await finishJob(world, waiting)).toMatchObject(OUTCOME);
    expect((await world.deploy(await world.createProject("tour", `${PROGRAM}\n# again\n`))).changed).toBe(
      true,
    );
    expect(await run(body)).toMatchObject(OUTCOME);
  });
});
