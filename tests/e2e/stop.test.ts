import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kill } from "node:process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { request } from "../../tools/platform-client.ts";
import { REPOSITORY, spawnPlatform } from "../../tools/platform-process.ts";
import type { PlatformProcess, StartOptions } from "../../tools/platform-process.ts";
import { CONNECT, openLine } from "../support/line.ts";
import { createWorld, findProcesses } from "../support/world.ts";
import type { Consumer, World } from "../support/world.ts";

const TERMINAL = fileURLToPath(new URL("../support/terminal.py", import.meta.url));
const NPM_START = ["npm", "start", "--silent", "--"] as const;
const IN_A_TERMINAL = ["python3", TERMINAL, ...NPM_START] as const;
const CTRL_C = "\u0003";
const PATIENCE = { timeout: 180_000, interval: 50 };
/** Runs until the test ends its connection. */
const PROGRAM = `
import socket

def run(data):
    ${CONNECT}
    line.recv(1)
    return {"done": True}
`;

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

interface Gate {
  readonly runs: () => number;
  readonly open: () => void;
}

/** Executions that have begun wait here. */
async function createGate({ dataDirectory }: World): Promise<Gate> {
  const waiting: Socket[] = [];
  const line = await openLine(dataDirectory, (socket) => void waiting.push(socket));
  const open = () => waiting.forEach((socket) => socket.end("k"));
  cleanups.push(async () => {
    open();
    await line.close();
  });
  return { runs: () => waiting.length, open };
}

interface Scene {
  readonly world: World;
  readonly consumer: Consumer;
  readonly gate: Gate;
  /** The execution that runs. */
  readonly id: string;
  readonly exited: Promise<unknown[]>;
}

/** A platform with one running execution. */
async function createScene(
  command: Required<StartOptions>["command"],
  flags: readonly string[] = [],
): Promise<Scene> {
  const world = await createWorld({ command, flags });
  cleanups.push(world.close);
  const exited = once(world.platform.process, "exit");
  const { serviceKey } = await world.deploy(await world.createProject("waiting", PROGRAM));
  const consumer = await world.subscribe(serviceKey);
  const gate = await createGate(world);
  const { id } = (await consumer.start({ data: {} })).body;
  await expect.poll(gate.runs, PATIENCE).toBe(1);
  return { world, consumer, gate, id, exited };
}

function type({ process }: PlatformProcess, keys: string): void {
  process.stdin?.write(keys);
}

async function readStatusAfterRestart({ world, consumer, id }: Scene): Promise<unknown> {
  const [gatewayPort, apiPort] = [world.platform.gatewayUrl, world.platform.apiUrl].map((url) =>
    Number(new URL(url).port),
  );
  await world.start({ ...(gatewayPort ? { gatewayPort } : {}), ...(apiPort ? { apiPort } : {}) });
  return (await consumer.call("GET", id)).body["status"];
}

async function readPostgresLog(dataDirectory: string): Promise<string> {
  return readFile(join(dataDirectory, "postgres", "server.log"), "utf8");
}

describe("Ctrl-C in the terminal of npm start", () => {
  test("lets running executions end, says what it waits for, and leaves no PostgreSQL behind", async () => {
    const scene = await createScene(IN_A_TERMINAL);
    const { platform, dataDirectory } = scene.world;
    type(platform, CTRL_C);
    await expect
      .poll(platform.readLog, PATIENCE)
      .toMatch(/waiting for 1 running execution, at most 30 s.*Ctrl-C/);
    expect((await request("GET", `${platform.gatewayUrl}/readyz`)).status).toBe(503);
    scene.gate.open();
    expect(await scene.exited).toEqual([0, null]);
    expect(await findProcesses(dataDirectory)).toEqual([]);
    expect(await readPostgresLog(dataDirectory)).toContain("database system is shut down");
    expect(await readStatusAfterRestart(scene)).toBe("SUCCEEDED");
  });

  test(
    "ends running executions when it is pressed again later, and still stops PostgreSQL in order",
    { tags: "full" },
    async () => {
      const scene = await createScene(IN_A_TERMINAL, ["--drain-seconds", "3600"]);
      const { platform, dataDirectory } = scene.world;
      type(platform, CTRL_C);
      await expect.poll(platform.readLog, PATIENCE).toContain("waiting for 1 running execution");
      const pressAgain = () => {
        type(platform, CTRL_C);
        return platform.readLog();
      };
      await expect.poll(pressAgain, PATIENCE).toContain("ending what still runs");
      expect(await scene.exited).toEqual([1, null]);
      expect(await findProcesses(dataDirectory)).toEqual([]);
      expect(await readPostgresLog(dataDirectory)).toContain("database system is shut down");
      expect(await readStatusAfterRestart(scene)).toBe("UNKNOWN");
    },
  );

  test.each([
    ["when its folders are there", "objects", ""],
    ["while the database is being made", "postgres/data.new", ""],
    ["while PostgreSQL starts", "postgres/data/postmaster.pid", ""],
    ["while the schema is being made", "postgres", "started the embedded PostgreSQL"],
  ])("stops a start in order, %s", async (_moment, path, text) => {
    const directory = await mkdtemp(join(tmpdir(), "platform-stop-"));
    await chmod(directory, 0o755);
    const dataDirectory = join(directory, "data");
    const platform = await spawnPlatform({ dataDirectory, command: IN_A_TERMINAL });
    const exited = once(platform.process, "exit");
    cleanups.push(async () => {
      await platform.stop();
      await rm(directory, { recursive: true, force: true });
    });
    const readMoment = () =>
      (existsSync(join(dataDirectory, path)) && platform.readLog().includes(text)) || platform.readLog();
    await expect.poll(readMoment, { ...PATIENCE, interval: 2 }).toBe(true);
    type(platform, CTRL_C);
    expect(await exited).toEqual([0, null]);
    expect(await findProcesses(dataDirectory)).toEqual([]);
    expect(platform.readLog()).not.toMatch(/"level":(50|60)|Error/);
  });
});

test.each([
  ["Ctrl-C in its terminal", ["python3", TERMINAL], "cli", CTRL_C],
  // The signal reaches npm and the demo alone, and the platform is only being started.
  ["SIGTERM while it starts", [], "objects", null],
] as const)("%s ends the demo and leaves nothing behind", async (_what, words, moment, keys) => {
  const directory = await mkdtemp(join(tmpdir(), "platform-stop-"));
  await chmod(directory, 0o755);
  cleanups.push(() => rm(directory, { recursive: true, force: true }));
  const [file, ...args] = [...words, "npm", "run", "demo", "--silent", "--", directory];
  const demo = spawn(file ?? "npm", args, { cwd: REPOSITORY });
  const exited = once(demo, "exit");
  await expect.poll(() => existsSync(join(directory, moment)), { ...PATIENCE, interval: 2 }).toBe(true);
  if (keys === null) demo.kill("SIGTERM");
  else demo.stdin.write(keys);
  expect(await exited).toEqual([130, null]);
  expect(await findProcesses(directory)).toEqual([]);
});

test("a client that does not finish its request does not hold a stop up", async () => {
  const world = await createWorld();
  cleanups.push(world.close);
  const { hostname, port } = new URL(world.platform.apiUrl);
  const client = connect(Number(port), hostname);
  const head = [
    "POST /api/applications HTTP/1.1",
    `host: ${hostname}`,
    `authorization: Bearer ${world.login.personalAccessToken}`,
    "content-type: application/json",
    "content-length: 100",
    "expect: 100-continue",
  ];
  client.write(`${head.join("\r\n")}\r\n\r\n{"name":`);
  const ended = text(client);
  await once(client, "readable");
  await world.platform.stop();
  // Not even the answer that the time for a request is over: the stop came earlier.
  expect(await ended).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  expect(world.platform.process.exitCode).toBe(0);
});

test(
  "a signal to the whole process group, as service managers send it, is one stop",
  { tags: "full" },
  async () => {
    const scene = await createScene(NPM_START);
    const { platform, dataDirectory } = scene.world;
    kill(-(platform.process.pid ?? 0), "SIGTERM");
    await expect.poll(platform.readLog, PATIENCE).toContain("waiting for 1 running execution");
    scene.gate.open();
    await scene.exited;
    await expect.poll(() => findProcesses(dataDirectory), PATIENCE).toEqual([]);
    expect(await readPostgresLog(dataDirectory)).toContain("database system is shut down");
    expect(await readStatusAfterRestart(scene)).toBe("SUCCEEDED");
  },
);
