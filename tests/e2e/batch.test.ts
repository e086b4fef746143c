import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { request } from "../../tools/platform-client.ts";
import type { Answer } from "../../tools/platform-client.ts";
import { startLocalServer } from "../support/local-server.ts";
import { createWorld } from "../support/world.ts";
import type { Consumer, World } from "../support/world.ts";

interface Batch {
  readonly id: string;
  readonly complete: boolean;
  readonly terminal: boolean;
  readonly total: number;
  readonly refused: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly items: readonly { readonly id?: string; readonly code?: string }[];
}

const PROGRAM = `
def run(data: dict):
    return {"n": data["n"]}
`;
/** As many as a batch may have, and so large that their start takes longer than it takes to see the first ones. */
const MANY = Array.from({ length: 1_000 }, (_, n) => ({ data: { n, text: "x".repeat(12_000) } }));

let world: World;
let project: string;
let serviceKey: string;

beforeAll(async () => {
  world = await createWorld();
  project = await world.createProject("many", PROGRAM);
  ({ serviceKey } = await world.deploy(project));
});
afterAll(() => world?.close());

const readBatch = async ({ call }: Consumer, id: string) => (await call<Batch>("GET", `batch/${id}`)).body;
/** Over all pages of the list. */
async function countListed({ endpoint, token }: Consumer): Promise<number> {
  let count = 0;
  for (let url: string | undefined = `${endpoint}?limit=100`; url !== undefined;) {
    const page: Answer<readonly object[]> = await request("GET", url, { token });
    count += page.body.length;
    const next: string | undefined = /<([^>]+)>/.exec(page.headers.get("link") ?? "")?.[1];
    url = next === undefined ? undefined : new URL(next, endpoint).href;
  }
  return count;
}

const listIds = ({ items }: Batch) => items.map(({ id }) => id);

test("a batch starts what it can, says what it refuses, and ends; sent again with its key it is the same one", async () => {
  const consumer = await world.subscribe(serviceKey);
  const json = { items: [{ data: { n: 0 } }, { data: 5 }, { data: { n: 2 } }] };
  const send = () => consumer.call<Batch>("POST", "batch", { json, headers: { "idempotency-key": "tours" } });
  const { status, body: batch } = await send();
  expect([status, batch.total, batch.refused]).toEqual([201, 3, 1]);
  expect(batch.items[1]).toMatchObject({ index: 1, code: "INVALID_INPUT", errors: [{ path: "/data" }] });
  const [first = "", second, third = ""] = listIds(batch);
  expect(second).toBeUndefined();
  expect(await consumer.finish(first)).toMatchObject({ status: "SUCCEEDED" });
  expect(await consumer.finish(third)).toMatchObject({ status: "SUCCEEDED" });
  await expect
    .poll(() => readBatch(consumer, batch.id))
    .toMatchObject({ terminal: true, done: 3, failed: 0, counts: { SUCCEEDED: 2 } });
  const again = await send();
  expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([201, "true"]);
  expect(listIds(again.body)).toEqual([first, undefined, third]);
  expect((await consumer.call<readonly object[]>("GET", "")).body).toHaveLength(2);
});

const sendMany = (consumer: Consumer, origin: string) =>
  request<Batch>("POST", `${consumer.endpoint.replace(new URL(consumer.endpoint).origin, origin)}batch`, {
    token: consumer.token,
    json: { items: MANY },
    headers: { "idempotency-key": "killed" },
  });

/** Whose batch a gateway had begun when it was killed. On a busy machine it may be through before: then once more. */
async function beginMany(attempts = 5): Promise<Consumer> {
  const consumer = await world.subscribe(serviceKey);
  const { origin } = new URL(consumer.endpoint);
  const gateway = await world.start({ role: "gateway", flags: ["--gateway-url", origin] });
  const answer = sendMany(consumer, gateway.gatewayUrl).then(
    ({ status }) => status,
    () => "cut off",
  );
  const isBegun = async () => (await consumer.call<readonly object[]>("GET", "?limit=1")).body.length > 0;
  await expect.poll(isBegun, { interval: 5 }).toBe(true);
  await gateway.kill();
  const found = await answer;
  if (found === "cut off") return consumer;
  if (found !== 201 || attempts === 1) throw new Error(`The batch was answered: ${found}.`);
  return beginMany(attempts - 1);
}

test("a gateway that is killed while it starts a batch leaves no item twice: sent again it is completed, and cancelled as a whole", async () => {
  const consumer = await beginMany();
  const { status, headers, body: batch } = await sendMany(consumer, new URL(consumer.endpoint).origin);
  expect([status, headers.get("idempotency-replayed")]).toEqual([201, "true"]);
  expect(batch).toMatchObject({ complete: true, total: MANY.length, refused: 0 });
  expect(new Set(listIds(batch)).size).toBe(MANY.length);
  // Nothing was started besides.
  expect(await countListed(consumer)).toBe(MANY.length);
  const cancelled = await consumer.call<Batch>("PUT", `batch/${batch.id}/cancel`);
  expect(cancelled.body).toMatchObject({ cancelled: true });
  await expect.poll(async () => (await readBatch(consumer, batch.id)).terminal).toBe(true);
  const { counts } = await readBatch(consumer, batch.id);
  expect(counts["FAILED"]).toBeGreaterThan(0);
});

test("platform run --batch starts a job for each line, and says which was refused", async () => {
  await writeFile(join(project, "tours.jsonl"), '{"data":{"n":1}}\n{"data":7}\n\n{"data":{"n":3}}\n');
  const shown = await world.cli(project, "run", "many", "--batch", "tours.jsonl", "--json");
  expect([shown.code, shown.stderr]).toEqual([1, expect.stringContaining("Item 2 was not started")]);
  const batch = JSON.parse(shown.stdout) as Batch;
  expect(batch).toMatchObject({ terminal: true, total: 3, refused: 1, counts: { SUCCEEDED: 2 } });
});

test("the local server has batches as well", async () => {
  const pools = await mkdtemp(join(tmpdir(), "platform-batch-"));
  const local = await startLocalServer(project, "--pools", pools);
  try {
    const json = { items: [{ data: { n: 1 } }, { data: [] }] };
    const { status, body } = await request<Batch>("POST", `${local.url}/batch`, { json });
    expect([status, body.refused]).toEqual([201, 1]);
    const [id = ""] = listIds(body);
    expect(await local.finish(id)).toMatchObject({ n: 1 });
    await expect
      .poll(async () => (await request<Batch>("GET", `${local.url}/batch/${body.id}`, {})).body)
      .toMatchObject({ terminal: true, done: 2, counts: { SUCCEEDED: 1 } });
  } finally {
    await local.stop();
    await rm(pools, { recursive: true });
  }
});
