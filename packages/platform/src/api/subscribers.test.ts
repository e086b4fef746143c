import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { waitUntil } from "@platform/engine/testing/wait-until";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import {
  createTestClient,
  createTestService,
  createTestUser,
  fetchAccessToken,
  insertTestVersion,
} from "../testing/fixtures.ts";
import type { TestClient, TestService, TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
/** Where changes are made. */
let here: TestInstance;
/** Another host: it hears of changes only through the database. */
let there: TestInstance;
let provider: TestUser;
let consumer: TestUser;
let service: TestService;
let call: CallApi;

const REASON = "Closed on 1 May: use tsp2.";

beforeAll(async () => {
  home = await createTestDatabase();
  here = await createTestInstance({ database: home.database });
  there = await createTestInstance({ database: home.connect() });
  call = createApiCaller(here);
  provider = await createTestUser(here);
  consumer = await createTestUser(here);
  service = await createTestService(here, provider, "ending");
  await call(provider, `POST /services/${service.serviceKey}/publish`, { scope: "marketplace" });
});
afterAll(async () => {
  await here?.close();
  await there?.close();
  await home?.close();
});

const pathOf = ({ subscriptionId }: TestClient) =>
  `/services/${service.serviceKey}/subscriptions/${subscriptionId}/end`;
const end = (client: TestClient, reason = REASON) => call(provider, `POST ${pathOf(client)}`, { reason });

/** An application with a subscription, and its calls of the service at the gateway of the other host. */
async function subscribe() {
  const client = await createTestClient(here, consumer, service);
  const headers = { authorization: `Bearer ${await fetchAccessToken(here, client)}` };
  const base = `/${service.serviceKey}/${service.serviceName}/1.0.0`;
  const send = async (method: "GET" | "POST" | "PUT", path: string, payload?: object) => {
    const answer = await there.gateway.inject({
      method,
      url: `${base}${path}`,
      headers,
      ...(payload === undefined ? {} : { payload }),
    });
    return { status: answer.statusCode, body: answer.json<Record<string, unknown>>() };
  };
  return { client, send, start: () => send("POST", "/", {}) };
}

test("what a provider has ended starts nothing, with the reason, and what it has started goes on and stays readable", async () => {
  const { client, send, start } = await subscribe();
  const started = await start();
  expect(started.status).toBe(201);
  const id = String(started.body["id"]);
  expect((await end(client)).status).toBe(204);
  await waitUntil(async () => (await start()).status === 403);
  const refused = await start();
  expect(refused.body).toMatchObject({ code: "SUBSCRIPTION_ENDED", detail: expect.stringContaining(REASON) });
  expect(await send("GET", `/${id}`)).toMatchObject({ status: 200, body: { status: "PENDING" } });
  expect((await send("PUT", `/${id}/cancel`)).status).toBeLessThan(300);
  const tried = await call(consumer, `POST /subscriptions/${client.subscriptionId}/executions`, {});
  expect(tried).toMatchObject({ status: 403, body: { code: "SUBSCRIPTION_ENDED" } });
});

test("both sides read that it has ended and why; it is changed no more, nor by being ended again, and may be made anew when it was removed", async () => {
  const { client } = await subscribe();
  await end(client);
  const ended = { status: "ENDED", endedAt: expect.any(String), endReason: REASON };
  const path = `/subscriptions/${client.subscriptionId}`;
  expect((await call(consumer, `GET ${path}`)).body).toMatchObject(ended);
  const { body } = await call(provider, `GET /services/${service.serviceKey}/subscriptions`);
  expect(body["items"]).toContainEqual(expect.objectContaining({ id: client.subscriptionId, ...ended }));
  for (const change of [{ status: "ACTIVE" }, { sharesLogs: true }, { version: "1" }])
    expect(await call(consumer, `PUT ${path}`, change)).toMatchObject({
      status: 409,
      body: { code: "CONFLICT" },
    });
  const first = (await call(consumer, `GET ${path}`)).body;
  const noted = await readEnds(provider);
  expect((await end(client, "Again")).status).toBe(204);
  expect((await call(consumer, `GET ${path}`)).body).toEqual(first);
  expect(await readEnds(provider)).toEqual(noted);
  const wanted = { applicationId: client.applicationId, serviceKey: service.serviceKey };
  expect(await call(consumer, "POST /subscriptions", wanted)).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining("Remove it") },
  });
  const entry = await call(consumer, `GET /marketplace/${service.serviceKey}`);
  expect(entry.body["subscriptions"]).not.toContainEqual(
    expect.objectContaining({ id: client.subscriptionId }),
  );
  expect((await call(consumer, `DELETE ${path}`)).status).toBe(204);
  expect((await call(consumer, "POST /subscriptions", wanted)).status).toBe(201);
});

test("only the provider of the very service ends it, and no other organisation's member", async () => {
  const { client, start } = await subscribe();
  const other = await createTestService(here, provider, "another");
  const stranger = await createTestUser(here);
  for (const user of [consumer, stranger])
    expect(await call(user, `POST ${pathOf(client)}`, { reason: REASON })).toMatchObject({ status: 404 });
  const path = `/services/${other.serviceKey}/subscriptions/${client.subscriptionId}/end`;
  expect(await call(provider, `POST ${path}`, { reason: REASON })).toMatchObject({ status: 404 });
  expect((await start()).status).toBe(201);
});

test.each([
  ["none", {}],
  ["a blank one", { reason: "  " }],
  ["one of several lines", { reason: "a\nb" }],
  ["one that turns the direction of text", { reason: "free \u202Eyenom" }],
  ["an oversize one", { reason: "x".repeat(501) }],
])("a reason is needed: %s is refused", async (_what, body) => {
  const { client } = await subscribe();
  expect(await call(provider, `POST ${pathOf(client)}`, body)).toMatchObject({
    status: 400,
    body: { code: "INVALID_INPUT" },
  });
});

test("no fee is due for the days after the end", async () => {
  const path = `/services/${service.serviceKey}/plans/monthly`;
  await call(provider, `PUT ${path}`, { name: "Monthly", currency: "EUR", monthly: "31" });
  const applicationId = (await call(consumer, "POST /applications", { name: "payer" })).body["id"];
  const terms = { applicationId, serviceKey: service.serviceKey, planId: "monthly" };
  const { body: made } = await call(consumer, "POST /subscriptions", terms);
  // Since 10 October, and ended on the 12th.
  await home.database.query({
    text: "update subscription_term set since = '2026-10-10 12:00+00' where subscription_id = $1",
    values: [made["id"]],
  });
  await home.database.query({
    text: `update subscription set created_at = '2026-10-10 12:00+00', ended_at = '2026-10-12 12:00+00', end_reason = 'x' where id = $1`,
    values: [made["id"]],
  });
  const { body } = await call(consumer, "GET /usage?from=2026-10-01&to=2026-10-31&by=subscription");
  expect(body["items"]).toMatchObject([{ cost: [{ currency: "EUR", amount: "3" }] }]);
});

const readEnds = async (user: TestUser) =>
  (await call(user, "GET /audit-events?action=subscription.end&limit=1")).body["items"];

test("an application whose subscription was ended in a month before leaves its place of the plan to another", async () => {
  const path = `/services/${service.serviceKey}/plans/single`;
  await call(provider, `PUT ${path}`, { name: "Single", limits: { applications: 1 } });
  onTestFinished(async () => void (await call(provider, `DELETE ${path}`)));
  const take = async () => {
    const applicationId = (await call(consumer, "POST /applications", { name: "one" })).body["id"];
    return await call(consumer, "POST /subscriptions", {
      applicationId,
      serviceKey: service.serviceKey,
      planId: "single",
    });
  };
  const first = await take();
  await call(provider, `POST /services/${service.serviceKey}/subscriptions/${String(first.body["id"])}/end`, {
    reason: REASON,
  });
  expect((await take()).status).toBe(429);
  await home.database.query({
    text: "update subscription set ended_at = ended_at - interval '40 days' where id = $1",
    values: [first.body["id"]],
  });
  expect((await take()).status).toBe(201);
});

test("an upgrade is not compared with what ended subscriptions have started", async () => {
  const other = await createTestService(here, provider, "upgrading");
  const client = await createTestClient(here, provider, other);
  const list = () =>
    here.stores.versions.listCalled(provider.organisationId, other.serviceKey, {
      major: 1,
      minor: 1,
      patch: 0,
    });
  expect(await list()).toMatchObject([{ version: "1.0.0", count: 1 }]);
  const path = `/services/${other.serviceKey}/subscriptions/${client.subscriptionId}/end`;
  expect((await call(provider, `POST ${path}`, { reason: REASON })).status).toBe(204);
  expect(await list()).toEqual([]);
});

test("the provider's audit log has the end with its reason, the subscriber's has none of it", async () => {
  const { client } = await subscribe();
  await end(client);
  expect(await readEnds(provider)).toMatchObject([
    { changes: [{ field: "reason", before: null, after: REASON }] },
  ]);
  expect(await readEnds(consumer)).toEqual([]);
});

test("a provider is told how many executions each subscriber has started in 30 days, added up or not, and of no other", async () => {
  const [{ client: mine }, { client: other }] = [await subscribe(), await subscribe()];
  const count = async (table: string, owner: string, daysAgo: number, succeeded: number) =>
    await home.database.query({
      text: `insert into ${table} (day, organisation_id, owner_id, version_id, plan_id, succeeded, failed, unknown, uncounted, cpu_micros, gb_micros)
        values ((now() at time zone 'UTC')::date - $1::int, $2, $3, $4, null, $5, 2, 1, 0, 0, 0)`,
      values: [daysAgo, consumer.organisationId, owner, service.versionId, succeeded],
    });
  const [id, otherId] = [mine.subscriptionId, other.subscriptionId];
  await count("usage_day", id, 0, 10);
  await count("usage_day", id, 29, 20);
  await count("usage_day", id, 30, 1_000);
  await count("usage_entry", id, 0, 5);
  await count("usage_day", otherId, 1, 400);
  const { body } = await call(provider, `GET /services/${service.serviceKey}/subscriptions`);
  const items = body["items"] as readonly { readonly id: string; readonly executions30d: number }[];
  const found = new Map(items.map((one) => [one.id, one.executions30d]));
  expect([found.get(id), found.get(otherId)]).toEqual([44, 403]);
});

/** What each of several subscriptions says. */
function listStatuses(latest: string | null, ...statuses: readonly (string | null)[]) {
  return statuses.map((status) => [status, latest]);
}

test("a subscription says when what it names was retired, and what is live instead", async () => {
  const growing = await createTestService(here, provider, "growing");
  const { serviceKey } = growing;
  await call(provider, `POST /services/${serviceKey}/publish`, { scope: "marketplace" });
  const path = async (version: string | null) => {
    const { subscriptionId } = await createTestClient(here, consumer, growing);
    await call(consumer, `PUT /subscriptions/${subscriptionId}`, { version });
    return `/subscriptions/${subscriptionId}`;
  };
  const paths = [await path("1.0.0"), await path("1"), await path(null)];
  const retire = (version: string) =>
    call(provider, `POST /services/${serviceKey}/versions/${version}/retire`);
  const readAll = async () => {
    const answers = await Promise.all(paths.map((one) => call(consumer, `GET ${one}`)));
    return answers.map(({ body }) => [body["versionStatus"], body["latestVersion"]]);
  };
  expect(await readAll()).toEqual(listStatuses("1.0.0", "LIVE", "LIVE", "LIVE"));
  await insertTestVersion(home.database, { serviceKey, version: "1.0.1" });
  await retire("1.0.0");
  expect(await readAll()).toEqual(listStatuses("1.0.1", "RETIRED", "LIVE", "LIVE"));
  await insertTestVersion(home.database, { serviceKey, version: "2.0.0" });
  await retire("1.0.1");
  expect(await readAll()).toEqual(listStatuses("2.0.0", "RETIRED", "RETIRED", "LIVE"));
  const changed = await call(consumer, `PUT ${paths[0]}`, { version: "2.0.0" });
  expect(changed.body).toMatchObject({ versionStatus: "LIVE" });
  await retire("2.0.0");
  expect(await readAll()).toEqual(listStatuses(null, "RETIRED", "RETIRED", null));
});
