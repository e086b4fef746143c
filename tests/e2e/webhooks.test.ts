import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const PROGRAM = `
def run(data):
    if data.get("fail"):
        raise ValueError("no")
    return {"secret": "of the result"}
`;

let world: World | undefined;
interface Received {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

const received: Received[] = [];
const receiver = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.once("end", () => {
    received.push({
      path: request.url ?? "",
      headers: request.headers as Record<string, string>,
      body: Buffer.concat(chunks).toString(),
    });
    response.writeHead(204).end();
  });
});
beforeAll(async () => {
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
});
afterAll(() => {
  receiver.closeAllConnections();
  receiver.close();
});
afterEach(async () => {
  received.length = 0;
  await world?.close();
  world = undefined;
});

const getUrl = (path: string) => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}${path}`;

interface Message {
  readonly type: string;
  readonly data: { readonly executionId: string; readonly status: string; readonly code: string | null };
}

test("an application's receiver is told of each end, signed, and no address of this machine unless the operator opens it", async () => {
  const url = getUrl("/hook");
  world = await createWorld({ flags: ["--webhook-open", "127.0.0.1"] });
  const { serviceKey } = await world.deploy(await world.createProject("told", PROGRAM));
  const consumer = await world.subscribe(serviceKey);
  const cli = async (...args: string[]) => {
    const result = await world?.cli(world.directory, "webhooks", ...args, "--json");
    expect(result).toMatchObject({ code: 0 });
    return JSON.parse(result?.stdout ?? "") as Record<string, unknown>;
  };
  const { applicationId } = consumer.subscription;
  const { id, secret } = await cli("create", applicationId, url);
  const { id: closed } = await cli("create", applicationId, "http://127.0.0.2:9/hook");

  const succeeded = (await consumer.start({ data: {} })).body.id;
  const failed = (await consumer.start({ data: { fail: true } })).body.id;
  await expect.poll(() => received.length).toBe(2);
  const messages = received.map(
    ({ body, headers }) => new Webhook(String(secret)).verify(body, headers) as Message,
  );
  expect(new Set(messages.map(({ type, data }) => `${type} ${data.executionId} ${data.code}`))).toEqual(
    new Set([`execution.failed ${failed} EXECUTION_ERROR`, `execution.succeeded ${succeeded} null`]),
  );
  expect(JSON.stringify(received)).not.toContain("of the result");
  await expect
    .poll(
      async () =>
        (await world?.cli(world.directory, "webhooks", "deliveries", applicationId, String(closed)))?.stdout,
    )
    .toContain("--webhook-open");

  await cli("test", applicationId, String(id));
  await expect.poll(() => received.length).toBe(3);
  const shown = await world.cli(world.directory, "webhooks", "deliveries", applicationId, String(id));
  expect(shown.stdout.match(/DELIVERED/gu)?.length).toBeGreaterThanOrEqual(2);
});

function read(path: string, secret: string): Message {
  const { body = "", headers = {} } = received.find((one) => one.path === path) ?? {};
  return new Webhook(secret).verify(body, headers) as Message;
}

test("a start and a job each name a URL that is told when it has ended, signed with the secret of whoever started it", async () => {
  const here = await createWorld({ flags: ["--webhook-open", "127.0.0.1"] });
  world = here;
  const { serviceKey } = await here.deploy(await here.createProject("told", PROGRAM));
  const consumer = await here.subscribe(serviceKey);
  const cli = async (...args: string[]) => {
    const result = await here.cli(here.directory, ...args);
    expect(result).toMatchObject({ code: 0 });
    return result.stdout;
  };
  const createSecret = async (of: string) => {
    const made = JSON.parse(await cli("webhooks", "create", of, "--json")) as { id: string; secret: string };
    return { ...made, of };
  };
  const starts = await createSecret(consumer.subscription.applicationId);
  const jobs = await createSecret("jobs");
  const { id } = (await consumer.start({ data: { fail: true }, webhookUrl: getUrl("/start?to=me") })).body;
  await consumer.start({ data: {} });
  await cli("run", "told", "-d", "{}", "--webhook", getUrl("/job"));
  await expect.poll(() => received.map(({ path }) => path).toSorted()).toEqual(["/job", "/start?to=me"]);
  expect(read("/start?to=me", starts.secret)).toMatchObject({
    type: "execution.failed",
    data: { executionId: id },
  });
  expect(read("/job", jobs.secret)).toMatchObject({ type: "execution.succeeded" });
  for (const { of, id: webhook } of [starts, jobs])
    await expect.poll(() => cli("webhooks", "deliveries", of, webhook)).toContain("DELIVERED");
  expect(await cli("webhooks", "ls", "jobs")).toContain("those of starts");
});
