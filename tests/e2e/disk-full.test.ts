import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { quitPostgres } from "../support/postmaster.ts";
import { createSmallDisk, exhaustLog, fillDisk, findMountFault, freeDisk } from "../support/small-disk.ts";
import { createWorld } from "../support/world.ts";
import type { Consumer, World } from "../support/world.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const FLAGS = ["--min-free-disk", "0.15", "--worker-cpu", "4", "--worker-memory", "8"];
const CLIENTS = 4;
const ANSWER_WITHIN = 30 * SECOND;
/** With space on the disk the platform gives up on a database that does not start so many times. */
const MORE_THAN_USUAL_RESTARTS = 6;
const PROGRAM = `
import os, time

def run(data):
    time.sleep(data["seconds"])
    return {"number": data["number"], "padding": os.urandom(data.get("bytes", 0)).hex()}
`;

let world: World | undefined;

afterEach(async () => {
  await world?.close();
  world = undefined;
});

interface Starts {
  /** Number of the execution by its id, for all that were answered 201. */
  readonly acknowledged: Map<string, number>;
  readonly statuses: number[];
  readonly stop: () => Promise<void>;
}

/** Starts executions all the time, with bodies that no database can squeeze. */
function keepStarting(consumer: Consumer): Starts {
  const acknowledged = new Map<string, number>();
  const statuses: number[] = [];
  let next = 0;
  const stopping = new AbortController();
  const startAll = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const number = next++;
      const data = {
        number,
        seconds: number % 4 === 0 ? 2 : 0,
        padding: randomBytes(30_000).toString("base64"),
      };
      const answer = await Promise.race([
        consumer.start({ data }),
        delay(ANSWER_WITHIN, null, { ref: false }),
      ]);
      if (answer === null) throw new Error("a start was not answered");
      statuses.push(answer.status);
      if (answer.status === 201) acknowledged.set(answer.body.id, number);
      else await delay(100);
    }
  };
  const running = Promise.all(Array.from({ length: CLIENTS }, startAll));
  running.catch(() => undefined);
  return {
    acknowledged,
    statuses,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

async function readStatus(consumer: Consumer, id: string): Promise<string> {
  return (await consumer.call<{ status: string }>("GET", id)).body.status;
}

async function expectAllSucceed(consumer: Consumer, acknowledged: ReadonlyMap<string, number>) {
  for (const [id, number] of acknowledged) {
    const { status } = await consumer.finish(id, 120);
    const { body } = await consumer.call<{ result?: { number: number } }>("GET", `${id}/result`);
    expect([status, body.result?.number]).toEqual(["SUCCEEDED", number]);
  }
}

/** From now on, every client is refused at least once. */
async function expectRefusals({ statuses }: Starts): Promise<void> {
  const seen = statuses.length;
  const countRefused = () => statuses.slice(seen).filter((status) => status === 503).length;
  await expect.poll(countRefused, { timeout: MINUTE }).toBeGreaterThanOrEqual(CLIENTS);
}

test(
  "a full disk loses nothing that was acknowledged: starts are refused with 503, and all goes on once there is space",
  { timeout: 10 * MINUTE },
  async ({ skip }) => {
    const mountFault = findMountFault();
    skip(mountFault !== null, `nobody may mount a small disk here: ${mountFault}`);
    world = await createWorld({ flags: FLAGS, disk: createSmallDisk("700m") });
    const { platform, dataDirectory } = world;
    const pid = platform.process.pid ?? 0;
    const [first, second] = [join(dataDirectory, "filler-1"), join(dataDirectory, "filler-2")];
    const { serviceKey } = await world.deploy(await world.createProject("frugal", PROGRAM));
    const consumer = await world.subscribe(serviceKey);
    const starts = keepStarting(consumer);
    await expect.poll(() => starts.acknowledged.size, { timeout: MINUTE }).toBeGreaterThan(20);

    const running = await consumer.start({ data: { number: -1, seconds: 20, bytes: 500_000 } });
    await expect.poll(() => readStatus(consumer, running.body.id), { timeout: MINUTE }).toBe("RUNNING");
    const reserve = `/proc/${pid}/root${join(dataDirectory, "reserve")}`;
    await fillDisk(pid, first, { isEnough: () => !existsSync(reserve) });
    await expectRefusals(starts);
    // What ran when the disk filled up has the reserve to end on.
    const { status } = await consumer.finish(running.body.id);
    const said = status === "SUCCEEDED" ? "" : platform.readLog().slice(-1_400);
    expect({ status, said }).toEqual({ status: "SUCCEEDED", said: "" });

    // The second takes what the reserve had given back. Without room for its log PostgreSQL ends.
    await fillDisk(pid, second);
    await expectRefusals(starts);
    await exhaustLog(pid, dataDirectory);
    const readLogAfterward = async () => {
      // One that has recovered may have freed room for its next log, and would run on.
      await quitPostgres(`/proc/${pid}/root${dataDirectory}`);
      await fillDisk(pid, second);
      return platform.readLog();
    };
    await expect
      .poll(readLogAfterward, { timeout: MINUTE })
      .toContain(`"attempt":${MORE_THAN_USUAL_RESTARTS}`);

    await Promise.all([freeDisk(pid, first), freeDisk(pid, second)]);
    const before = starts.acknowledged.size;
    await expect.poll(() => starts.acknowledged.size, { timeout: MINUTE }).toBeGreaterThan(before + 20);
    await starts.stop();
    // The outcome of starts that were being stored when the database was killed is unknown: they are not answered 503, which means not accepted.
    const others = starts.statuses.filter((status) => ![201, 503].includes(status));
    expect(others).toEqual(others.map(() => 500));
    expect(others.length).toBeLessThanOrEqual(CLIENTS);
    await expectAllSucceed(consumer, starts.acknowledged);
    expect(platform.process.exitCode).toBeNull();
  },
);
