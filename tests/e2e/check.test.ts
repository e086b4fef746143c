import { afterEach, expect, test } from "vitest";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const PROGRAM = `
import time

def run(data: dict):
    time.sleep(0.5)
    return {"n": 1}
`;

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

test("a deployed service keeps every promise of the service API, and what has none of its tokens does not", async () => {
  world = await createWorld({ flags: ["--worker-cpu", "2", "--worker-memory", "4"] });
  const { cli, directory } = world;
  const { serviceKey } = await world.deploy(await world.createProject("tour", PROGRAM));
  const { endpoint, token } = await world.subscribe(serviceKey);
  const check = async (...flags: string[]) => {
    const { code, stdout } = await cli(
      directory,
      "check",
      endpoint,
      "-d",
      "{}",
      "-p",
      "{}",
      "--json",
      ...flags,
    );
    const { checks } = JSON.parse(stdout) as { checks: readonly { name: string; outcome: string }[] };
    return { code, others: checks.filter(({ outcome }) => outcome !== "ok") };
  };
  expect(await check("--token", token)).toEqual({ code: 0, others: [] });
  const refused = await check("--token", "none");
  expect(refused.code).toBe(1);
  expect(refused.others.find(({ name }) => name === "start")).toMatchObject({
    difference: expect.stringContaining("expected 201, got 401"),
  });
});
