import { createExecution, createLine, start } from "@platform/engine/testing/execution-fixtures";
import type { NewExecution } from "@platform/engine/store/execution-store";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import { createTestMember } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { createHistoryScene } from "../testing/history-scene.ts";
import type { HistoryScene } from "../testing/history-scene.ts";

const BODY = '{"data": {"n": 1},  "params": {}}';

let scene: HistoryScene;
let call: CallApi;
/** What the subscriber's application has started of the provider's service; it has ended. */
let ended: NewExecution;

beforeAll(async () => {
  scene = await createHistoryScene();
  call = createApiCaller(scene.instance);
  const { foreign, subscriber, service, store } = scene;
  const { execution, claim } = await start(store, {
    owner: { kind: "subscription", id: foreign.subscriptionId, organisationId: subscriber.organisationId },
    versionId: service.versionId,
    body: Buffer.from(BODY),
  });
  ended = execution;
  await store.appendLog(claim, [createLine("one"), createLine("two")]);
  await store.appendLog(claim, [createLine("three"), createLine("four", "ERROR")]);
  await store.finish(claim, {
    status: "SUCCEEDED",
    result: Buffer.from('{"sum":3}'),
    metadata: Buffer.from('{"_usage":{"cpuSeconds":0.5,"peakMemoryBytes":1048576}}'),
  });
});
afterAll(() => scene?.close());

const get = async (user: TestUser, path: string) => call(user, `GET /executions${path}`);
/** Texts that are not JSON as parsed. */
const getText = async (user: TestUser, path: string) =>
  scene.instance.api.inject({
    method: "GET",
    url: `/api/executions${path}`,
    headers: { authorization: `Bearer ${user.token}` },
  });

test("the subscriber reads input, result, files and log of what its application has started", async () => {
  const { subscriber } = scene;
  const { body } = await get(subscriber, `/${ended.id}`);
  expect(body).toMatchObject({
    id: ended.id,
    kind: "outgoing",
    status: "SUCCEEDED",
    terminal: true,
    service: { key: scene.service.serviceKey, name: "planner" },
    version: "1.0.0",
    application: { id: scene.foreign.applicationId, name: "client" },
    subscriptionId: scene.foreign.subscriptionId,
    attempt: 1,
    resources: { cpu: 1, memory: 1 },
    timeoutSeconds: 60,
    peakMemoryBytes: 1_048_576,
    inputBytes: BODY.length,
    resultBytes: 9,
    fileCount: 0,
    areContentsShown: true,
    isLogShown: true,
    isCancelRequested: false,
  });
  expect(body).not.toHaveProperty("workerId");
  expect((await getText(subscriber, `/${ended.id}/input`)).body).toBe(BODY);
  expect((await get(subscriber, `/${ended.id}/result`)).body).toMatchObject({
    result: { sum: 3 },
    _links: { self: { href: `/api/executions/${ended.id}/result` } },
  });
  expect((await get(subscriber, `/${ended.id}/files`)).body).toEqual({ items: [] });
  expect((await get(subscriber, `/${ended.id}/result/none.txt`)).body).toMatchObject({ code: "NOT_FOUND" });
});

test("a list shows neither inputs nor results, and ids are read in capital letters as well", async () => {
  const { body } = await get(scene.subscriber, "?kind=outgoing");
  expect(JSON.stringify(body)).not.toMatch(/sum|"n"/u);
  expect(body).toMatchObject({ items: [{ id: ended.id, ranMs: expect.any(Number) }], isComplete: true });
  expect((await get(scene.subscriber, `/${ended.id.toUpperCase()}`)).status).toBe(200);
});

test("operators see which worker has claimed an execution", async () => {
  const { home, subscriber } = scene;
  await home.database.query({
    text: "update platform_user set is_operator = true where id = $1",
    values: [subscriber.userId],
  });
  const user = await scene.instance.identity.createPersonalAccessToken(subscriber.userId, {
    name: "x",
    scopes: ["admin"],
  });
  expect((await get({ ...subscriber, token: user.token }, `/${ended.id}`)).body).toMatchObject({
    workerId: "worker",
  });
  await home.database.query({
    text: "update platform_user set is_operator = false where id = $1",
    values: [subscriber.userId],
  });
});

async function readLog(query: string, id = ended.id) {
  const { body } = await get(scene.subscriber, `/${id}/log${query}`);
  const { items, nextSeq } = body as { items: { seq: string; message: string }[]; nextSeq: string | null };
  return { texts: items.map(({ message }) => message), seqs: items.map(({ seq }) => seq), nextSeq };
}

describe("a log", () => {
  test("goes on behind any of its lines, also within those that were written together", async () => {
    const all = await readLog("");
    expect(all).toMatchObject({ texts: ["one", "two", "three", "four"], nextSeq: null });
    for (const [index, seq] of all.seqs.entries())
      expect((await readLog(`?after=${seq}`)).texts).toEqual(all.texts.slice(index + 1));
  });

  test("begins with its last lines where these are asked for", async () => {
    expect((await readLog("?tail=3")).texts).toEqual(["two", "three", "four"]);
    expect((await readLog("?tail=10000")).texts).toEqual(["one", "two", "three", "four"]);
  });

  test("of one that runs leads on, also before its first line", async () => {
    const { store, subscriber, subscriberService } = scene;
    const owner = {
      kind: "organisation",
      id: subscriber.organisationId,
      organisationId: subscriber.organisationId,
    } as const;
    const { execution, claim } = await start(store, { owner, versionId: subscriberService.versionId });
    const empty = await readLog("", execution.id);
    expect(empty.texts).toEqual([]);
    await store.appendLog(claim, [createLine("first")]);
    const first = await readLog(`?after=${empty.nextSeq ?? ""}`, execution.id);
    expect(first.texts).toEqual(["first"]);
    expect((await readLog(`?after=${first.nextSeq ?? ""}`, execution.id)).texts).toEqual([]);
    await store.appendLog(claim, [createLine("second")]);
    expect((await readLog(`?after=${first.nextSeq ?? ""}`, execution.id)).texts).toEqual(["second"]);
  });
});

test("the provider sees that it ran, but neither input nor result; the log only when the subscriber shares it", async () => {
  const { provider, subscriber, foreign } = scene;
  expect((await get(provider, `/${ended.id}`)).body).toMatchObject({
    kind: "incoming",
    areContentsShown: false,
    isLogShown: false,
    application: { name: "client", organizationName: "Somebody" },
  });
  for (const part of ["input", "result", "files", "result/none.txt", "log", "events"])
    expect(await get(provider, `/${ended.id}/${part}`)).toMatchObject({
      status: 403,
      body: { code: "NOT_SHARED" },
    });
  const set = async (sharesLogs: boolean) =>
    call(subscriber, `PUT /subscriptions/${foreign.subscriptionId}`, { sharesLogs });
  expect(await set(true)).toMatchObject({ status: 200, body: { sharesLogs: true } });
  expect(await get(provider, `/${ended.id}/log?tail=1`)).toMatchObject({
    body: { items: [{ message: "four" }] },
  });
  expect((await get(provider, `/${ended.id}/input`)).status).toBe(403);
  await set(false);
  expect((await get(provider, `/${ended.id}/log`)).status).toBe(403);
});

test("what a failure says in words is shown to the provider only with the log, since it may quote the input", async () => {
  const { store, foreign, subscriber, service, provider } = scene;
  const owner = {
    kind: "subscription",
    id: foreign.subscriptionId,
    organisationId: subscriber.organisationId,
  } as const;
  const { execution, claim } = await start(store, { owner, versionId: service.versionId });
  await store.finish(claim, { status: "FAILED", code: "EXECUTION_ERROR", detail: "ValueError: a secret" });
  expect((await get(subscriber, `/${execution.id}`)).body).toMatchObject({ detail: "ValueError: a secret" });
  const shown = await getText(provider, `/${execution.id}`);
  expect(shown.json()).toMatchObject({ code: "EXECUTION_ERROR" });
  expect(shown.body).not.toContain("a secret");
});

test("the subscriber follows what its application has started, to its end; others do not, and the provider not even with the log", async () => {
  const { provider, subscriber, stranger, foreign } = scene;
  const followed = await getText(subscriber, `/${ended.id}/events`);
  expect(followed.headers["content-type"]).toContain("text/event-stream");
  const events = followed.body.split("\n").filter((line) => line.startsWith("event: "));
  expect(events).toEqual(["event: state", "event: log", "event: state", "event: end"]);
  expect(followed.body).toContain('"message":"four"');

  expect((await getText(stranger, `/${ended.id}/events`)).statusCode).toBe(404);
  const share = async (sharesLogs: boolean) =>
    call(subscriber, `PUT /subscriptions/${foreign.subscriptionId}`, { sharesLogs });
  await share(true);
  expect(await get(provider, `/${ended.id}/events`)).toMatchObject({
    status: 403,
    body: { code: "NOT_SHARED" },
  });
  await share(false);
});

test("a subscriber does not read the logs that the provider keeps to itself", async () => {
  const { provider, subscriber, service } = scene;
  const set = async (logs: string) => call(provider, `PUT /services/${service.serviceKey}`, { logs });
  expect((await set("provider")).status).toBe(200);
  expect(await get(subscriber, `/${ended.id}/log`)).toMatchObject({
    status: 403,
    body: { code: "FORBIDDEN" },
  });
  expect((await getText(subscriber, `/${ended.id}/events`)).body).not.toContain("event: log");
  await set("caller");
  expect((await get(subscriber, `/${ended.id}/log`)).status).toBe(200);
});

test("viewers of the provider are not told who has started what", async () => {
  const { instance, provider } = scene;
  const viewer = await createTestMember(instance, provider.organisationId, "viewer");
  const response = await instance.api.inject({
    method: "GET",
    url: "/api/executions?kind=incoming",
    headers: { authorization: `Bearer ${viewer.token}`, "x-organizationid": provider.organisationId },
  });
  expect(response.json()).toMatchObject({
    items: [{}, { application: { id: scene.foreign.applicationId } }],
  });
  expect(response.body).not.toMatch(/client|Somebody/u);
});

test("what is another's is answered like what does not exist", async () => {
  const { stranger, subscriber, provider } = scene;
  const unknown = createExecution().id;
  for (const part of ["", "/input", "/result", "/files", "/result/a.txt", "/log", "/location"]) {
    const [foreign, missing] = [
      await get(stranger, `/${ended.id}${part}`),
      await get(stranger, `/${unknown}${part}`),
    ];
    expect(foreign).toMatchObject({ status: 404, body: { code: "EXECUTION_NOT_FOUND" } });
    expect(missing).toEqual(foreign);
  }
  expect((await get(stranger, "")).body).toEqual({ items: [], nextCursor: null, isComplete: true });
  expect((await get(subscriber, `/${ended.id}/location`)).body).toMatchObject({
    organizationId: subscriber.organisationId,
  });
  expect((await get(provider, `/${ended.id}/location`)).body).toMatchObject({ kind: "incoming" });
});

test("an execution whose input was removed says so", async () => {
  const { home, subscriber } = scene;
  await home.database.query({ text: "delete from execution_input where id = $1", values: [ended.id] });
  expect(await get(subscriber, `/${ended.id}/input`)).toMatchObject({
    status: 410,
    body: { code: "INPUT_EXPIRED" },
  });
  expect((await get(subscriber, `/${ended.id}`)).body).not.toHaveProperty("inputBytes");
});

test("executions of a subscription that was ended, and of a deleted application, stay", async () => {
  const { instance, subscriber, foreign } = scene;
  await instance.stores.subscriptions.cancel(subscriber.organisationId, foreign.subscriptionId);
  await instance.stores.applications.delete(subscriber.organisationId, foreign.applicationId);
  expect((await get(subscriber, "?kind=outgoing")).body).toMatchObject({ items: [{}, { id: ended.id }] });
  expect((await get(subscriber, `/${ended.id}/result`)).status).toBe(200);
});

describe("bad input", () => {
  test.each([
    ["kind=mine", "/kind"],
    ["kind=job&kind=incoming", "/kind"],
    ["status=DONE", "/status/0"],
    ["status=FAILED&status=DONE", "/status/1"],
    [Array(6).fill("status=FAILED").join("&"), "/status"],
    ["serviceKey=x", "/serviceKey"],
    ["applicationId=%27%20or%201=1", "/applicationId"],
    ["version=1", "/version"],
    ["version=01.0.0", "/version"],
    ["code=", "/code"],
    [`code=${"x".repeat(101)}`, "/code"],
    ["createdAfter=yesterday", "/createdAfter"],
    ["createdBefore=2026-13-01%2000:00:00", "/createdBefore"],
    ["minRanMs=-1", "/minRanMs"],
    ["minRanMs=1e3", "/minRanMs"],
    ["minRanMs=99999999999", "/minRanMs"],
    ["q=", "/q"],
    [`q=${"x".repeat(101)}`, "/q"],
    ["limit=0", "/limit"],
    ["limit=101", "/limit"],
    ["limit=25&limit=25", "/limit"],
  ])("of a list: %s is refused with its place", async (query, path) => {
    expect(await get(scene.subscriber, `?${query}`)).toMatchObject({
      status: 400,
      body: { code: "INVALID_INPUT", errors: [{ path }] },
    });
  });

  test.each([
    "tag=x",
    "Kind=job",
    "constructor=1",
    "__proto__=1",
    "q=%00",
    "cursor=x",
    "cursor=WyJ4Il0",
    "q[]=1",
  ])("of a list: %s is refused", async (query) => {
    expect(await get(scene.subscriber, `?${query}`)).toMatchObject({
      status: 400,
      body: { code: "INVALID_INPUT" },
    });
  });

  test.each([
    ["tail=0", "/tail"],
    ["tail=10001", "/tail"],
    ["tail=all", "/tail"],
    ["after=-1", "/after"],
    ["after=1-", "/after"],
    [`after=${"9".repeat(19)}`, "/after"],
    ["after=1&tail=1", "/tail"],
  ])("of a log: %s is refused with its place", async (query, path) => {
    expect(await get(scene.subscriber, `/${ended.id}/log?${query}`)).toMatchObject({
      status: 400,
      body: { code: "INVALID_INPUT", errors: [{ path }] },
    });
  });

  test("of a log: the highest number there can be is behind its end", async () => {
    expect(
      (await get(scene.subscriber, `/${ended.id}/log?after=${"9".repeat(18)}-9999999`)).body,
    ).toMatchObject({ items: [] });
  });
});
