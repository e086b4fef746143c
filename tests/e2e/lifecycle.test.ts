import { stat } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { request } from "../../tools/platform-client.ts";
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

describe("a platform process", () => {
  test("lets running executions end on SIGTERM, and keeps what is pending for the next start", async () => {
    world = await createWorld({ flags: ["--worker-cpu", "0.5"] });
    const { serviceKey } = await world.deploy(await world.createProject("slow", SLOW));
    const consumer = await world.subscribe(serviceKey);
    const ids: string[] = [];
    for (let count = 0; count < 4; count++) ids.push((await consumer.start({})).body.id);
    const [first, last] = [ids[0] ?? "", ids.at(-1) ?? ""];
    await expect
      .poll(async () => (await consumer.call("GET", first)).body["status"], { timeout: 10_000 })
      .toBe("RUNNING");
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

  test("answers alive and ready on both ports", async () => {
    world = await createWorld({ role: "gateway" });
    for (const url of [world.platform.gatewayUrl, world.platform.apiUrl]) {
      expect((await request("GET", `${url}/healthz`)).body).toEqual({ status: "alive" });
      expect((await request("GET", `${url}/readyz`)).body).toEqual({ status: "ready" });
    }
  });

  test("works on a PostgreSQL that DATABASE_URL names, beside others on it", async () => {
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
