import { createHash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { fetchAccessToken } from "../../tools/platform-client.ts";
import { createSmallDisk, fillDisk, findMountFault, freeDisk } from "../support/small-disk.ts";
import { listStored } from "../support/s3-store.ts";
import { createWorld } from "../support/world.ts";
import type { Consumer, World } from "../support/world.ts";

const MINUTE = 60_000;
const MEGABYTE = 1_048_576;
const CAPACITY = ["--worker-cpu", "2", "--worker-memory", "4"];
/** Digits that repeat after a long time: what is sent twice, or left out, shows. */
const PROGRAM = `
import hashlib, os, time

def run(data):
    text = "".join(hashlib.sha256(b"%d" % n).hexdigest() for n in range(data["bytes"] // 64))
    print("made", flush=True)
    # The disk of the platform, as the project lies on it.
    while data.get("untilFull") and os.statvfs(".").f_bavail * os.statvfs(".").f_frsize > 40_000_000:
        time.sleep(0.05)
    return {"text": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}
`;
const BYTES = 54 * MEGABYTE;
/** Less than the program waits for, and enough for PostgreSQL to begin a segment of its log. */
const LEFT_FREE = 24 * MEGABYTE;
interface Answer {
  readonly result: { readonly text: string; readonly sha256: string };
}

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

async function deploy(opened: World): Promise<Consumer> {
  const platform = JSON.stringify({
    name: "large",
    runtime: "PYTHON_TEMPLATE",
    resources: { cpu: 1, memory: 1 },
  });
  const project = await opened.createProject("large", PROGRAM, { "platform.json": platform });
  const { serviceKey } = await opened.deploy(project);
  return opened.subscribe(serviceKey);
}

async function make(consumer: Consumer, bytes: number): Promise<string> {
  const { status, body } = await consumer.start({ data: { bytes } });
  expect(status).toBe(201);
  expect((await consumer.finish(body.id)).status).toBe("SUCCEEDED");
  return body.id;
}

const download = (consumer: Consumer, id: string, headers: Record<string, string> = {}) =>
  fetch(`${consumer.endpoint}${id}/result`, {
    headers: { authorization: `Bearer ${consumer.token}`, accept: "application/json", ...headers },
  });

function expectWhole(text: string): void {
  const { result } = JSON.parse(text) as Answer;
  expect(createHash("sha256").update(result.text).digest("hex")).toBe(result.sha256);
}

test("a result of 54 MB comes whole, in ranges, and once for an ETag", { timeout: 5 * MINUTE }, async () => {
  world = await createWorld({ flags: CAPACITY });
  const consumer = await deploy(world);
  const id = await make(consumer, BYTES);
  const response = await download(consumer, id);
  const body = Buffer.from(await response.arrayBuffer());
  expect(response.status).toBe(200);
  expect(Number(response.headers.get("content-length"))).toBe(body.length);
  expect(body.length).toBeGreaterThan(BYTES - 64);
  expectWhole(body.toString());

  const etag = response.headers.get("etag") ?? "";
  const rest = await download(consumer, id, { range: `bytes=${BYTES / 2}-`, "if-range": etag });
  expect(rest.status).toBe(206);
  expect(Buffer.from(await rest.arrayBuffer()).equals(body.subarray(BYTES / 2))).toBe(true);
  expect((await download(consumer, id, { "if-none-match": etag })).status).toBe(304);

  const job = await world.cli(join(world.directory, "large"), "run", "--json", "--data", '{"bytes":2000000}');
  expect([job.code, job.stderr]).toEqual([0, expect.any(String)]);
  expectWhole(job.stdout);
});

test(
  "a result above the limit fails with the limit, and nothing of it is kept",
  { timeout: 3 * MINUTE },
  async () => {
    world = await createWorld({ flags: [...CAPACITY, "--max-result", "0.002"] });
    const consumer = await deploy(world);
    // The archive of the project.
    const before = await listStored(world.dataDirectory);
    expect(before).not.toEqual([]);
    const { body } = await consumer.start({ data: { bytes: 3 * MEGABYTE } });
    expect((await consumer.finish(body.id)).status).toBe("FAILED");
    const { body: failure } = await consumer.call("GET", `${body.id}/result`);
    expect(failure).toMatchObject({
      code: "RESULT_TOO_LARGE",
      detail: expect.stringContaining("the limit is 2147483 bytes"),
    });
    expect(await listStored(world.dataDirectory)).toEqual(before);
  },
);

test(
  "kill -9 of the gateway while it sends a result gives nobody a part of it for the whole",
  { timeout: 5 * MINUTE, tags: "full" },
  async () => {
    world = await createWorld({ flags: CAPACITY });
    const gateway = await world.start({ role: "gateway" });
    const consumer = await deploy(world);
    const id = await make(consumer, BYTES);
    const { pathname } = new URL(consumer.endpoint);
    // A token is for the gateway that gave it.
    const token = await fetchAccessToken(gateway.gatewayUrl, consumer.subscription);
    const endpoint = `${gateway.gatewayUrl}${pathname}`;
    const response = await download({ ...consumer, token, endpoint }, id);
    expect(response.status).toBe(200);
    const reader = response.body?.getReader();
    await reader?.read();
    await gateway.kill();
    const readAll = async () => {
      for (let read = await reader?.read(); read?.done === false;) read = await reader?.read();
    };
    // 54 MB do not fit into what the kernel has of a connection.
    await expect(readAll()).rejects.toThrow(/terminated|socket|aborted/u);
  },
);

test(
  "a disk that is full fails the result with a reason, corrupts nothing, and takes the next once there is space",
  { timeout: 5 * MINUTE },
  async ({ skip }) => {
    const fault = findMountFault();
    skip(fault !== null, `nobody may mount a small disk here: ${fault}`);
    world = await createWorld({
      flags: ["--min-free-disk", "0.15", ...CAPACITY],
      disk: createSmallDisk("800m"),
    });
    const { platform, dataDirectory } = world;
    const consumer = await deploy(world);
    const kept = await make(consumer, 3 * MEGABYTE);
    const { body } = await consumer.start({ data: { bytes: BYTES, untilFull: true } });
    const countLines = async () => (await consumer.call<unknown[]>("GET", `${body.id}/log`)).body.length;
    await expect.poll(countLines, { timeout: MINUTE }).toBeGreaterThan(0);
    const pid = platform.process.pid ?? 0;
    const filler = join(dataDirectory, "filler");
    const readStatus = async () => {
      // Again and again: the platform gives its reserve back, and PostgreSQL segments of its log (16 MiB each).
      await fillDisk(pid, filler, { leave: LEFT_FREE });
      return (await consumer.call<{ status: string }>("GET", body.id)).body.status;
    };
    await expect.poll(readStatus, { timeout: MINUTE }).toBe("FAILED");
    const { body: failure } = await consumer.call("GET", `${body.id}/result`);
    expect(failure).toMatchObject({
      code: "RESULT_NOT_STORED",
      detail: expect.stringContaining("has no room for it"),
    });
    expectWhole(await (await download(consumer, kept)).text());
    await freeDisk(pid, filler);
    const startAgain = async () => {
      const { status, body: started } = await consumer.start({ data: { bytes: 3 * MEGABYTE } });
      return status === 201 ? started.id : (await delay(200), "");
    };
    await expect.poll(startAgain, { timeout: MINUTE }).not.toBe("");
    expectWhole(await (await download(consumer, await make(consumer, 3 * MEGABYTE))).text());
  },
);
