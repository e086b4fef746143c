import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import type { WebhookEvent } from "@platform/contract/platform-api/webhooks";
import { fanOut } from "../store/webhooks/fan-out.ts";
import type { Stores } from "../store/stores.ts";
import type { WebhookKey } from "../store/webhooks/webhooks.ts";
import { createTestClient, createTestService, createTestUser } from "../testing/fixtures.ts";
import type { TestClient, TestService, TestUser } from "../testing/fixtures.ts";
import { TEST_SECRET, createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { createDeliverer } from "./deliverer.ts";
import { describeChange, describeTest } from "@platform/engine/webhooks/message";
import { createAddressPolicy } from "@platform/engine/webhooks/outside-addresses";
import { createWebhooks } from "./webhooks.ts";
import type { Webhooks } from "./webhooks.ts";

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let home: TestDatabase;
let instance: TestInstance;
let stores: Stores;
let sealed: Webhooks;
let user: TestUser;
let service: TestService;
let client: TestClient;
let origin: string;
let received: Received[];
/** How the receiver answers; by default with 204. */
let answer: (response: ServerResponse, path: string) => void;

const receiver = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.once("end", () => {
    received.push({
      path: request.url ?? "",
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    });
    answer(response, request.url ?? "");
  });
});

beforeAll(async () => {
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  home = await createTestDatabase();
  instance = await createTestInstance({ database: home.database });
  ({ stores } = instance);
  sealed = createWebhooks(stores.webhooks, TEST_SECRET);
});
afterAll(async () => {
  receiver.closeAllConnections();
  receiver.close();
  await instance?.close();
  await home?.close();
});
beforeEach(async () => {
  received = [];
  answer = (response) => void response.writeHead(204).end();
  user = await createTestUser(instance);
  service = await createTestService(instance, user);
  client = await createTestClient(instance, user, service);
});
afterEach(async () => {
  await run("delete from webhook");
  await run("delete from webhook_delivery");
});

const run = (text: string, ...values: readonly unknown[]) =>
  home.database.query<Record<string, unknown>>({ text, values });

async function createWebhook(path: string, events?: readonly WebhookEvent[]) {
  const scope = { organisationId: user.organisationId, applicationId: client.applicationId };
  const url = `${origin}${path}`;
  const made = await sealed.create(scope, {
    url,
    createdBy: user.userId,
    ...(events === undefined ? {} : { events }),
  });
  if (made === null) throw new Error("There is no application.");
  const key: WebhookKey = { ...scope, webhookId: made.webhook.id };
  return { key, secret: made.secret };
}

/** Adds an event to the feed, of the application's subscription. Returns the execution's id. */
async function addEvent(status: string, code: string | null = null, of = client): Promise<string> {
  const executionId = randomUUID();
  await run(
    `insert into feed_event (position, at, execution_id, status, code, service_key, version, subscription_id, application_id, organisation_id, provider_id)
      select coalesce(max(position), 0) + 1, now() + interval '1 millisecond', $1, $2, $3, $4, '1.0.0', $5, $6, $7, $7 from feed_event`,
    executionId,
    status,
    code,
    service.serviceKey,
    of.subscriptionId,
    of.applicationId,
    user.organisationId,
  );
  return executionId;
}

/** A process that delivers, until the test is over. */
function start(timeoutMs = 60_000, deliveries = stores.deliveries) {
  const deliverer = createDeliverer({
    fanOut: () => fanOut(home.database, describeChange),
    deliveries,
    webhooks: sealed,
    sender: { isAllowed: createAddressPolicy(["127.0.0.0/8"]), timeoutMs },
    logger: home.logger,
  });
  onTestFinished(() => deliverer.close());
  return deliverer;
}

async function isAllRead(): Promise<boolean> {
  const rows = await run(
    "select 1 from webhook_mark where position = (select max(position) from feed_event)",
  );
  return rows.length === 1;
}

/** What was received at a path. */
const at = (path: string) => received.filter((one) => one.path === path);
const list = async (key: WebhookKey) => (await stores.deliveries.list(key, { limit: 100 }))?.items ?? [];

const verify = (secret: string, { body, headers }: Received) =>
  new Webhook(secret).verify(body, headers as Record<string, string>);

test("an end is told once to each webhook that asks for it, signed, with the execution's id and nothing of its content", async () => {
  const { secret } = await createWebhook("/ends");
  await createWebhook("/failures", ["execution.failed"]);
  start();
  const succeeded = await addEvent("SUCCEEDED");
  const failed = await addEvent("FAILED", "TIMEOUT");
  await addEvent("RUNNING");
  await expect.poll(() => [at("/ends").length, at("/failures").length]).toEqual([2, 1]);
  const [message] = at("/failures");
  expect(JSON.parse(message?.body ?? "")).toEqual({
    type: "execution.failed",
    timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    data: {
      executionId: failed,
      status: "FAILED",
      code: "TIMEOUT",
      at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      serviceKey: service.serviceKey,
      version: "1.0.0",
      subscriptionId: client.subscriptionId,
    },
  });
  for (const { body, headers } of at("/ends"))
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
      data: { executionId: expect.stringMatching(new RegExp(`${succeeded}|${failed}`)) },
    });
});

test("events of other applications, of jobs and of before the webhook are told to nobody", async () => {
  const other = await createTestClient(instance, user, service);
  await addEvent("SUCCEEDED");
  await run("update feed_event set at = at - interval '1 second'");
  await createWebhook("/own");
  await addEvent("SUCCEEDED", null, other);
  await addEvent("SUCCEEDED", null, { ...client, applicationId: null as unknown as string });
  const last = await addEvent("SUCCEEDED");
  start();
  await expect.poll(() => at("/own").length).toBe(1);
  expect(at("/own")[0]?.body).toContain(last);
});

test("a message that is refused is tried again with the same id, until it is received, and the log has both tries", async () => {
  const { key } = await createWebhook("/flaky");
  let isDown = true;
  answer = (response) => void response.writeHead(isDown ? 503 : 200).end();
  const deliverer = start();
  await addEvent("SUCCEEDED");
  await expect.poll(async () => (await list(key))[0]?.attempts.length).toBe(1);
  const [waiting] = await list(key);
  expect(waiting).toMatchObject({ status: "PENDING", tries: 1, attempts: [{ status: 503, failure: null }] });
  expect((waiting?.nextAt ?? 0) - (waiting?.attempts[0]?.at ?? Infinity)).toBeGreaterThan(2_000);
  isDown = false;
  await run("update webhook_delivery set next_at = now()");
  deliverer.announce();
  await expect.poll(async () => (await list(key))[0]?.status).toBe("DELIVERED");
  expect(await list(key)).toMatchObject([
    { status: "DELIVERED", tries: 2, nextAt: null, attempts: [{ status: 503 }, { status: 200 }] },
  ]);
  expect(new Set(at("/flaky").map(({ headers }) => headers["webhook-id"])).size).toBe(1);
});

test("a message that cannot be signed is not sent, and says why", async () => {
  const { key } = await createWebhook("/unsigned");
  await run("update webhook set key_id = 'another'");
  start();
  await addEvent("SUCCEEDED");
  await expect.poll(async () => (await list(key))[0]?.attempts.length).toBe(1);
  expect(await list(key)).toMatchObject([
    {
      status: "PENDING",
      attempts: [{ status: null, failure: expect.stringContaining("cannot read the secret") }],
    },
  ]);
  expect(at("/unsigned")).toEqual([]);
});

test("where there is no webhook, events are passed over, and one that is made then is told of what follows alone", async () => {
  await addEvent("SUCCEEDED");
  await run(
    "update feed_mark set position = (select max(position) from feed_event) where name = 'sequenced'",
  );
  expect(await fanOut(home.database, describeChange)).toBe("nobody");
  await createWebhook("/late");
  await run("update webhook set created_at = now() - interval '1 hour'");
  const last = await addEvent("FAILED");
  start();
  await expect.poll(() => at("/late").length).toBe(1);
  expect(at("/late")[0]?.body).toContain(last);
});

test("a receiver that is slow holds up no other", async () => {
  await createWebhook("/slow");
  answer = (response, path) => {
    if (path !== "/slow") response.end();
  };
  start();
  for (let count = 0; count < 50; count++) await addEvent("SUCCEEDED");
  await expect.poll(() => at("/slow").length).toBe(4);
  await expect.poll(isAllRead).toBe(true);
  await createWebhook("/quick");
  await addEvent("SUCCEEDED");
  await expect.poll(() => at("/quick").length).toBe(1);
  expect(at("/slow")).toHaveLength(4);
});

test("410 pauses the webhook: nothing is sent or kept for it until it is resumed, but a test is", async () => {
  const { key } = await createWebhook("/gone");
  answer = (response) => void response.writeHead(410).end();
  const deliverer = start();
  await addEvent("SUCCEEDED");
  await expect.poll(async () => (await stores.webhooks.find(key))?.isPaused).toBe(true);
  expect(await list(key)).toMatchObject([{ status: "FAILED" }]);
  answer = (response) => void response.end();
  await addEvent("SUCCEEDED");
  await stores.deliveries.addTest(key, () => describeTest(Date.now()));
  deliverer.announce();
  await expect.poll(() => at("/gone").length).toBe(2);
  expect(JSON.parse(at("/gone")[1]?.body ?? "")).toMatchObject({ type: "test" });
  await expect.poll(isAllRead).toBe(true);
  await stores.webhooks.change(key, { isPaused: false });
  const later = await addEvent("FAILED");
  await expect.poll(() => at("/gone").length).toBe(3);
  expect(at("/gone")[2]?.body).toContain(later);
});

test("while a secret is replaced, messages are signed with both, and afterwards with the new one alone", async () => {
  const { key, secret: former } = await createWebhook("/rotated");
  const rotated = await sealed.rotate(key, 24);
  start();
  await addEvent("SUCCEEDED");
  await expect.poll(() => at("/rotated").length).toBe(1);
  const [both] = at("/rotated");
  if (both === undefined || rotated === null) throw new Error("nothing was received");
  expect(verify(former, both)).toEqual(verify(rotated.secret, both));
  await run("update webhook set former_until = now()");
  await addEvent("SUCCEEDED");
  await expect.poll(() => at("/rotated").length).toBe(2);
  const [, one] = at("/rotated");
  if (one === undefined) throw new Error("nothing was received");
  verify(rotated.secret, one);
  expect(() => verify(former, one)).toThrow("No matching signature found");
});

test("what a process was sending when it stopped is sent by the next one at once; when it was killed, once its lease is over", async () => {
  const { key } = await createWebhook("/stopped");
  answer = () => undefined;
  const first = start();
  await addEvent("SUCCEEDED");
  await expect.poll(() => at("/stopped").length).toBe(1);
  await first.close();
  answer = (response) => void response.end();
  const [claimed] = await stores.deliveries.claim("killed", 10, 60);
  expect(claimed).toMatchObject({ attempt: 2 });
  expect(await stores.deliveries.claim("another", 10, 60)).toEqual([]);
  await run("update webhook_delivery set lease_until = now()");
  const [again] = await stores.deliveries.claim("another", 10, 60);
  if (claimed === undefined || again === undefined) throw new Error("nothing was claimed");
  const late = { at: Date.now(), status: 500, failure: null, durationMs: 1 };
  expect(await stores.deliveries.settle(claimed, late, { status: "FAILED", isGone: true })).toBe(false);
  await stores.deliveries.giveBack(claimed);
  expect(await stores.deliveries.claim("a third", 10, 60)).toEqual([]);
  await stores.deliveries.giveBack(again);
  start();
  await expect.poll(async () => (await list(key))[0]?.status).toBe("DELIVERED");
  expect(await stores.deliveries.settle(again, late, { status: "FAILED", isGone: true })).toBe(false);
  expect(await list(key)).toMatchObject([{ status: "DELIVERED", tries: 4 }]);
  expect((await stores.webhooks.find(key))?.isPaused).toBe(false);
});

test("processes that read the feed at the same time tell each event once", async () => {
  const { key } = await createWebhook("/once");
  const ids = [];
  for (let count = 0; count < 30; count++) ids.push(await addEvent("SUCCEEDED"));
  const deliverers = [start(), start(), start()];
  for (const deliverer of deliverers) deliverer.announce();
  await expect.poll(() => at("/once").length).toBe(30);
  const told = (await list(key)).map(({ executionId }) => executionId);
  expect(new Set(told)).toEqual(new Set(ids));
  expect(told).toHaveLength(30);
});

test("a message is sent again on request, also one that was delivered", async () => {
  const { key } = await createWebhook("/again");
  const deliverer = start();
  await addEvent("SUCCEEDED");
  await expect.poll(async () => (await list(key))[0]?.status).toBe("DELIVERED");
  const [delivery] = await list(key);
  expect(await stores.deliveries.redeliver(key, delivery?.id ?? "")).toMatchObject({ status: "PENDING" });
  deliverer.announce();
  await expect.poll(() => at("/again").length).toBe(2);
  await expect.poll(async () => (await list(key))[0]?.status).toBe("DELIVERED");
});

test("a webhook that has very many waiting misses events until it has fewer", async () => {
  const { key } = await createWebhook("/full");
  await run(
    `insert into webhook_delivery (id, webhook_id, event, body, next_at, execution_id)
      select gen_random_uuid(), $1, 'x', '{}', now() + interval '1 hour', gen_random_uuid() from generate_series(1, 10000)`,
    key.webhookId,
  );
  await addEvent("SUCCEEDED");
  start();
  await expect.poll(isAllRead).toBe(true);
  expect(
    await run("select count(*)::int as count from webhook_delivery where webhook_id = $1", key.webhookId),
  ).toEqual([{ count: 10_000 }]);
  await run("delete from webhook_delivery where id = (select id from webhook_delivery limit 1)");
  await addEvent("SUCCEEDED");
  await expect.poll(() => at("/full").length).toBe(1);
});
