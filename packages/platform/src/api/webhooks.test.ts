import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createApiCaller } from "../testing/api-calls.ts";
import type { CallApi } from "../testing/api-calls.ts";
import { createTestUser } from "../testing/fixtures.ts";
import type { TestUser } from "../testing/fixtures.ts";
import { createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";

let home: TestDatabase;
let here: TestInstance;
let call: CallApi;
let owner: TestUser;
let stranger: TestUser;
let application: string;

beforeAll(async () => {
  home = await createTestDatabase();
  here = await createTestInstance({ database: home.database });
  call = createApiCaller(here);
});
afterAll(async () => {
  await here?.close();
  await home?.close();
});
beforeEach(async () => {
  [owner, stranger] = [await createTestUser(here), await createTestUser(here)];
  application = String((await call(owner, "POST /applications", { name: "shop" })).body["id"]);
});

const URL = "https://example.org/hook";
const create = (body: object = { url: URL }, by = owner) =>
  call(by, `POST /applications/${application}/webhooks`, body);

test("the secret of a webhook is shown when it is made and when it is replaced, and nowhere else; it is stored sealed", async () => {
  const { status, body } = await create();
  expect(status).toBe(201);
  expect(body).toMatchObject({
    url: URL,
    events: ["execution.succeeded", "execution.failed", "execution.unknown"],
    isPaused: false,
    waiting: 0,
    formerSecretUntil: null,
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
  });
  const path = `/applications/${application}/webhooks/${String(body["id"])}`;
  const { secret: _secret, ...shown } = body;
  expect((await call(owner, `GET ${path}`)).body).toEqual(shown);
  expect((await call(owner, `GET /applications/${application}/webhooks`)).body).toEqual({
    items: [shown],
    nextCursor: null,
  });
  const rotated = await call(owner, `POST ${path}/rotate-secret`, { oldEndsInHours: 1 });
  expect(rotated.body["secret"]).not.toBe(body["secret"]);
  expect(rotated.body["formerSecretUntil"]).toMatch(/^\d{4}-/);
  const rows = await home.database.query({ text: "select * from webhook" });
  expect(JSON.stringify(rows)).not.toContain("whsec_");
  const events = await call(owner, "GET /audit-events");
  expect(JSON.stringify(events.body)).not.toContain("whsec_");
  expect(JSON.stringify(events.body)).toContain("webhook.rotate");
});

test("what is changed is changed, and what is left out stays", async () => {
  const path = `/applications/${application}/webhooks/${String((await create()).body["id"])}`;
  const paused = await call(owner, `PUT ${path}`, { isPaused: true });
  expect(paused.body).toMatchObject({ url: URL, isPaused: true });
  const moved = await call(owner, `PUT ${path}`, {
    url: "http://example.org:81/x",
    events: ["execution.running"],
  });
  expect(moved.body).toMatchObject({
    url: "http://example.org:81/x",
    events: ["execution.running"],
    isPaused: true,
  });
});

test.each([
  [{ url: "" }],
  [{ url: null }],
  [{ url: "ftp://example.org/" }],
  [{ url: "https://ada:secret@example.org/" }],
  [{ url: "https://example.org/#part" }],
  [{ url: "example.org" }],
  [{ url: `https://example.org/${"x".repeat(2_000)}` }],
  [{ url: URL, events: [] }],
  [{ url: URL, events: ["execution.done"] }],
  [{ url: URL, events: ["execution.failed", "execution.failed"] }],
  [{ url: URL, secret: "whsec_mine" }],
  [{ url: URL, isPaused: true }],
])("%j makes no webhook", async (body) => {
  expect(await create(body)).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } });
});

test("another organisation finds neither application nor webhook nor message, and changes nothing", async () => {
  const id = String((await create()).body["id"]);
  const path = `/applications/${application}/webhooks/${id}`;
  const sent = await call(owner, `POST ${path}/test`);
  expect(sent).toMatchObject({ status: 201, body: { event: "test", executionId: null, status: "PENDING" } });
  const delivery = String(sent.body["id"]);
  const refused = await Promise.all([
    create({ url: URL }, stranger),
    call(stranger, `GET /applications/${application}/webhooks`),
    call(stranger, `GET ${path}`),
    call(stranger, `PUT ${path}`, { isPaused: true }),
    call(stranger, `POST ${path}/rotate-secret`),
    call(stranger, `POST ${path}/test`),
    call(stranger, `GET ${path}/deliveries`),
    call(stranger, `POST ${path}/deliveries/${delivery}/redeliver`),
    call(stranger, `DELETE ${path}`),
  ]);
  expect(refused.map(({ status, body }) => [status, body["code"]])).toEqual(
    refused.map(() => [404, "NOT_FOUND"]),
  );
  expect((await call(owner, `GET ${path}`)).body).toMatchObject({
    isPaused: false,
    formerSecretUntil: null,
    waiting: 1,
  });
  // Through an application of one's own neither.
  const own = String((await call(stranger, "POST /applications", { name: "own" })).body["id"]);
  expect((await call(stranger, `GET /applications/${own}/webhooks/${id}`)).status).toBe(404);
  expect(
    (await call(stranger, `POST /applications/${own}/webhooks/${id}/deliveries/${delivery}/redeliver`))
      .status,
  ).toBe(404);
});

test("a webhook goes with its messages when it, its application or its organisation is deleted", async () => {
  const path = `/applications/${application}/webhooks/${String((await create()).body["id"])}`;
  await call(owner, `POST ${path}/test`);
  expect((await call(owner, `DELETE ${path}`)).status).toBe(204);
  expect((await call(owner, `DELETE ${path}`)).status).toBe(404);
  const second = String((await create()).body["id"]);
  await call(owner, `POST /applications/${application}/webhooks/${second}/test`);
  expect((await call(owner, `DELETE /applications/${application}`)).status).toBe(204);
  const left =
    "select (select count(*)::int from webhook w join application a on a.id = w.application_id where a.organisation_id = $1) as webhooks";
  expect(await home.database.query({ text: left, values: [owner.organisationId] })).toEqual([
    { webhooks: 0 },
  ]);
  expect((await create()).status).toBe(404);
});

test("malformed ids and cursors are refused as anywhere", async () => {
  for (const id of ["x", "00000000-0000-0000-0000-00000000000g", "%00"])
    expect((await call(owner, `GET /applications/${application}/webhooks/${id}`)).status).toBeLessThan(500);
  expect((await call(owner, `GET /applications/${application}/webhooks?cursor=x`)).body["code"]).toBe(
    "INVALID_INPUT",
  );
  const path = `/applications/${application}/webhooks/${String((await create()).body["id"])}`;
  expect((await call(owner, `GET ${path}/deliveries?status=done`)).body["code"]).toBe("INVALID_INPUT");
  expect((await call(owner, `POST ${path}/rotate-secret`, { oldEndsInHours: 169 })).body["code"]).toBe(
    "INVALID_INPUT",
  );
});
