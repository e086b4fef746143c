import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { readEvents } from "@platform/contract/event-stream";
import type { ServerEvent } from "@platform/contract/event-stream";
import { createExecution } from "@platform/engine/testing/execution-fixtures";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { createStreamRoom } from "@platform/engine/executions/stream-room";
import type { Owner } from "@platform/engine/store/owner";
import {
  createTestClient,
  createTestMember,
  createTestService,
  createTestUser,
  fetchAccessToken,
} from "../testing/fixtures.ts";
import type { TestClient, TestService, TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestStore } from "../testing/test-store.ts";
import type { TestStore } from "../testing/test-store.ts";

interface Item {
  readonly executionId: string;
  readonly status: string;
  readonly kind: string;
  readonly subscriptionId: string | null;
  readonly cursor: string;
}
interface Page {
  readonly items: readonly Item[];
  readonly cursor: string;
}

const ROOM = 3;

let scene: TestStore;
let instance: TestInstance;
let provider: TestUser;
let consumer: TestUser;
let service: TestService;
let client: TestClient;
let urls: { readonly gateway: string; readonly api: string };

beforeAll(async () => {
  scene = await createTestStore();
  const { database } = scene.home;
  const room = createStreamRoom({ perOrganisation: ROOM, total: 100 });
  instance = await createTestInstance({ database, executionStore: scene.store, room });
  [provider, consumer] = await Promise.all([createTestUser(instance), createTestUser(instance)]);
  service = await createTestService(instance, provider);
  await instance.stores.services.publish(provider.organisationId, service.serviceKey, "marketplace");
  client = await createTestClient(instance, consumer, service);
  const [gateway, api] = await Promise.all([
    instance.gateway.listen({ host: "127.0.0.1", port: 0 }),
    instance.api.listen({ host: "127.0.0.1", port: 0 }),
  ]);
  urls = { gateway: `${gateway}/events`, api: `${api}/api/events` };
});
afterAll(async () => {
  await instance?.close();
  await scene?.close();
});

async function send(url: string, token: string, headers: Readonly<Record<string, string>> = {}) {
  const leaving = new AbortController();
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: leaving.signal,
  });
  onTestFinished(async () => {
    leaving.abort();
    await response.body?.cancel().catch(() => undefined);
  });
  return response;
}

async function readPage(url: string, token: string, headers = {}): Promise<Page> {
  const response = await send(url, token, headers);
  expect(response.status).toBe(200);
  return (await response.json()) as Page;
}

async function readProblem(response: Response): Promise<string> {
  return `${response.status} ${((await response.json()) as { code: string }).code}`;
}

async function follow(url: string, token: string, headers = {}) {
  const response = await send(url, token, { accept: "text/event-stream", ...headers });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const seen: ServerEvent[] = [];
  const stream = { seen, hasEnded: false };
  void (async () => {
    for await (const event of readEvents(response.body ?? new ReadableStream())) seen.push(event);
  })()
    .catch(() => undefined)
    .finally(() => {
      stream.hasEnded = true;
    });
  await waitUntil(() => seen.length > 0);
  return stream;
}

/** Without the first event, which is no change. */
function read(events: readonly ServerEvent[]) {
  return events.slice(1).map(({ data }) => {
    const { executionId, kind, subscriptionId } = JSON.parse(data) as Item;
    return [executionId, kind, subscriptionId];
  });
}

const subscription = (): Owner => ({
  kind: "subscription",
  id: client.subscriptionId,
  organisationId: consumer.organisationId,
});
const start = async (owner: Owner): Promise<string> => {
  const execution = createExecution({ owner, versionId: service.versionId });
  await scene.store.create(execution);
  return execution.id;
};

test("an application waits for what its subscriptions do, at the gateway, and goes on by the cursor", async () => {
  const token = await fetchAccessToken(instance, client);
  const { items, cursor } = await readPage(urls.gateway, token);
  expect(items).toEqual([]);
  const waiting = readPage(`${urls.gateway}?after=${cursor}`, token, { prefer: "wait=60" });
  await start({ kind: "organisation", id: provider.organisationId, organisationId: provider.organisationId });
  const id = await start(subscription());
  const first = await waiting;
  expect(first.items).toMatchObject([
    {
      executionId: id,
      status: "PENDING",
      kind: "outgoing",
      subscriptionId: client.subscriptionId,
      version: "1.0.0",
    },
  ]);
  await scene.store.cancel(id, client.subscriptionId);
  const next = await readPage(`${urls.gateway}?after=${first.cursor}`, token, { prefer: "wait=60" });
  expect(next.items).toMatchObject([{ executionId: id, status: "FAILED", code: "CANCELLED" }]);
  const oldest = await readPage(`${urls.gateway}?after=0&limit=1`, token);
  expect(oldest.items.map(({ cursor: at }) => at)).toEqual([oldest.cursor]);
});

test("an organisation follows what it and others start, as a stream that goes on where it broke, and no other sees it", async () => {
  const own = {
    kind: "organisation",
    id: provider.organisationId,
    organisationId: provider.organisationId,
  } as const;
  const stranger = await createTestUser(instance);
  const [streams, strange] = [
    await Promise.all([follow(urls.api, provider.token), follow(urls.api, consumer.token)]),
    await follow(urls.api, stranger.token),
  ];
  const ids = [await start(own), await start(subscription())];
  await waitUntil(() => streams[0].seen.length === 3 && streams[1].seen.length === 2);
  expect(read(streams[0].seen)).toEqual([
    [ids[0], "job", null],
    [ids[1], "incoming", null],
  ]);
  expect(read(streams[1].seen)).toEqual([[ids[1], "outgoing", client.subscriptionId]]);
  for (const at of [0, 1]) {
    const again = await follow(urls.api, provider.token, { "last-event-id": streams[0].seen[at]?.id ?? "" });
    await waitUntil(() => again.seen.length === 3 - at);
    expect(read(again.seen)).toEqual(read(streams[0].seen).slice(at));
  }
  expect(strange.seen.map(({ event }) => event)).toEqual(["cursor"]);
});

test("a stream ends with the key, and with the membership, of its reader", async () => {
  const other = await createTestClient(instance, consumer, service);
  const token = await fetchAccessToken(instance, other);
  const member = await createTestMember(instance, consumer.organisationId, "viewer");
  const [byKey, byMember] = await Promise.all([
    follow(urls.gateway, token),
    follow(urls.api, member.token, { "x-organizationid": consumer.organisationId }),
  ]);
  await instance.stores.accessKeys.revoke(consumer.organisationId, other.applicationId, other.keyId);
  await instance.identity.removeMember({
    organisationId: consumer.organisationId,
    userId: member.userId,
    by: consumer.userId,
  });
  await waitUntil(() => byKey.hasEnded && byMember.hasEnded);
  expect([byKey.seen.at(-1), byMember.seen.at(-1)]).toMatchObject([
    { event: "closed", data: expect.stringContaining("UNAUTHENTICATED") },
    { event: "closed", data: expect.stringContaining("FORBIDDEN") },
  ]);
  expect(await readProblem(await send(urls.gateway, token))).toBe("401 UNAUTHENTICATED");
});

test("who waits for a page gets none once the key was revoked, and who has left gives the place back", async () => {
  // An organisation of its own: places of other tests may not be given back yet.
  const tenant = await createTestUser(instance);
  const [other, trying] = await Promise.all([
    createTestClient(instance, tenant, service),
    createTestClient(instance, tenant, service),
  ]);
  const [token, tryingToken] = await Promise.all([
    fetchAccessToken(instance, other),
    fetchAccessToken(instance, trying),
  ]);
  const { cursor } = await readPage(urls.gateway, token);
  // Whoever tries whether there is room takes a place of it for a second: who is refused for that comes again.
  const wait = async (signal?: AbortSignal): Promise<Response> => {
    const headers = { authorization: `Bearer ${token}`, prefer: "wait=60" };
    const response = await fetch(`${urls.gateway}?after=${cursor}`, { headers, signal: signal ?? null });
    return response.status === 429 ? wait(signal) : response;
  };
  const waiting = wait();
  const leaving = new AbortController();
  const left = Array.from({ length: ROOM - 1 }, () => wait(leaving.signal).catch(() => "left"));
  const tryToWait = async () =>
    (await send(`${urls.gateway}?after=${cursor}`, tryingToken, { prefer: "wait=1" })).status;
  await waitUntil(async () => (await tryToWait()) === 429);
  leaving.abort();
  expect(await Promise.all(left)).toEqual(["left", "left"]);
  await waitUntil(async () => (await tryToWait()) === 200);
  await instance.stores.accessKeys.revoke(tenant.organisationId, other.applicationId, other.keyId);
  await waitUntil(async () => (await send(urls.gateway, token)).status === 401);
  await start({ kind: "subscription", id: other.subscriptionId, organisationId: tenant.organisationId });
  expect(await readProblem(await waiting)).toBe("401 UNAUTHENTICATED");
});

test("what cannot be read is refused: a foreign token, a bad or expired cursor, a bad limit, too many readers", async () => {
  const token = await fetchAccessToken(instance, client);
  expect(await readProblem(await send(urls.gateway, consumer.token))).toBe("401 UNAUTHENTICATED");
  expect(await readProblem(await send(urls.api, token))).toBe("401 UNAUTHENTICATED");
  for (const query of [
    "after=x",
    "after=",
    "limit=0",
    "limit=101",
    "limit=x",
    "from=now",
    "after=WyIxZTkiXQ",
  ])
    expect([query, await readProblem(await send(`${urls.gateway}?${query}`, token))]).toEqual([
      query,
      "400 INVALID_INPUT",
    ]);
  const beyond = Buffer.from('["999999999999999"]').toString("base64url");
  for (const headers of [{}, { accept: "text/event-stream" }])
    expect(await readProblem(await send(`${urls.gateway}?after=${beyond}`, token, headers))).toBe(
      "410 CURSOR_EXPIRED",
    );
  expect(await readProblem(await send(urls.gateway, token, { accept: "text/html" }))).toBe(
    "406 NOT_ACCEPTABLE",
  );
  const open = await Promise.all(Array.from({ length: ROOM }, () => follow(urls.gateway, token)));
  expect(await readProblem(await send(urls.gateway, token, { prefer: "wait=1" }))).toBe("429 RATE_LIMITED");
  expect(open.every(({ hasEnded }) => !hasEnded)).toBe(true);
  expect((await send(urls.gateway, token)).status).toBe(200);
});
