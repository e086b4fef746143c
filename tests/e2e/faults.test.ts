import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { CONNECT, openLine } from "../support/line.ts";
import { killPostgres } from "../support/postmaster.ts";
import { createWorld } from "../support/world.ts";
import type { Consumer, World } from "../support/world.ts";
import type { StatusRecord } from "../../tools/platform-client.ts";
import { findFreePort } from "../../tools/platform-process.ts";
import type { PlatformProcess } from "../../tools/platform-process.ts";

const EXECUTIONS = 200;
const DAY_MS = 24 * 3_600_000;
const LEASE_SECONDS = "3";
/** A start that is refused is tried anew for about half a minute. */
const MAX_TRIES = 600;
const FLAGS = ["--lease-seconds", LEASE_SECONDS, "--worker-cpu", "4", "--worker-memory", "8"];
/** As many as the worker has room for (see createProject). */
const AT_ONCE = 16;
/** Half is acknowledged before the kill. Of the rest only what was on its way at that moment may have no outcome. */
const LEAST = EXECUTIONS / 2 - AT_ONCE;
/** Half of them are quick, half long enough to be in flight when something is killed. */
const PROGRAM = `
import os, socket, time

def run(data):
    ${CONNECT}
    with line:
        line.sendall((os.environ["SERVICE_EXECUTION_ID"] + "\\n").encode())
        line.recv(1)
    time.sleep(data["seconds"])
    return {"number": data["number"]}
`;

type Counts = Record<StatusRecord["status"], number>;

interface StartLog {
  readonly ids: readonly string[];
  readonly close: () => Promise<void>;
}

let world: World | undefined;
let starts: StartLog | undefined;

afterEach(async () => {
  await world?.close();
  await starts?.close();
  world = undefined;
  starts = undefined;
});

/** User code reports its id here before it does anything else, and continues once the id is recorded. */
async function createStartLog({ dataDirectory }: World): Promise<StartLog> {
  const ids: string[] = [];
  const { close } = await openLine(dataDirectory, (socket) => {
    socket.setEncoding("utf8").once("data", (line: string) => {
      ids.push(line.trim());
      socket.end("k");
    });
  });
  return { ids, close };
}

/** Starts executions until so many are acknowledged; a refused or broken start is tried anew, as a client would. Returns the input of each id. */
async function startMany(
  consumer: Consumer,
  onAcknowledged: (count: number) => void,
): Promise<ReadonlyMap<string, number>> {
  const acknowledged = new Map<string, number>();
  let next = 0;
  const startNext = async (): Promise<void> => {
    while (next < EXECUTIONS) {
      const number = next++;
      const json = { data: { number, seconds: number % 2 === 0 ? 0 : 0.3 } };
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const answer = await consumer.start(json).catch(() => null);
        if (answer?.status === 201) {
          acknowledged.set(answer.body.id, number);
          onAcknowledged(acknowledged.size);
          break;
        }
        await delay(50);
      }
    }
  };
  await Promise.all(Array.from({ length: 16 }, startNext));
  return acknowledged;
}

/** Acknowledged is durable, started at most once, and everything is settled: with its own result, or without outcome where it ran when something was killed. */
async function expectKept(
  consumer: Consumer,
  log: StartLog,
  acknowledged: ReadonlyMap<string, number>,
): Promise<Counts> {
  const counts: Counts = { SUCCEEDED: 0, UNKNOWN: 0, FAILED: 0, PENDING: 0, RUNNING: 0 };
  for (const [id, number] of acknowledged) {
    const { status } = await consumer.finish(id);
    counts[status] += 1;
    if (status === "SUCCEEDED") {
      const { body } = await consumer.call("GET", `${id}/result`);
      expect(body["result"]).toEqual({ number });
    }
  }
  expect(log.ids).toHaveLength(new Set(log.ids).size);
  expect(acknowledged.size).toBe(EXECUTIONS);
  expect(counts.SUCCEEDED + counts.UNKNOWN).toBe(EXECUTIONS);
  return counts;
}

interface Scene {
  readonly world: World;
  readonly consumer: Consumer;
  readonly log: StartLog;
}

async function prepare(
  roles: string,
  others: (world: World) => Promise<unknown> = async () => undefined,
  flags: readonly string[] = [],
): Promise<Scene> {
  world = await createWorld({ role: roles, flags: [...FLAGS, ...flags] });
  await others(world);
  const { serviceKey } = await world.deploy(await world.createProject("faulty", PROGRAM));
  starts = await createStartLog(world);
  return { world, consumer: await world.subscribe(serviceKey), log: starts };
}

/** User code must have begun, or a fault could not start anything twice. */
async function waitForStarts(log: StartLog): Promise<void> {
  await expect.poll(() => log.ids.length, { interval: 5 }).toBeGreaterThan(20);
}

/** Runs the scene and does this in the middle of it. */
async function disturb({ consumer, log }: Scene, fault: () => Promise<unknown>): Promise<Counts> {
  let done: Promise<unknown> = Promise.resolve();
  const acknowledged = await startMany(consumer, (count) => {
    if (count === EXECUTIONS / 2) done = waitForStarts(log).then(fault);
  });
  await done;
  return expectKept(consumer, log, acknowledged);
}

describe("no acknowledged execution is lost and none is started twice", () => {
  test("when a worker is killed, and each is used once", async () => {
    let worker: PlatformProcess | undefined;
    const startWorker = async (world: World) =>
      (worker = await world.start({ role: "worker", flags: FLAGS }));
    const scene = await prepare("gateway,control,builder", startWorker);
    const counts = await disturb(scene, async () => {
      await worker?.kill();
      await startWorker(scene.world);
    });
    expect(counts.SUCCEEDED).toBeGreaterThanOrEqual(LEAST);
    const { body } = await scene.world.api<{ readonly items: readonly Record<string, unknown>[] }>(
      "GET",
      `/usage?by=subscription&from=${new Date(Date.now() - DAY_MS).toISOString().slice(0, 10)}`,
    );
    const { SUCCEEDED: succeeded, UNKNOWN: unknown } = counts;
    expect(body.items).toMatchObject([
      { executions: EXECUTIONS, succeeded, unknown, failed: 0, notCharged: unknown },
    ]);
    expect(body.items[0]?.["cpuSeconds"]).toBeGreaterThan(0);
    expect(counts.UNKNOWN).toBeGreaterThan(0);
  });

  test("when the gateway is killed", async () => {
    const gatewayPort = await findFreePort();
    let gateway: PlatformProcess | undefined;
    const startGateway = async (world: World) =>
      (gateway = await world.start({ role: "gateway", gatewayPort, flags: FLAGS }));
    const scene = await prepare("control,builder,worker", startGateway, [
      "--gateway-url",
      `http://127.0.0.1:${gatewayPort}`,
      // No worker is lost: not even one that is held up for seconds.
      "--lease-seconds",
      "60",
    ]);
    const counts = await disturb(scene, async () => {
      await gateway?.kill();
      await startGateway(scene.world);
    });
    expect(counts.SUCCEEDED).toBe(EXECUTIONS);
  });

  test("when everything is killed", async () => {
    const scene = await prepare("all");
    const { platform, dataDirectory } = scene.world;
    const counts = await disturb(scene, async () => {
      await Promise.all([platform.kill(), killPostgres(dataDirectory)]);
      const [gatewayPort, apiPort] = [platform.gatewayUrl, platform.apiUrl].map((url) =>
        Number(new URL(url).port),
      );
      await scene.world.start({
        flags: FLAGS,
        ...(gatewayPort ? { gatewayPort } : {}),
        ...(apiPort ? { apiPort } : {}),
      });
    });
    expect(counts.SUCCEEDED).toBeGreaterThanOrEqual(LEAST);
  });

  test("when PostgreSQL is killed", async () => {
    const scene = await prepare("all");
    const counts = await disturb(scene, () => killPostgres(scene.world.dataDirectory));
    expect(counts.SUCCEEDED).toBeGreaterThanOrEqual(LEAST);
    expect(scene.world.platform.process.exitCode ?? scene.world.platform.process.signalCode).toBeNull();
  });
});
