import { once } from "node:events";
import { chmod, mkdtemp, readFile, readdir, rm, stat } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getuid, kill } from "node:process";
import { afterEach, describe, expect, test } from "vitest";
import { request } from "../../tools/platform-client.ts";
import { spawnPlatform } from "../../tools/platform-process.ts";
import { ORDINARY_PLATFORM } from "../support/confined-platform.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const SLOW = "import time\n\ndef run():\n    time.sleep(1)\n    return {'done': True}\n";

let world: World | undefined;

afterEach(async () => {
  await world?.close();
  world = undefined;
});

function portsOf({ platform }: World) {
  return {
    gatewayPort: Number(new URL(platform.gatewayUrl).port),
    apiPort: Number(new URL(platform.apiUrl).port),
  };
}

function isAlive(pid: number): boolean {
  try {
    return kill(pid, 0);
  } catch {
    return false;
  }
}

type RefusedStart = [what: string, flags: readonly string[], reason: RegExp, isOrdinary?: true];

/** Root may do these. */
const AS_ORDINARY_USER: readonly RefusedStart[] =
  getuid?.() === 0
    ? [
        [
          "a folder of another user",
          ["--data-dir", "/root/platform"],
          /permission denied.*--data-dir\.$/,
          true,
        ],
        ["a port for root alone", ["--api-port", "80"], /port 80: permission denied.*--api-port\.$/, true],
      ]
    : [];

describe("a start that cannot work says why in one sentence, and starts nothing", () => {
  test.each<RefusedStart>([
    ["a key to be replaced where no platform is", ["rotate-signing-key"], /no platform in .*--data-dir\.$/],
    ["a folder where none can be made", ["--data-dir", "/proc/platform"], /\/proc\/platform.*--data-dir\.$/],
    ["a file as a folder", ["--data-dir", "/dev/null/data"], /a part of the path is a file.*--data-dir\.$/],
    ["another machine's address", ["--host", "192.0.2.1"], /does not have that address.*--host\.$/],
    ["a port in use", ["--api-port", "TAKEN"], /another program listens there.*--api-port\.$/],
    ...AS_ORDINARY_USER,
    ["a setting that is none", ["--role", "king"], /--role is "king"; it must be one of /],
  ])("%s", async (_what, flags, reason, isOrdinary) => {
    const directory = await mkdtemp(join(tmpdir(), "platform-start-"));
    await chmod(directory, 0o777);
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const platform = await spawnPlatform({
      dataDirectory: directory,
      flags: flags.map((flag) => (flag === "TAKEN" ? String(port) : flag)),
      ...(isOrdinary ? { command: ORDINARY_PLATFORM } : {}),
    });
    try {
      expect(await once(platform.process, "close")).toEqual([1, null]);
      expect(platform.readLog().trim()).toMatch(reason);
      expect(platform.readLog().trim().split("\n")).toHaveLength(1);
      expect(await readdir(directory)).toEqual([]);
    } finally {
      await platform.kill();
      other.close();
      await rm(directory, { recursive: true });
    }
  });
});

describe("a platform process", () => {
  test("lets running executions end on SIGTERM, and keeps what is pending for the next start", async () => {
    world = await createWorld({ flags: ["--worker-cpu", "0.5"] });
    const { serviceKey } = await world.deploy(await world.createProject("slow", SLOW.replace("(1)", "(6)")));
    const consumer = await world.subscribe(serviceKey);
    const first = (await consumer.start({})).body.id;
    await expect.poll(async () => (await consumer.call("GET", first)).body["status"]).toBe("RUNNING");
    await consumer.start({});
    const last = (await consumer.start({})).body.id;
    await world.platform.stop();
    await world.start(portsOf(world));
    expect((await consumer.call("GET", first)).body).toMatchObject({ status: "SUCCEEDED" });
    expect((await consumer.finish(last)).status).toBe("SUCCEEDED");
  });

  test("writes the first login once, for its owner alone", async () => {
    world = await createWorld();
    expect((await stat(world.platform.bootstrapFile)).mode & 0o777).toBe(0o600);
    expect(Object.keys(world.login)).toEqual([
      "apiUrl",
      "gatewayUrl",
      "email",
      "password",
      "organizationId",
      "personalAccessToken",
    ]);
    await world.platform.stop();
    const again = await world.start({ flags: ["--bootstrap", join(world.directory, "again.json")] });
    await expect(stat(join(world.directory, "again.json"))).rejects.toThrow("ENOENT");
    expect(
      (await request("GET", `${again.apiUrl}/api/me`, { token: world.login.personalAccessToken })).status,
    ).toBe(200);
  });

  test("says what it has to say in lines of JSON, and no library says anything beside them", async () => {
    world = await createWorld();
    await world.platform.stop();
    const lines = world.platform.readLog().trim().split("\n");
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.filter((line) => !line.startsWith("{"))).toEqual([]);
  });

  test("ends on SIGTERM, with its PostgreSQL, also where its data directory was removed", async () => {
    world = await createWorld();
    const { process: child } = world.platform;
    const postgres = await readFile(join(world.dataDirectory, "postgres/data/postmaster.pid"), "utf8");
    await rm(world.dataDirectory, { recursive: true, force: true, maxRetries: 5 });
    child.kill("SIGTERM");
    await expect.poll(() => child.exitCode ?? child.signalCode).not.toBeNull();
    await expect.poll(() => isAlive(Number(postgres.split("\n")[0]))).toBe(false);
  });

  test("answers alive and ready on both ports", async () => {
    world = await createWorld({ role: "gateway" });
    for (const url of [world.platform.gatewayUrl, world.platform.apiUrl]) {
      expect((await request("GET", `${url}/healthz`)).body).toEqual({ status: "alive" });
      expect((await request("GET", `${url}/readyz`)).body).toEqual({ status: "ready" });
    }
  });

  test("gets another signing key while it runs, which ends the tokens issued before", async () => {
    world = await createWorld();
    const { serviceKey } = await world.deploy(await world.createProject("slow", SLOW));
    const consumer = await world.subscribe(serviceKey);
    expect((await consumer.call("GET", "")).status).toBe(200);
    const rotation = await spawnPlatform({
      dataDirectory: world.dataDirectory,
      command: ["npm", "start", "--silent", "--", "retire-signing-keys"],
      ...portsOf(world),
    });
    expect([await once(rotation.process, "close"), rotation.readLog()]).toEqual([
      [0, null],
      expect.stringContaining("a new signing key is in use"),
    ]);
    await expect.poll(async () => (await consumer.call("GET", "")).status).toBe(401);
  });

  test(
    "says that a rotation of the signing key retired none, as with another database, that no usage differs, and what is stored",
    { tags: "full" },
    async () => {
      world = await createWorld({ role: "gateway" });
      const rotation = await spawnPlatform({
        dataDirectory: world.dataDirectory,
        command: ["npm", "start", "--silent", "--", "rotate-signing-key"],
      });
      expect([await once(rotation.process, "close"), rotation.readLog()]).toEqual([
        [0, null],
        expect.stringContaining("no signing key was there to replace"),
      ]);
      const usage = {
        "add-usage": "the usage that was missing was added",
        "check-usage": "usage is what the executions that are still stored add up to",
        storage: "nothing was changed",
      };
      for (const [command, text] of Object.entries(usage)) {
        const ended = await spawnPlatform({
          dataDirectory: world.dataDirectory,
          command: ["npm", "start", "--silent", "--", command],
        });
        expect([await once(ended.process, "close"), ended.readLog()]).toEqual([
          [0, null],
          expect.stringContaining(text),
        ]);
      }
    },
  );

  test("works on the server that DATABASE_URL names, beside others on it", { tags: "full" }, async () => {
    world = await createWorld({ role: "gateway,control,builder" });
    const socket = join(world.dataDirectory, "postgres", "socket");
    await world.start({
      role: "worker",
      environment: { DATABASE_URL: `postgresql://platform@/platform?host=${encodeURIComponent(socket)}` },
    });
    const { serviceKey } = await world.deploy(await world.createProject("slow", SLOW));
    const consumer = await world.subscribe(serviceKey);
    const { body } = await consumer.start({});
    expect((await consumer.finish(body.id)).status).toBe("SUCCEEDED");
  });
});
