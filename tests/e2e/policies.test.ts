import { afterEach, expect, test } from "vitest";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const PROGRAM = `
import time

def run(data):
    while data.get("forever"):
        time.sleep(0.1)
    return {}
`;

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

test("a policy limits how long executions run without a new version, for jobs and applications, until it is taken back", async () => {
  world = await createWorld();
  const { serviceKey } = await world.deploy(await world.createProject("ruled", PROGRAM));
  const policy = async (...options: string[]) => {
    const set = await world?.cli(world.directory, "services", "policy", "ruled", ...options);
    expect(set).toMatchObject({ code: 0 });
    return set?.stdout ?? "";
  };
  expect(await policy("--timeout", "1", "--priority", "low")).toMatch(/Timeout +1 s\n.*Priority +low/su);
  const job = await world.cli(world.directory, "run", "ruled", "-d", '{"forever": true}', "--json");
  expect(job.code).toBe(1);
  expect(JSON.parse(job.stdout)).toMatchObject({ status: "FAILED", code: "TIMEOUT" });
  const consumer = await world.subscribe(serviceKey);
  const { id } = (await consumer.start({ data: { forever: true } })).body;
  expect((await consumer.finish(id)).status).toBe("FAILED");
  expect((await consumer.call("GET", `${id}/result`)).body).toMatchObject({ code: "TIMEOUT" });

  expect(await policy("--timeout", "0")).toContain("as the version says");
  expect(await policy("--revisions")).toMatch(/^2 .*\n1 .*"timeoutSeconds":1/mu);
  const other = await world.cli(world.directory, "services", "policy", "ruled", "--priority", "high");
  expect(other.code).toBe(1);
  expect(other.stderr).toContain("--high-priority-organizations");
});
