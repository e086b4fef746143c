import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { kill } from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { request } from "../../tools/platform-client.ts";
import { createWorld } from "../support/world.ts";
import type { Consumer, World } from "../support/world.ts";

const LEASE_SECONDS = 5;
const CAPACITY = ["--worker-cpu", "4", "--worker-memory", "8"];
const FLAGS = ["--lease-seconds", String(LEASE_SECONDS), ...CAPACITY];
const PROGRAM = `
import time

def run(data):
    print("began", flush=True)
    time.sleep(data["seconds"])
    return {"slept": data["seconds"]}
`;

let world: World | undefined;

afterEach(async () => {
  await world?.close();
  world = undefined;
});

/** Starts one that outlasts the test; resolves when its user code has begun. */
async function startLongRun(consumer: Consumer): Promise<string> {
  const { body } = await consumer.start({ data: { seconds: 600 } });
  await expect
    .poll(async () => (await consumer.call<readonly unknown[]>("GET", `${body.id}/log`)).body.length, {
      timeout: 60_000,
      interval: 20,
    })
    .toBeGreaterThan(0);
  return body.id;
}

const readReadiness = (url: string) =>
  request<{ readonly status?: string; readonly detail?: string }>("GET", `${url}/readyz`);

describe("a worker that is gone or was away", () => {
  test("leaves nothing RUNNING when it is killed and no other worker ever comes", async () => {
    world = await createWorld({ role: "gateway,control,builder", flags: FLAGS });
    const worker = await world.start({ role: "worker", flags: FLAGS });
    const { serviceKey } = await world.deploy(await world.createProject("lonely", PROGRAM));
    const consumer = await world.subscribe(serviceKey);
    const id = await startLongRun(consumer);
    await worker.kill();
    expect((await consumer.finish(id, 60)).status).toBe("UNKNOWN");
    const { body } = await consumer.call("GET", `${id}/result`);
    expect(body).toMatchObject({ code: "WORKER_LOST" });
  });

  test("lives on after a pause longer than its lease: what ran is settled, and the next runs", async () => {
    world = await createWorld({ role: "all", flags: FLAGS });
    const { serviceKey } = await world.deploy(await world.createProject("paused", PROGRAM));
    const consumer = await world.subscribe(serviceKey);
    const id = await startLongRun(consumer);
    const { process } = world.platform;
    kill(process.pid ?? Number.NaN, "SIGSTOP");
    const stoppedAt = performance.now();
    // The pause itself is what is tried: longer than the lease and all patience.
    while (performance.now() - stoppedAt < LEASE_SECONDS * 1_500) await delay(20);
    kill(process.pid ?? Number.NaN, "SIGCONT");
    expect((await consumer.finish(id, 60)).status).toBe("UNKNOWN");
    const { body } = await consumer.start({ data: { seconds: 0 } });
    expect((await consumer.finish(body.id, 60)).status).toBe("SUCCEEDED");
    expect([process.exitCode, process.signalCode]).toEqual([null, null]);
  });
});

test("a worker that cannot start anything says so at /readyz, loses nothing, and recovers by itself", async () => {
  // No worker is lost here, however slow the machine is.
  const flags = ["--lease-seconds", "120", ...CAPACITY];
  world = await createWorld({ role: "gateway,control,builder", flags });
  const { platform, dataDirectory } = world;
  const consumers: Consumer[] = [];
  for (const name of ["first", "second", "third"]) {
    const { serviceKey } = await world.deploy(await world.createProject(name, PROGRAM));
    consumers.push(await world.subscribe(serviceKey));
  }
  const worker = await world.start({ role: "worker", flags });
  // A file is in the place of the folder of unpacked versions: no version can be prepared.
  const versions = join(dataDirectory, "versions");
  await rename(versions, `${versions}-away`);
  await writeFile(versions, "");
  const ids = await Promise.all(
    consumers.map(async (consumer) => (await consumer.start({ data: { seconds: 0 } })).body.id),
  );
  await expect
    .poll(async () => (await readReadiness(worker.gatewayUrl)).status, { timeout: 60_000, interval: 50 })
    .toBe(503);
  expect((await readReadiness(worker.gatewayUrl)).body.detail).toContain("(worker)");
  expect(await readReadiness(platform.gatewayUrl)).toMatchObject({ status: 200, body: { status: "ready" } });
  await rm(versions);
  await rename(`${versions}-away`, versions);
  for (const [index, consumer] of consumers.entries())
    expect(await consumer.finish(ids[index] ?? "")).toMatchObject({ status: "SUCCEEDED" });
  expect(await readReadiness(worker.gatewayUrl)).toMatchObject({ status: 200, body: { status: "ready" } });
});
