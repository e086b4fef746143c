import type { ServerResponse } from "node:http";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";
import { createUuidV7 } from "@platform/engine/base/uuid";
import { createMemoryStore } from "@platform/engine/store/memory-store";
import { createExecution, createOwner, emptyQueue } from "@platform/engine/testing/execution-fixtures";
import { useWebhookReceiver } from "@platform/engine/testing/webhook-receiver";
import { createLocalWebhooks } from "./local-webhooks.ts";
import type { LocalWebhooks, LocalWebhooksOptions } from "./local-webhooks.ts";
import { readWebhookSettings } from "./webhook-settings.ts";

const receiver = useWebhookReceiver();
const { received, urlOf: at } = receiver;
const refuse = (status: number) => (response: ServerResponse) => void response.writeHead(status).end();

/** A store whose ends are told, until the test is over, and what was warned of. */
function open(options: Partial<LocalWebhooksOptions> = {}) {
  const settings = readWebhookSettings({ secret: undefined, open: undefined });
  const warnings: string[] = [];
  const logger = { warn: (_fields: object, text: string) => void warnings.push(text) };
  const webhooks: LocalWebhooks = createLocalWebhooks({ ...settings, logger, pausesMs: [1, 1], ...options });
  const store = webhooks.wrapStore(createMemoryStore(webhooks.notice));
  onTestFinished(() => webhooks.close());
  const start = async (webhookUrl: string, more: object = {}) =>
    await store.create({ ...createExecution({ owner: createOwner("alice") }), webhookUrl, ...more });
  return { ...settings, webhooks, store, start, warnings };
}

test("the end of an execution is told its URL once, signed, in the form of the platform", async () => {
  const { secret, store, start, warnings } = open();
  const { id } = await start(at("/hook?order=1"));
  await store.create(createExecution({ owner: createOwner("alice") }));
  expect(received).toEqual([]);
  await emptyQueue(store);
  await expect.poll(() => received.length).toBe(1);
  const [{ path, headers, body } = { path: "", headers: {}, body: "" }] = received;
  expect(path).toBe("/hook?order=1");
  expect(headers["content-type"]).toBe("application/json");
  expect(new Webhook(secret).verify(body, headers)).toEqual({
    type: "execution.succeeded",
    timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    data: {
      executionId: id,
      status: "SUCCEEDED",
      code: null,
      serviceKey: "00000000-0000-0000-0000-000000000000",
      version: "local",
      subscriptionId: null,
      at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
    },
  });
  expect(warnings).toEqual([]);
});

test("what is refused is tried again with the same id, and the log names the origin alone", async () => {
  const { store, start, warnings } = open();
  receiver.answer = (response) => refuse(received.length < 3 ? 503 : 200)(response);
  await start(at("/flaky?key=of-the-caller"));
  await emptyQueue(store);
  await expect.poll(() => received.length).toBe(3);
  expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  expect(warnings).toEqual([
    expect.stringContaining(`at ${at("")} was not told. It answered 503. Tried again`),
    expect.stringContaining("(try 2 of 3)"),
  ]);
  expect(warnings.join()).not.toMatch(/flaky|of-the-caller/);
});

test.each([
  [503, 3],
  [302, 3],
  [410, 1],
])("after answers of %i it is given up with try %i", async (status, tries) => {
  const { store, start, warnings } = open();
  receiver.answer = refuse(status);
  await start(at("/down"));
  await emptyQueue(store);
  await expect.poll(() => warnings.at(-1)).toContain(`Given up (try ${tries} of 3)`);
  expect(received).toHaveLength(tries);
});

test("an origin that hangs has four calls, and delays no other", async () => {
  const { store, start } = open();
  receiver.answer = (response, path) => (path === "/hangs" ? undefined : refuse(204)(response));
  for (let count = 0; count < 40; count++) await start(at("/hangs", "127.0.0.2"));
  await start(at("/prompt"));
  await emptyQueue(store);
  await expect.poll(() => received.some(({ path }) => path === "/prompt")).toBe(true);
  await expect.poll(() => received.filter(({ path }) => path === "/hangs").length).toBe(4);
});

test("no more than sixteen calls are under way, and no more than a thousand messages wait", async () => {
  const { webhooks, warnings } = open();
  receiver.answer = () => undefined;
  const store = webhooks.wrapStore(createMemoryStore(webhooks.notice));
  for (let count = 0; count < 1_001; count++)
    await store.create({
      ...createExecution({ owner: createOwner("alice") }),
      webhookUrl: at("/hangs", `127.0.0.${2 + (count % 8)}`),
    });
  await emptyQueue(store);
  expect(warnings).toEqual([expect.stringContaining("is not told: 1000 messages wait already")]);
  await expect.poll(() => received.length).toBe(16);
  await webhooks.close();
  expect(received).toHaveLength(16);
  expect(warnings.at(-1)).toBe("the server stopped before 1000 messages to webhooks were delivered");
});

test("a start that is repeated tells no second time", async () => {
  const { store, start } = open();
  const id = createUuidV7();
  await start(at("/once"), { id });
  await start(at("/once"), { id });
  await emptyQueue(store);
  await start(at("/once"), { id });
  await start(at("/last"));
  await emptyQueue(store);
  await expect.poll(() => received.some(({ path }) => path === "/last")).toBe(true);
  expect(received.filter(({ path }) => path === "/once")).toHaveLength(1);
});

test("loopback is called and private addresses are not, unless they are opened", () => {
  const { isAllowed } = readWebhookSettings({ secret: undefined, open: undefined });
  const ask = ["127.0.0.1", "::1", "8.8.8.8", "10.0.0.1", "192.168.1.2", "169.254.169.254", "fd00::1"];
  expect(ask.filter(isAllowed)).toEqual(["127.0.0.1", "::1", "8.8.8.8"]);
  const opened = readWebhookSettings({ secret: undefined, open: "10.0.0.0/8, fd00::/8" });
  expect(ask.filter(opened.isAllowed)).toEqual(["127.0.0.1", "::1", "8.8.8.8", "10.0.0.1", "fd00::1"]);
});

test.each(["", "secret", "whsec_", "whsec_c2hvcnQ=", `whsec_${"A".repeat(88)}`, `whsec_${"=".repeat(44)}`])(
  "the secret '%s' is refused",
  (secret) =>
    expect(() => readWebhookSettings({ secret, open: undefined })).toThrow(
      "--webhook-secret must be whsec_ and 24 to 64 bytes in base64.",
    ),
);

test("a range that is none is refused, and a secret of the specification's library is taken", () => {
  expect(() => readWebhookSettings({ secret: undefined, open: "10.0.0.0/33" })).toThrow("--webhook-open");
  const secret = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;
  expect(readWebhookSettings({ secret, open: undefined })).toMatchObject({ secret, isGiven: true });
});
