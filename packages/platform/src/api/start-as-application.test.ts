import { afterAll, beforeAll, expect, test } from "vitest";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import { fetchAccessToken, insertTestVersion } from "../testing/fixtures.ts";
import { createHistoryScene } from "../testing/history-scene.ts";
import type { HistoryScene } from "../testing/history-scene.ts";

let scene: HistoryScene;
let call: CallApi;

beforeAll(async () => {
  scene = await createHistoryScene();
  call = createApiCaller(scene.instance);
});
afterAll(() => scene?.close());

interface Wish {
  readonly query?: string;
  readonly body?: unknown;
  readonly id?: string;
}

const start = async (
  { query = "", body = {}, id = scene.foreign.subscriptionId }: Wish = {},
  user = scene.subscriber,
) => call(user, `POST /subscriptions/${id}/executions${query}`, body);

test("what a member starts belongs to the subscription, and its application reads it at the gateway", async () => {
  const { instance, foreign, service, subscriber } = scene;
  const { status, body } = await start({ body: { data: { n: 1 } } });
  expect([status, body["status"]]).toEqual([201, "PENDING"]);
  const id = String(body["id"]);
  expect(await call(subscriber, `GET /executions/${id}`)).toMatchObject({
    body: { kind: "outgoing", subscriptionId: foreign.subscriptionId, version: "1.0.0" },
  });
  const read = await instance.gateway.inject({
    method: "GET",
    url: `/${service.serviceKey}/planner/1.0.0/${id}`,
    headers: { authorization: `Bearer ${await fetchAccessToken(instance, foreign)}` },
  });
  expect(read.json()).toMatchObject({ id, status: "PENDING" });
});

test("input is checked as at the gateway", async () => {
  expect(await start({ body: { data: { n: "one" } } })).toMatchObject({
    status: 400,
    body: { code: "INVALID_INPUT", errors: [{ path: "/data/n" }] },
  });
});

test("the version is the one that the subscription names, unless another one is asked for", async () => {
  const { home, service, foreign, subscriber } = scene;
  await insertTestVersion(home.database, { serviceKey: service.serviceKey, version: "1.1.0" });
  const versionOf = async (query = "") => {
    const { body } = await start({ query });
    return (await call(subscriber, `GET /executions/${String(body["id"])}`)).body["version"];
  };
  expect(await versionOf()).toBe("1.1.0");
  expect(await versionOf("?version=1.0.0")).toBe("1.0.0");
  await call(subscriber, `PUT /subscriptions/${foreign.subscriptionId}`, { version: "1.0.0" });
  expect(await versionOf()).toBe("1.0.0");
  for (const version of ["9.0.0", "1", "x"])
    expect(await start({ query: `?version=${version}` })).toMatchObject({
      status: 404,
      body: { code: "SERVICE_NOT_FOUND" },
    });
  await scene.instance.stores.versions.retire(scene.provider.organisationId, service.serviceKey, "1.0.0");
  expect(await start()).toMatchObject({ status: 410, body: { code: "VERSION_RETIRED" } });
  await call(subscriber, `PUT /subscriptions/${foreign.subscriptionId}`, { version: null });
});

test("it counts for the limits of the application", async () => {
  const { home, subscriber, foreign } = scene;
  await home.database.query({
    text: `insert into quota (subscription_id, cap, month, used) values ($1, 1, date_trunc('month', now() at time zone 'UTC'), 0)`,
    values: [foreign.subscriptionId],
  });
  expect((await start()).status).toBe(201);
  expect(await start()).toMatchObject({ status: 429, body: { code: "QUOTA_EXCEEDED" } });
  await home.database.query({ text: "delete from quota" });
  const { rows } = await home.database.pool.query<{ subject: string }>("select subject from start_bucket");
  expect(rows.map(({ subject }) => subject).join(" ")).toContain(foreign.applicationId);
  expect(await call(subscriber, "GET /executions?kind=outgoing&limit=1")).toMatchObject({ status: 200 });
});

test("a paused subscription starts nothing, and one of others is not there", async () => {
  const { foreign, own, subscriber, stranger, provider } = scene;
  for (const user of [stranger, provider])
    expect(await start({}, user)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  for (const id of [own.subscriptionId, "x"]) expect((await start({ id })).status).toBe(404);
  await call(subscriber, `PUT /subscriptions/${foreign.subscriptionId}`, { status: "PAUSED" });
  expect(await start()).toMatchObject({ status: 403, body: { code: "NOT_SUBSCRIBED" } });
  await scene.instance.stores.subscriptions.cancel(subscriber.organisationId, foreign.subscriptionId);
  expect((await start()).status).toBe(404);
});
