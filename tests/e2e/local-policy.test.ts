import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { startLocalServer } from "../support/local-server.ts";
import type { LocalServer } from "../support/local-server.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const POLICY = {
  concurrency: { service: 2, subscription: 1 },
  retries: { onError: { max: 1, backoffSeconds: 0, codes: ["BUSY"] } },
};
const PROGRAM = `
import os, time

class Busy(Exception):
    code = "BUSY"
    detail = "The device is busy."

def run(data):
    time.sleep(data.get("sleep", 0))
    attempt = int(os.environ["SERVICE_EXECUTION_ATTEMPT"])
    if attempt <= data.get("failures", 0):
        raise Busy
    return {"attempt": attempt}
`;
/** The first never ends by itself. */
const BODIES = [{ data: { sleep: 600 } }, { data: {} }, { data: { failures: 1 } }, { data: { failures: 2 } }];

type Json = Readonly<Record<string, unknown>>;
/** A service as its callers have it. */
interface Service {
  readonly start: (body: Json) => Promise<string>;
  readonly read: (path: string) => Promise<Json>;
  readonly cancel: (id: string) => Promise<unknown>;
}

let world: World | undefined;
let local: LocalServer | undefined;
afterEach(async () => {
  await local?.stop();
  await world?.close();
  [world, local] = [undefined, undefined];
});

/** What a client sees of these starts, without ids and times: those behind the first wait in their order, then how all of them end. */
async function play({ start, read, cancel }: Service): Promise<readonly unknown[]> {
  const ids: string[] = [];
  for (const body of BODIES) ids.push(await start(body));
  const [first = "", ...others] = ids;
  await expect.poll(async () => (await read(first))["status"]).toBe("RUNNING");
  // What is told of limits may be three seconds old: as long, the first one counts as waiting too.
  for (const [position, id] of others.entries())
    await expect
      .poll(async () => (await read(id))["waiting"])
      .toMatchObject({ reason: "SUBSCRIPTION_LIMIT", position });
  await cancel(first);
  const ends: unknown[] = [];
  for (const id of ids) {
    await expect.poll(async () => (await read(id))["terminal"]).toBe(true);
    const [state, { code }] = [await read(id), await read(`${id}/result`)];
    const attempts = (state["attempts"] as readonly Json[] | undefined) ?? [];
    const described = attempts.map((each) => [each["attempt"], each["code"], each["detail"]]);
    ends.push([state["status"], code, described]);
  }
  return ends;
}

test(
  "a client sees the same of a policy on a platform as on the machine of its author",
  { tags: "full" },
  async () => {
    world = await createWorld();
    const { directory } = world;
    const project = await world.createProject("ruled", PROGRAM);
    await writeFile(join(directory, "policy.json"), JSON.stringify(POLICY));
    const { serviceKey } = await world.deploy(project);
    const set = await world.cli(directory, "services", "policy", "ruled", "--set", "policy.json");
    expect(set.stdout).toContain("At once   2 of the service, 1 of one subscription");
    const consumer = await world.subscribe(serviceKey);
    const busy = "The device is busy.";
    const hosted = await play({
      start: async (body) => (await consumer.start(body)).body.id,
      read: async (path) => (await consumer.call<Json>("GET", path)).body,
      cancel: async (id) => await consumer.call("PUT", `${id}/cancel`),
    });
    expect(hosted).toEqual([
      ["FAILED", "CANCELLED", []],
      ["SUCCEEDED", undefined, []],
      [
        "SUCCEEDED",
        undefined,
        [
          [1, "BUSY", busy],
          [2, undefined, undefined],
        ],
      ],
      [
        "FAILED",
        "BUSY",
        [
          [1, "BUSY", busy],
          [2, "BUSY", undefined],
        ],
      ],
    ]);

    const server = await startLocalServer(project, "--policy", join(directory, "policy.json"));
    local = server;
    const served = await play({
      start: async (body) => String((await server.start(body)).body["id"]),
      read: async (path) => (await (await fetch(`${server.url}/${path}`)).json()) as Json,
      cancel: async (id) => await fetch(`${server.url}/${id}/cancel`, { method: "PUT" }),
    });
    expect(served).toEqual(hosted);
  },
);
