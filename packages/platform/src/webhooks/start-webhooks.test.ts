import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { emptyQueue } from "@platform/engine/testing/execution-fixtures";
import { describeChange } from "@platform/engine/webhooks/message";
import { fanOut } from "../store/webhooks/fan-out.ts";
import { removeOldDeliveries } from "../store/webhooks/remove-old.ts";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import {
  createTestClient,
  createTestService,
  createTestUser,
  fetchAccessToken,
} from "../testing/fixtures.ts";
import type { TestClient, TestService, TestUser } from "../testing/fixtures.ts";
import { createWebhookScene, verifyMessage } from "../testing/webhook-scene.ts";

let scene: Awaited<ReturnType<typeof createWebhookScene>>;
let call: CallApi;
let user: TestUser;
let service: TestService;
let client: TestClient;
let token: string;

beforeAll(async () => {
  scene = await createWebhookScene();
  call = createApiCaller(scene.instance);
});
afterAll(() => scene?.close());
beforeEach(async () => {
  scene.received.length = 0;
  scene.answers.clear();
  user = await createTestUser(scene.instance);
  service = await createTestService(scene.instance, user);
  client = await createTestClient(scene.instance, user, service);
  token = await fetchAccessToken(scene.instance, client);
});
afterEach(async () => {
  await emptyQueue(scene.store);
  await scene.run("delete from webhook");
  await scene.run("delete from webhook_delivery");
});

const at = (path: string, address = "127.0.0.1") => `http://${address}:${scene.port}${path}`;

async function start(body: object) {
  const response = await scene.instance.gateway.inject({
    method: "POST",
    url: `/${service.serviceKey}/${service.serviceName}/${service.version}/`,
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
    },
    payload: JSON.stringify(body),
  });
  return { status: response.statusCode, body: response.json<Record<string, unknown>>() };
}

/** The webhook of starts, whose secret is replaced by one that is known. */
async function rotate(application = client.applicationId) {
  const path = `/applications/${application}/webhooks`;
  const { items } = (await call(user, `GET ${path}`)).body as { items: { id: string; url: string | null }[] };
  const id = items.find(({ url }) => url === null)?.id ?? "";
  const { body } = await call(user, `POST ${path}/${id}/rotate-secret`);
  return { path: `${path}/${id}`, id, secret: String(body["secret"]) };
}

const list = async (path: string) =>
  (await call(user, `GET ${path}/deliveries`)).body["items"] as Record<string, unknown>[];

test("the URL of a start is told its end, signed with the secret of the application's webhook of starts, and others are told nothing", async () => {
  const told = await start({ data: {}, webhookUrl: at("/told?key=of-the-caller") });
  await start({ data: {} });
  const { path, secret } = await rotate();
  scene.start();
  await emptyQueue(scene.store);
  await expect.poll(() => scene.received.length).toBe(1);
  const [message] = scene.at("/told?key=of-the-caller");
  if (message === undefined) throw new Error("nothing was received");
  expect(verifyMessage(secret, message)).toMatchObject({
    type: "execution.succeeded",
    data: { executionId: told.body["id"], subscriptionId: client.subscriptionId },
  });
  await expect.poll(async () => (await list(path))[0]?.["status"]).toBe("DELIVERED");
  const deliveries = await list(path);
  expect(deliveries).toMatchObject([{ executionId: told.body["id"], origin: at(""), tries: 1 }]);
  // Members who see messages need not know what the caller has put into its URL.
  expect(JSON.stringify(deliveries)).not.toContain("of-the-caller");
});

test("jobs are told as well, by a webhook of the organisation, and so are items of a batch", async () => {
  const url = at("/jobs");
  const query = `serviceKey=${service.serviceKey}`;
  const items = [{ webhookUrl: url }, { data: {} }, { webhookUrl: url }, { webhookUrl: "x" }];
  const batch = await call(user, `POST /jobs/batch?${query}`, { items });
  expect(batch.status).toBe(201);
  await call(user, `POST /jobs?${query}`, { webhookUrl: url });
  const { secret, path } = await rotate("jobs");
  scene.start();
  await emptyQueue(scene.store);
  await expect.poll(() => scene.at("/jobs").length).toBe(3);
  for (const message of scene.at("/jobs"))
    expect(verifyMessage(secret, message)).toMatchObject({ data: { subscriptionId: null } });
  const stranger = await createTestUser(scene.instance);
  expect((await call(stranger, `GET ${path}`)).status).toBe(404);
  expect((await call(stranger, "GET /applications/jobs/webhooks")).body).toEqual({
    items: [],
    nextCursor: null,
  });
});

test("a webhook with a URL is told of jobs as well", async () => {
  const made = await call(user, "POST /applications/jobs/webhooks", { url: at("/all-jobs") });
  await call(user, `POST /jobs?serviceKey=${service.serviceKey}`, {});
  await start({ data: {} });
  scene.start();
  await emptyQueue(scene.store);
  await expect.poll(() => scene.at("/all-jobs").length).toBe(1);
  const [message] = scene.at("/all-jobs");
  if (message === undefined) throw new Error("nothing was received");
  expect(verifyMessage(String(made.body["secret"]), message)).toMatchObject({
    data: { status: "SUCCEEDED" },
  });
});

test("410 of one URL fails its message alone; it can be sent again, and the webhook can be paused, but not deleted or given a URL", async () => {
  scene.answers.set("/gone", (response) => void response.writeHead(410).end());
  await start({ webhookUrl: at("/gone") });
  const { path } = await rotate();
  const deliverer = scene.start();
  await emptyQueue(scene.store);
  await expect.poll(async () => (await list(path))[0]?.["status"]).toBe("FAILED");
  expect((await call(user, `GET ${path}`)).body).toMatchObject({ url: null, isPaused: false });
  scene.answers.clear();
  const [failed] = await list(path);
  await call(user, `POST ${path}/deliveries/${String(failed?.["id"])}/redeliver`);
  deliverer.announce();
  await expect.poll(async () => (await list(path))[0]?.["status"]).toBe("DELIVERED");
  for (const [request, body] of [
    [`DELETE ${path}`, undefined],
    [`PUT ${path}`, { url: at("/other") }],
    [`POST ${path}/test`, undefined],
    [`POST /applications/${client.applicationId}/webhooks`, {}],
  ] as const)
    expect(await call(user, request, body)).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
  expect(await call(user, `PUT ${path}`, { isPaused: true })).toMatchObject({ status: 200 });
  await start({ webhookUrl: at("/paused") });
  await start({ data: {} });
  await emptyQueue(scene.store);
  await expect.poll(async () => (await scene.run("select 1 from feed_new")).length).toBe(0);
  // They are passed over while it is paused, not only in order.
  const behind =
    "select 1 from webhook_mark m join feed_mark f on f.name = 'sequenced' and f.position > m.position";
  await expect.poll(async () => (await scene.run(behind)).length).toBe(0);
  await call(user, `PUT ${path}`, { isPaused: false });
  await start({ webhookUrl: at("/resumed") });
  await emptyQueue(scene.store);
  await expect.poll(() => scene.at("/resumed").length).toBe(1);
  expect(await scene.run("select 1 from webhook_delivery where url = $1", at("/paused"))).toEqual([]);
});

test("what waits when it is paused is not sent until it is resumed", async () => {
  await start({ webhookUrl: at("/waits") });
  const { path } = await rotate();
  await emptyQueue(scene.store);
  await expect
    .poll(async () => {
      await fanOut(scene.home.database, describeChange);
      return (await list(path)).length;
    })
    .toBe(1);
  const claim = async () => await scene.instance.stores.deliveries.claim("one", 256, 60);
  await call(user, `PUT ${path}`, { isPaused: true });
  expect(await claim()).toEqual([]);
  await call(user, `PUT ${path}`, { isPaused: false });
  expect(await claim()).toMatchObject([{ url: at("/waits") }]);
});

test("it can be made before the first start, with other events", async () => {
  const made = await call(user, `POST /applications/${client.applicationId}/webhooks`, {
    events: ["execution.pending"],
  });
  expect(made).toMatchObject({ status: 201, body: { url: null } });
  await start({ webhookUrl: at("/begun") });
  scene.start();
  await expect.poll(() => scene.at("/begun").length).toBe(1);
  const [message] = scene.at("/begun");
  if (message === undefined) throw new Error("nothing was received");
  expect(verifyMessage(String(made.body["secret"]), message)).toMatchObject({ type: "execution.pending" });
});

test("an origin that hangs has two calls, and delays no other of the same application", async () => {
  const paths = ["/hangs", "/hangs-too"];
  for (const path of paths) scene.answers.set(path, () => undefined);
  for (let count = 0; count < 50; count++)
    for (const path of paths) await start({ webhookUrl: at(path, "127.0.0.2") });
  for (let count = 0; count < 3; count++) await start({ webhookUrl: at("/prompt") });
  scene.start();
  await emptyQueue(scene.store);
  await expect.poll(() => scene.at("/prompt").length).toBe(3);
  expect(paths.flatMap(scene.at)).toHaveLength(2);
});

test.each([
  ["https://u:p@example.org/"],
  ["ftp://example.org/"],
  ["example.org"],
  ["https://example.org/#part"],
  [""],
  [5],
  [null],
  [{}],
  [`https://example.org/${"x".repeat(2_000)}`],
  // Written out it has three times as many characters.
  [`https://example.org/${"ä".repeat(1_000)}`],
])("%j is refused where it is given, and nothing is started or made", async (webhookUrl) => {
  expect(await start({ webhookUrl })).toMatchObject({
    status: 400,
    body: { code: "INVALID_INPUT", errors: [{ path: "/webhookUrl" }] },
  });
  expect(await scene.run("select 1 from webhook")).toEqual([]);
});

test("starts at the same time make one webhook", async () => {
  await Promise.all(Array.from({ length: 10 }, () => start({ webhookUrl: at("/many") })));
  expect(await scene.run("select 1 from webhook")).toHaveLength(1);
});

test("it is deleted with the application, whose messages are sent no more and removed by a round", async () => {
  scene.answers.set("/late", (response) => void response.writeHead(503).end());
  await start({ webhookUrl: at("/late") });
  scene.start();
  await emptyQueue(scene.store);
  await expect.poll(() => scene.at("/late").length).toBe(1);
  expect((await call(user, `DELETE /applications/${client.applicationId}`)).status).toBe(204);
  await scene.run("update webhook_delivery set next_at = now(), lease_until = null");
  expect(await scene.instance.stores.deliveries.claim("another", 256, 60)).toEqual([]);
  expect(await scene.run("select 1 from webhook")).toEqual([]);
  expect(await removeOldDeliveries(scene.home.database)).toBe(1);
  expect((await start({ webhookUrl: at("/late") })).status).toBeGreaterThanOrEqual(400);
  expect(await scene.run("select 1 from webhook")).toEqual([]);
});

test("of each webhook the last 10,000 messages that do not wait are kept, for a week", async () => {
  await start({ webhookUrl: at("/kept") });
  const { id } = await rotate();
  const { body } = await call(user, "POST /applications/jobs/webhooks", { url: at("/jobs") });
  const add = async (webhookId: string, first: number, last: number) =>
    await scene.run(
      `insert into webhook_delivery (id, webhook_id, event, body, status)
        select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $1, 'x', '{}', case when n = 1 then 'PENDING' else 'FAILED' end
        from generate_series($2::int, $3::int) n`,
      webhookId,
      first,
      last,
    );
  await add(id, 1, 10_006);
  // Of another webhook, made before all others: it has few.
  await scene.run("update webhook_delivery set id = ('1' || substr(id::text, 2))::uuid");
  await add(String(body["id"]), 2, 4);
  await scene.run(
    "update webhook_delivery set created_at = now() - case when id::text like '%3' then interval '8 days' else interval '6 days' end where webhook_id = $1",
    String(body["id"]),
  );
  // Five beyond the last of the one, and what is of eight days ago of the other.
  expect(await removeOldDeliveries(scene.home.database)).toBe(6);
  const oldest =
    "select min(id::text) as oldest, count(*)::int from webhook_delivery where webhook_id = $1 and status = 'FAILED'";
  expect([...(await scene.run(oldest, id)), ...(await scene.run(oldest, String(body["id"])))]).toEqual([
    { oldest: "10000000-0000-7000-8000-000000000007", count: 10_000 },
    { oldest: "00000000-0000-7000-8000-000000000002", count: 2 },
  ]);
});
