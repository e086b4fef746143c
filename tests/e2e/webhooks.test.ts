import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterEach, expect, test } from "vitest";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const PROGRAM = `
def run(data):
    if data.get("fail"):
        raise ValueError("no")
    return {"secret": "of the result"}
`;

let world: World | undefined;
const received: { readonly headers: Record<string, string>; readonly body: string }[] = [];
const receiver = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.once("end", () => {
    received.push({
      headers: request.headers as Record<string, string>,
      body: Buffer.concat(chunks).toString(),
    });
    response.writeHead(204).end();
  });
});
afterEach(async () => {
  receiver.closeAllConnections();
  receiver.close();
  await world?.close();
  world = undefined;
});

interface Message {
  readonly type: string;
  readonly data: { readonly executionId: string; readonly status: string; readonly code: string | null };
}

test("an application's receiver is told of each end, signed, and no address of this machine unless the operator opens it", async () => {
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
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
