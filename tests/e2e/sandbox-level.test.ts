import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { request } from "../../tools/platform-client.ts";
import { spawnPlatform } from "../../tools/platform-process.ts";
import { CONFINED_PLATFORM } from "../support/confined-platform.ts";
import { createWorld } from "../support/world.ts";

const CONNECT = "import socket\n\ndef run():\n    socket.create_connection(('192.0.2.1', 80), 1)\n";
/** A package that is built from its source, which runs code of its own. */
const BUILT = {
  "platform.json": JSON.stringify({ name: "built", runtime: "PYTHON_TEMPLATE", sourceBuilds: true }),
  "package/setup.py": "from setuptools import setup\nsetup(name='package', version='1')\n",
  "requirements.txt": "./package\n",
};

test("a worker below its least level does not start, says what is missing and how to get it, and leaves the database as it is", async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), "platform-level-"));
  const platform = await spawnPlatform({ dataDirectory, command: CONFINED_PLATFORM });
  try {
    expect(await once(platform.process, "close")).toEqual([1, null]);
    const log = platform.readLog();
    expect(log).toContain("This machine can isolate user code at level C only; level B is required.");
    expect(log).toMatch(/^- user namespaces: .* Allow unprivileged user namespaces /mu);
    expect(log).not.toContain("migrated the database");
    expect(log).toMatch(/^Or lower --sandbox-min \(PLATFORM_SANDBOX_MIN\)\. Isolation level C: /mu);
  } finally {
    await platform.kill();
    await rm(dataDirectory, { recursive: true });
  }
});

test("the level of a worker is at /readyz and on each execution; a version that has no network is told so, and one that runs code of packages is refused", async () => {
  const world = await createWorld({ command: CONFINED_PLATFORM, flags: ["--sandbox-min", "C"] });
  try {
    const { body } = await request("GET", `${world.platform.apiUrl}/readyz`);
    expect(body).toMatchObject({ status: "ready", sandbox: { level: "C" } });
    const { serviceKey } = await world.deploy(await world.createProject("lonely", CONNECT));
    const consumer = await world.subscribe(serviceKey);
    const { id } = (await consumer.start({})).body;
    expect(await consumer.finish(id)).toMatchObject({ status: "FAILED", sandboxLevel: "C" });
    expect((await consumer.call("GET", `${id}/result`)).body).toMatchObject({
      code: "CONNECTION_ERROR",
      detail: expect.stringContaining("The service has no network: "),
    });
    const { stderr, code } = await world.cli(await world.createProject("built", CONNECT, BUILT), "up");
    expect([code, stderr]).toEqual([1, expect.stringContaining("its isolation level C")]);
  } finally {
    await world.close();
  }
});
