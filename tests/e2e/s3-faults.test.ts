import { createHash, randomUUID } from "node:crypto";
import { readFile, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { request } from "../../tools/platform-client.ts";
import { createPool, downloadFile, finishJob, putFile, startJob, storeFile } from "../support/pools.ts";
import type { StoredFile } from "../support/pools.ts";
import { HAS_S3_SERVER, nameBucket, startS3Server } from "../support/s3-store.ts";
import type { ProxyFault, S3Server } from "../support/s3-store.ts";
import { createWorld } from "../support/world.ts";
import type { PlatformProcess } from "../../tools/platform-process.ts";
import type { World } from "../support/world.ts";

const PROGRAM = `
def run(data, params):
    return {"cities": len(data["cities"])}
`;
const SECOND = 1_000;
const CITIES = 200_000;
const WITHIN = { timeout: 200_000 };

interface Readiness {
  readonly status: string;
  readonly faults?: readonly { readonly part: string; readonly code?: string }[];
}

// Without the server, which tools/s3-server.ts builds, there is nothing to test against.
describe.runIf(HAS_S3_SERVER)("a platform whose bucket fails", () => {
  let server: S3Server;
  let environment: Record<string, string>;
  let world: World;
  let startWorker: () => Promise<PlatformProcess>;
  let worker: PlatformProcess;
  let pool: string;
  let serviceKey: string;
  beforeAll(async () => {
    server = await startS3Server();
    environment = nameBucket(await server.makeBucket("objects"));
    world = await createWorld({ role: "gateway,control,builder", environment });
    startWorker = () => world.start({ role: "worker", environment });
    worker = await startWorker();
    pool = await createPool(world);
    ({ serviceKey } = await world.deploy(await world.createProject("tour", PROGRAM)));
    await run({ data: { cities: [] }, params: {} });
  });
  afterAll(async () => {
    await world?.close();
    await server?.close();
  });
  afterEach(() => server.proxy.set("none"));

  /** As clients do: for some seconds after two of its looks in a row have met a fault, the platform refuses content before it is sent. */
  const store = async (content: string): Promise<StoredFile> => {
    let stored = await putFile(world, pool, "map.json", content);
    while (stored.status === 503) {
      await delay(SECOND);
      stored = await putFile(world, pool, "map.json", content);
    }
    expect(stored.status).toBe(201);
    return (await stored.json()) as StoredFile;
  };
  const run = async (body: object) => finishJob(world, await startJob(world, serviceKey, body));
  const cacheFolder = () => join(world.dataDirectory, "object-cache");
  /** What this host has of a file; it is downloaded again then. */
  const forget = ({ sha256 }: StoredFile) => rm(join(cacheFolder(), sha256.slice(0, 2), sha256));
  const readReadiness = async () => (await request<Readiness>("GET", `${world.platform.apiUrl}/readyz`)).body;

  test.each<[string, ProxyFault, number]>([
    ["closes each connection after one request", "one request", Infinity],
    ["is slow", { pauseMs: 2 }, Infinity],
    ["answers the first requests with 503", "fail", 2],
    ["refuses the first connections", "refuse", 2],
    ["cuts its first answers off", { cutAnswerAt: 100_000 }, 2],
    ["cuts the first uploads off", { cutRequestAt: 100_000 }, 2],
  ])("does everything with one that %s", async (_what, fault, times) => {
    const content = createContent();
    server.proxy.set(fault, times);
    const file = await store(content);
    // Who downloads an answer that is cut off asks again itself.
    if (typeof fault === "object" && "cutAnswerAt" in fault) server.proxy.set("none");
    expect(await (await downloadFile(world, pool, file.fileId)).text()).toBe(content);
    server.proxy.set(fault, times);
    const job = await startJob(world, serviceKey, refer(file));
    expect(await finishJob(world, job)).toMatchObject({ result: { cities: CITIES } });
    server.proxy.set(fault, times);
    await forget(file);
    expect(await run(refer(file))).toMatchObject({ result: { cities: CITIES } });
  });

  test("gives nobody a part of a file for the whole", async () => {
    const { fileId } = await store(createContent());
    server.proxy.set({ cutAnswerAt: 500_000 });
    const answer = await downloadFile(world, pool, fileId);
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow("terminated");
  });

  test(
    "says so while it is away, runs what needs nothing of it, and the rest when it is back",
    { tags: "full" },
    async () => {
      const file = await store(createContent());
      // It was looked at, and is known to be a JSON object.
      await run(refer(file));
      server.proxy.set("refuse");
      await forget(file);
      await expect
        .poll(readReadiness, WITHIN)
        .toMatchObject({ status: "degraded", faults: [{ part: "objects", code: "OBJECTS_UNAVAILABLE" }] });
      const refused = await putFile(world, pool, "other.json", createContent());
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "60"]);
      const other = await world.deploy(await world.createProject("other", PROGRAM)).catch(() => null);
      expect(other).toBeNull();
      const waiting = await startJob(world, serviceKey, refer(file));
      await expect.poll(() => worker.readLog(), WITHIN).toContain("could not start a version");
      const byValue = await startJob(world, serviceKey, { data: { cities: [1] }, params: {} });
      server.proxy.set("none");
      expect(await finishJob(world, waiting)).toMatchObject({ result: { cities: CITIES } });
      expect(await finishJob(world, byValue)).toMatchObject({ result: { cities: 1 } });
      await expect.poll(readReadiness, WITHIN).toMatchObject({ status: "ready" });
    },
  );

  test("keeps nothing of an upload whose process was killed on the way to the bucket", async () => {
    const other = await world.start({ role: "control", environment });
    const content = createContent();
    server.proxy.set({ stopRequestAt: 100_000 });
    const sent = fetch(`${other.apiUrl}/api/data-pools/${pool}/files/killed.json`, {
      method: "PUT",
      headers: { authorization: `Bearer ${world.login.personalAccessToken}` },
      body: content,
    }).catch(() => null);
    await expect.poll(() => server.proxy.countBroken(), WITHIN).toBeGreaterThan(0);
    await other.kill();
    expect(await sent).toBeNull();
    server.proxy.set("none");
    const { body } = await world.api<{ items: readonly { name: string }[] }>(
      "GET",
      `/data-pools/${pool}/files`,
    );
    expect(body.items.map(({ name }) => name)).not.toContain("killed.json");
    const file = await storeFile(world, pool, "killed.json", content);
    expect(await (await downloadFile(world, pool, file.fileId)).text()).toBe(content);
    await expectWholeObjects(server.folderOf("objects"));
  });

  test(
    "keeps nothing of a download whose worker was killed, whose execution had not begun and is run by the next",
    { tags: "full" },
    async () => {
      const file = await store(createContent());
      await run(refer(file));
      await forget(file);
      const listIncoming = () => readdir(join(cacheFolder(), "incoming"));
      server.proxy.set({ stopAnswerAt: 100_000 });
      const job = await startJob(world, serviceKey, refer(file));
      await expect.poll(() => server.proxy.countBroken(), WITHIN).toBeGreaterThan(0);
      const begun = await listIncoming();
      await worker.kill();
      server.proxy.set("none");
      worker = await startWorker();
      expect(await finishJob(world, job)).toMatchObject({ result: { cities: CITIES } });
      // That of the process that takes requests is left.
      const left = (await listIncoming()).filter((name) => begun.includes(name));
      expect([begun.length, left.length]).toEqual([2, 1]);
      await expectWholeObjects(cacheFolder());
    },
  );
});

/** A JSON object of more than a megabyte, a new one each time. */
function createContent(): string {
  return JSON.stringify({ cities: Array.from({ length: CITIES }, (_, index) => index), id: randomUUID() });
}

/** The input of an execution. */
function refer({ reference }: StoredFile): object {
  return { dataRef: reference, params: {} };
}

/** Each file that is named by a hash has its content. */
async function expectWholeObjects(folder: string): Promise<void> {
  const paths = (await readdir(folder, { recursive: true })).filter((path) => /[0-9a-f]{64}$/u.test(path));
  expect(paths.length).toBeGreaterThan(0);
  for (const path of paths) {
    const content = await readFile(join(folder, path));
    expect(createHash("sha256").update(content).digest("hex")).toBe(path.slice(-64));
  }
}
