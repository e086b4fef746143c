import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import { createTestClient, createTestService, createTestUser } from "../testing/fixtures.ts";
import type { TestClient, TestService, TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestStore } from "../testing/test-store.ts";
import type { TestStore } from "../testing/test-store.ts";

let scene: TestStore;
let here: TestInstance;
let call: CallApi;
let owner: TestUser;
let stranger: TestUser;
let service: TestService;
let client: TestClient;

beforeAll(async () => {
  scene = await createTestStore();
  here = await createTestInstance({ database: scene.home.connect(), executionStore: scene.store });
  call = createApiCaller(here);
});
afterAll(async () => {
  await here?.close();
  await scene?.close();
});
beforeEach(async () => {
  [owner, stranger] = [await createTestUser(here), await createTestUser(here)];
  service = await createTestService(here, owner);
  client = await createTestClient(here, owner, service);
});

const given = (over: object = {}) => ({
  name: "nightly",
  cron: "30 2 * * *",
  target: { serviceKey: service.serviceKey },
  ...over,
});
const create = (over: object = {}, by = owner) => call(by, "POST /schedules", given(over));
const createId = async (over: object = {}) => String((await create(over)).body["id"]);
const count = async (condition: string, ...values: readonly unknown[]) =>
  (await scene.home.database.query({ text: `select 1 from ${condition}`, values })).length;

test("a schedule sends the digits that it was given, and shows them", async () => {
  const sent = '{"data":{"n":12345678901234567890,"far":1e400}}';
  const answer = await here.api.inject({
    method: "POST",
    url: "/api/schedules",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${owner.token}`,
      "x-organizationid": owner.organisationId,
    },
    payload: JSON.stringify(given({ body: "-" })).replace('"-"', sent),
  });
  expect(answer.statusCode).toBe(201);
  expect(answer.body).toContain(`"body":${sent}`);
  const [stored] = await scene.home.database.query<{ readonly body: string }>({
    text: "select body from schedule where id = $1",
    values: [answer.json<{ id: string }>().id],
  });
  expect(stored?.body).toBe(sent);
});

test("a schedule is what was given, with defaults, and says when it is due five times", async () => {
  // No change of the clocks touches it.
  const cron = "30 4 * * *";
  const { status, body } = await create({ cron, timeZone: "Europe/Berlin" });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    name: "nightly",
    cron,
    timeZone: "Europe/Berlin",
    overlap: "skip",
    target: { serviceKey: service.serviceKey },
    body: {},
    enabled: true,
    pause: null,
    lastRun: null,
  });
  const times = body["nextTimes"] as readonly string[];
  expect(times).toHaveLength(5);
  expect(times[0]).toBe(body["nextAt"]);
  const clock = new Intl.DateTimeFormat("en-GB", { timeZone: "Europe/Berlin", timeStyle: "short" });
  for (const time of times) expect(clock.format(Date.parse(`${time}Z`))).toBe("04:30");
  const id = String(body["id"]);
  expect((await call(owner, `GET /schedules/${id}`)).body).toEqual(body);
  const { body: _sent, nextTimes: _times, ...shown } = body;
  expect((await call(owner, "GET /schedules")).body).toEqual({ items: [shown], nextCursor: null });
});

test("what is changed is changed, what is left out stays, and a paused one is not due", async () => {
  const id = await createId({ body: { data: { n: 1 } }, overlap: "queue" });
  const paused = await call(owner, `PUT /schedules/${id}`, { enabled: false });
  expect(paused.body).toMatchObject({
    enabled: false,
    nextAt: null,
    nextTimes: [],
    pause: null,
    overlap: "queue",
  });
  const changed = await call(owner, `PUT /schedules/${id}`, { cron: "@hourly", name: "hourly" });
  expect(changed.body).toMatchObject({
    name: "hourly",
    cron: "@hourly",
    enabled: false,
    body: { data: { n: 1 } },
  });
  const resumed = await call(owner, `PUT /schedules/${id}`, { enabled: true });
  expect(resumed.body).toMatchObject({ enabled: true, nextAt: expect.stringMatching(/:00:00$/) });
  const moved = await call(owner, `PUT /schedules/${id}`, {
    target: { subscriptionId: client.subscriptionId },
  });
  expect(moved.body["target"]).toEqual({ subscriptionId: client.subscriptionId });
  expect(moved.body["nextAt"]).toBe(resumed.body["nextAt"]);
  expect((await call(owner, `DELETE /schedules/${id}`)).status).toBe(204);
  expect((await call(owner, `GET /schedules/${id}`)).status).toBe(404);
});

test("occurrences may have a deadline of their start", async () => {
  const { status, body } = await create({ body: { data: {}, startWithin: 600 } });
  expect([status, body["body"]]).toEqual([201, { data: {}, startWithin: 600 }]);
});

test.each([
  [{ cron: "* * * *" }, "/cron"],
  [{ cron: "* * * * * *" }, "/cron"],
  [{ cron: "61 * * * *" }, "/cron"],
  [{ cron: "0 0 30 2 *" }, "/cron"],
  [{ cron: "@reboot" }, "/cron"],
  [{ cron: "" }, "/cron"],
  [{ cron: "* ".repeat(200) }, "/cron"],
  [{ cron: 5 }, "/cron"],
  [{ timeZone: "Mars/Olympus" }, "/timeZone"],
  [{ timeZone: "+01:00" }, "/timeZone"],
  [{ overlap: "wait" }, "/overlap"],
  [{ name: "" }, "/name"],
  [{ name: "a\u202eb" }, "/name"],
  [{ name: "x".repeat(64) }, "/name"],
  [{ enabled: "yes" }, "/enabled"],
  [{ target: {} }, "/target"],
  [{ target: { subscriptionId: "a", version: "1" } }, "/target/version"],
  [{ target: { serviceKey: "a", subscriptionId: "a" } }, "/target"],
  [{ target: { serviceKey: "a", version: "one" } }, "/target/version"],
  [{ target: { service: "a" } }, "/target"],
  [{ body: [] }, "/body"],
  [{ body: { data: 5 } }, "/body/data"],
  [{ body: { data: {}, dataRef: {} } }, "/body/dataRef"],
  [{ body: { other: 1 } }, "/body/other"],
  [{ body: { startWithin: 0 } }, "/body/startWithin"],
  [{ body: { startAt: new Date().toISOString() } }, "/body/startAt"],
  [{ extra: 1 }, ""],
])("%j is refused with INVALID_INPUT and the field", async (over, path) => {
  const { status, body } = await create(over);
  expect([status, body["code"]]).toEqual([400, "INVALID_INPUT"]);
  const errors = body["errors"] as readonly { readonly path: string }[];
  expect(errors.some((error) => error.path.startsWith(path))).toBe(true);
  const id = await createId();
  expect((await call(owner, `PUT /schedules/${id}`, over)).status).toBe(400);
});

async function refused(over: object): Promise<string> {
  const { status, body } = await create({ name: "another", ...over });
  return `${status} ${String(body["code"])}`;
}

test("a body that is too large, a name that is taken, and targets that cannot be started are refused", async () => {
  const id = await createId();
  expect(await refused({ body: { data: { text: "x".repeat(66_000) } } })).toBe("413 INPUT_TOO_LARGE");
  expect(await refused({ name: "nightly" })).toBe("409 CONFLICT");
  expect(await refused({ target: { serviceKey: "nothing" } })).toBe("404 SERVICE_NOT_FOUND");
  expect(await refused({ target: { serviceKey: service.serviceKey, version: "2" } })).toBe(
    "404 SERVICE_NOT_FOUND",
  );
  expect(await refused({ target: { subscriptionId: service.serviceKey } })).toBe("404 NOT_FOUND");
  await call(owner, `POST /services/${service.serviceKey}/versions/1.0.0/retire`);
  expect(await refused({ target: { serviceKey: service.serviceKey, version: "1.0.0" } })).toBe(
    "410 VERSION_RETIRED",
  );
  const second = await createTestService(here, owner, "second");
  const other = await call(owner, "POST /schedules", {
    ...given({ name: "another" }),
    target: { serviceKey: second.serviceKey, version: "1" },
  });
  expect(other.status).toBe(201);
  const taken = await call(owner, `PUT /schedules/${String(other.body["id"])}`, { name: "nightly" });
  expect(taken.status).toBe(409);
  expect((await call(owner, `GET /schedules/${id}`)).body["name"]).toBe("nightly");
});

test("services, subscriptions and schedules of others are as if there were none", async () => {
  const id = await createId();
  for (const request of [
    `GET /schedules/${id}`,
    `PUT /schedules/${id}`,
    `DELETE /schedules/${id}`,
    `POST /schedules/${id}/run`,
    `GET /schedules/${id}/runs`,
  ]) {
    const answer = await call(stranger, request, request.startsWith("PUT") ? { enabled: false } : undefined);
    expect([request, answer.status]).toEqual([request, 404]);
  }
  expect((await call(stranger, "GET /schedules")).body).toEqual({ items: [], nextCursor: null });
  expect((await create({}, stranger)).status).toBe(404);
  const target = { subscriptionId: client.subscriptionId };
  expect((await create({ target }, stranger)).status).toBe(404);
  expect((await call(owner, `GET /schedules/${id}`)).body["enabled"]).toBe(true);
});

test("run starts it now, also while it is paused, and leaves when it is due; a refusal is answered as one of a start", async () => {
  const id = await createId({ enabled: false, body: { data: { n: 1 } } });
  const made = await call(owner, `POST /schedules/${id}/run`);
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({ status: "STARTED", trigger: "MANUAL", code: null });
  const job = await call(owner, `GET /jobs/${String(made.body["executionId"])}`);
  expect(job.body["status"]).toBe("PENDING");
  expect((await call(owner, `POST /schedules/${id}/run`)).body["status"]).toBe("STARTED");
  await call(owner, `PUT /schedules/${id}`, { body: { data: { n: "one" } } });
  const refused = await call(owner, `POST /schedules/${id}/run`);
  expect([refused.status, refused.body["code"]]).toEqual([400, "INVALID_INPUT"]);
  const { items } = (await call(owner, `GET /schedules/${id}/runs`)).body as {
    readonly items: readonly { readonly status: string; readonly code: string | null }[];
  };
  expect(items.map(({ status, code }) => `${status} ${code}`)).toEqual([
    "REFUSED INVALID_INPUT",
    "STARTED null",
    "STARTED null",
  ]);
  expect((await call(owner, `GET /schedules/${id}`)).body).toMatchObject({
    enabled: false,
    lastRun: items[0],
  });
});

test("runs come in pages", async () => {
  const id = await createId();
  for (const _ of [1, 2, 3]) await call(owner, `POST /schedules/${id}/run`);
  const first = await call(owner, `GET /schedules/${id}/runs?limit=2`);
  const cursor = String(first.body["nextCursor"]);
  const second = await call(owner, `GET /schedules/${id}/runs?limit=2&cursor=${cursor}`);
  const ids = [first, second].flatMap(({ body }) =>
    (body["items"] as readonly { id: string }[]).map((one) => one.id),
  );
  expect(new Set(ids).size).toBe(3);
  expect(ids).toEqual(ids.toSorted().toReversed());
  expect(second.body["nextCursor"]).toBeNull();
});

test("the audit log says who made, changed, ran and deleted it, and when it is due", async () => {
  const id = await createId();
  await call(owner, `PUT /schedules/${id}`, { cron: "@daily", enabled: false });
  await call(owner, `POST /schedules/${id}/run`);
  await call(owner, `DELETE /schedules/${id}`);
  const { body } = await call(owner, "GET /audit-events");
  const entries = (
    body["items"] as readonly {
      readonly action: string;
      readonly target: unknown;
      readonly changes: unknown;
    }[]
  ).filter(({ action }) => action.startsWith("schedule."));
  expect(entries.map(({ action }) => action)).toEqual([
    "schedule.delete",
    "schedule.run",
    "schedule.update",
    "schedule.create",
  ]);
  expect(entries.every(({ target }) => JSON.stringify(target).includes(id))).toBe(true);
  expect(entries[2]?.changes).toEqual([
    { field: "times", before: "30 2 * * * UTC", after: "@daily UTC" },
    { field: "enabled", before: "true", after: "false" },
  ]);
});

test("the schedules of an organisation that is deleted are deleted", async () => {
  const made = await call(owner, "POST /organizations", { name: "Short" });
  const organisationId = String(made.body["id"]);
  const id = await createId();
  await scene.home.database.query({
    text: "update schedule set organisation_id = $2 where id = $1",
    values: [id, organisationId],
  });
  const ended = await here.api.inject({
    method: "DELETE",
    url: `/api/organizations/${organisationId}`,
    headers: { authorization: `Bearer ${owner.token}`, "x-organizationid": organisationId },
  });
  expect(ended.statusCode).toBe(204);
  expect(await count("schedule where id = $1", id)).toBe(0);
});

test("none is made in an organisation that was deleted meanwhile: nothing would delete it any more", async () => {
  const late = await createTestUser(here);
  const { serviceKey } = await createTestService(here, late);
  await scene.home.database.query({
    text: "update organisation set deleted_at = now() where id = $1",
    values: [late.organisationId],
  });
  const target = { serviceKey, version: null, subscriptionId: null };
  const times = { cron: "0 0 1 1 *", timeZone: "UTC", overlap: "skip" } as const;
  const author = { by: late.userId, enabled: true, findNext: () => Date.now() };
  const given = { name: "late", body: "{}", ...times, ...target };
  const making = here.stores.schedules.create(late.organisationId, given, author);
  await expect(making).rejects.toMatchObject({ code: "FORBIDDEN" });
});
