import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { request } from "../../tools/platform-client.ts";
import type { StatusRecord } from "../../tools/platform-client.ts";
import { startLocalServer } from "../support/local-server.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const PROGRAM = `
def run(data: dict, params: dict):
    return {"n": data["n"]}
`;

let world: World;
let project: string;
let serviceKey: string;

beforeAll(async () => {
  world = await createWorld();
  project = await world.createProject("once", PROGRAM);
  ({ serviceKey } = await world.deploy(project));
});
afterAll(() => world?.close());

const KEY = { "idempotency-key": "order-4711" };

test("a start that is sent again after its answer was lost, also to another gateway, is one execution with one result", async () => {
  const consumer = await world.subscribe(serviceKey);
  const other = await world.start({
    role: "gateway",
    flags: ["--gateway-url", new URL(consumer.endpoint).origin],
  });
  const there = consumer.endpoint.replace(new URL(consumer.endpoint).origin, other.gatewayUrl);
  const json = { data: { n: 7 } };
  const sendTo = (url: string) =>
    request<StatusRecord>("POST", url, { token: consumer.token, json, headers: KEY });
  const answers = await Promise.all([consumer.endpoint, there, consumer.endpoint, there].map(sendTo));
  const [id = "", ...others] = new Set(answers.map(({ body }) => body.id));
  expect([others, answers.map(({ status }) => status)]).toEqual([[], [201, 201, 201, 201]]);
  expect(answers.filter(({ headers }) => headers.get("idempotency-replayed") === "true")).toHaveLength(3);
  expect(await consumer.finish(id)).toMatchObject({ status: "SUCCEEDED" });
  expect((await sendTo(there)).body).toMatchObject({ id, status: "SUCCEEDED" });
  expect((await consumer.call<readonly object[]>("GET", "")).body).toHaveLength(1);
  const conflict = await consumer.call("POST", "", { json: { data: { n: 8 } }, headers: KEY });
  expect(conflict).toMatchObject({ status: 409, body: { code: "IDEMPOTENCY_CONFLICT" } });
});

test("a job that is run again with its key is the same job", async () => {
  const words = ["run", "once", "--data", '{"n": 1}', "--json", "--idempotency-key", "night"] as const;
  const first = await world.cli(project, ...words);
  const again = await world.cli(project, ...words);
  expect([first.code, again.code, again.stderr]).toEqual([0, 0, expect.stringContaining("before")]);
  expect(JSON.parse(again.stdout)).toEqual(JSON.parse(first.stdout));
});

test("the local server starts once as well", async () => {
  const pools = await mkdtemp(join(tmpdir(), "platform-once-"));
  const local = await startLocalServer(project, "--pools", pools);
  try {
    const send = (n: number) =>
      request<StatusRecord>("POST", `${local.url}/`, { json: { data: { n } }, headers: KEY });
    const { id } = (await send(1)).body;
    expect(await local.finish(id)).toMatchObject({ n: 1 });
    expect((await send(1)).body).toMatchObject({ id, status: "SUCCEEDED" });
    expect((await send(2)).body).toMatchObject({ code: "IDEMPOTENCY_CONFLICT" });
  } finally {
    await local.stop();
    await rm(pools, { recursive: true });
  }
});
