import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { request } from "../../tools/platform-client.ts";
import { startLocalServer } from "../support/local-server.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

interface Rehearsal {
  readonly valid: boolean;
  readonly waiting: object;
}

const PROGRAM = `
def run(data: dict[str, int]):
    return {"n": data["n"]}
`;

let world: World;
let project: string;
let serviceKey: string;

beforeAll(async () => {
  world = await createWorld();
  project = await world.createProject("tried", PROGRAM);
  ({ serviceKey } = await world.deploy(project));
});
afterAll(() => world?.close());

const DRY_RUN = { prefer: "dry-run" };

test("a caller learns what a start would do, or why it would be refused, and nothing is started", async () => {
  const consumer = await world.subscribe(serviceKey);
  const rehearse = (n: unknown) =>
    consumer.call<Rehearsal>("POST", "", { json: { data: { n } }, headers: DRY_RUN });
  const answer = await rehearse(7);
  expect(answer).toMatchObject({
    status: 200,
    body: {
      valid: true,
      version: "1.0.0",
      waiting: { reason: "QUEUE", position: 0, estimateSeconds: 1 },
    },
  });
  expect(answer.headers.get("preference-applied")).toBe("dry-run");
  expect(await rehearse("seven")).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } });
  expect((await consumer.call("GET", "")).body).toEqual([]);
  const { id } = (await consumer.start({ data: { n: 7 } })).body;
  expect(await consumer.finish(id)).toMatchObject({ status: "SUCCEEDED" });
});

test("platform run --dry-run says the same of a job", async () => {
  const words = ["run", "tried", "--dry-run"] as const;
  const shown = await world.cli(project, ...words, "--data", '{"n": 1}');
  expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining("Nothing was started.")]);
  const asJson = await world.cli(project, ...words, "--data", '{"n": 1}', "--json");
  expect(JSON.parse(asJson.stdout)).toMatchObject({ valid: true, version: "1.0.0" });
  const refused = await world.cli(project, ...words, "--data", '{"n": "one"}');
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("data.n")]);
  const jobs = await world.cli(project, "executions", "--kind", "job", "--json");
  expect(JSON.parse(jobs.stdout)).toEqual([]);
});

test("the local server rehearses as well", async () => {
  const pools = await mkdtemp(join(tmpdir(), "platform-rehearsal-"));
  const local = await startLocalServer(project, "--pools", pools);
  try {
    const rehearse = (n: unknown) =>
      request<Rehearsal>("POST", `${local.url}/`, { json: { data: { n } }, headers: DRY_RUN });
    await expect
      .poll(async () => (await rehearse(1)).body)
      .toMatchObject({ valid: true, version: "local", waiting: { position: 0, estimateSeconds: 1 } });
    expect(await rehearse("one")).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } });
    expect((await request("GET", `${local.url}/`, {})).body).toEqual([]);
  } finally {
    await local.stop();
    await rm(pools, { recursive: true });
  }
});
