import { kill } from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { createWorld } from "../support/world.ts";
import type { Consumer, World } from "../support/world.ts";

const LEASE_SECONDS = 3;
const FLAGS = ["--lease-seconds", String(LEASE_SECONDS), "--worker-cpu", "4", "--worker-memory", "8"];
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
