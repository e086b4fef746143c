import { afterEach, beforeEach, expect, test } from "vitest";
import { Value } from "typebox/value";
import { RehearsalSchema } from "@platform/contract/rehearsal";
import { createExecution, createOwner } from "../testing/execution-fixtures.ts";
import { openServiceApiScene } from "../testing/service-api-scene.ts";
import type { ServiceApiScene } from "../testing/service-api-scene.ts";

let scene: ServiceApiScene;
beforeEach(async () => {
  scene = await openServiceApiScene();
});
afterEach(() => scene.close());

const rehearse = (payload: unknown = {}, headers: Record<string, string> = {}, url = "/hosted/") =>
  scene.app.inject({
    method: "POST",
    url,
    headers: { "content-type": "application/json", prefer: "dry-run", ...headers },
    payload: JSON.stringify(payload),
  });
const waitingOf = async () => (await rehearse()).json<{ waiting: object }>().waiting;
const listAll = async () => (await scene.app.inject({ url: "/hosted/" })).json<readonly object[]>();
const report = (cpu: number) =>
  scene.store.report({
    workerId: "worker",
    capacity: { cpu, memory: 8 },
    free: { cpu, memory: 8 },
    excludedVersionIds: [],
    reservedId: null,
    reservesAfterSeconds: null,
  });

test("a rehearsal says what a start would do, at the gateway, of jobs and at the local server, and creates nothing", async () => {
  await report(1);
  for (const url of ["/hosted/", "/jobs/", "/"]) {
    const answer = await rehearse({}, {}, url);
    expect([answer.statusCode, answer.headers["preference-applied"], answer.headers.location]).toEqual([
      200,
      "dry-run",
      undefined,
    ]);
    expect(answer.json()).toEqual({
      valid: true,
      version: "local",
      waiting: { reason: "QUEUE", position: 0, estimateSeconds: 1 },
      resources: { cpu: 1, memory: 1 },
      timeoutSeconds: 60,
    });
    expect(Value.Check(RehearsalSchema, answer.json())).toBe(true);
  }
  expect(await listAll()).toEqual([]);
});

test("it says of a start for later when it would begin, and refuses a time that is too far ahead", async () => {
  const startAt = new Date(Date.now() + 3_600_000).toISOString();
  const waiting: unknown = (await rehearse({ startAt })).json().waiting;
  expect(waiting).toMatchObject({ reason: "START_AT", startAt: startAt.slice(0, 19).replace("T", " ") });
  const late = await rehearse({ startAt: "2126-01-01 00:00:00" });
  expect([late.statusCode, late.json().errors[0].path]).toEqual([400, "/startAt"]);
});

test("it refuses a URL of a webhook where nobody is told anything, as a start does", async () => {
  const refused = await rehearse({ webhookUrl: "https://example.org/hook" });
  expect([refused.statusCode, refused.json().errors[0].path]).toEqual([400, "/webhookUrl"]);
});

test("it says by when it must have begun, counted from when it may", async () => {
  expect((await rehearse({})).json()).not.toHaveProperty("startBy");
  const startAt = Math.floor(Date.now() / 1_000) * 1_000 + 3_600_000;
  const later = await rehearse({ startAt: new Date(startAt).toISOString(), startWithin: 600 });
  expect(later.json().startBy).toBe(toWire(startAt + 600_000));
  const before = Date.now();
  const { startBy } = (await rehearse({ startWithin: 600 })).json();
  expect([toWire(before + 600_000), toWire(Date.now() + 600_000)]).toContain(startBy);
  expect((await rehearse({ startWithin: 0 })).json().errors[0].path).toBe("/startWithin");
  expect(await listAll()).toEqual([]);
});

/** The form of times on the wire. */
const toWire = (time: number) => new Date(time).toISOString().slice(0, 19).replace("T", " ");

test("it says that no worker fits, and how many are before it", async () => {
  expect(await waitingOf()).toEqual({ reason: "NO_WORKER" });
  await scene.close();
  scene = await openServiceApiScene();
  await report(0.5);
  expect(await waitingOf()).toEqual({ reason: "NO_LARGE_WORKER" });
  await scene.close();
  scene = await openServiceApiScene();
  await report(1);
  // Not by a start, which would have the queue surveyed before all are there.
  for (let index = 0; index < 3; index++)
    await scene.store.create(createExecution({ owner: createOwner("alice") }));
  expect(await waitingOf()).toMatchObject({ reason: "QUEUE", position: 3 });
});

test.each([
  ["not JSON of an object", [], 400, "INVALID_INPUT"],
  ["against the schema", { params: { shots: "many" } }, 400, "INVALID_INPUT"],
  ["too large", { data: { a: "x".repeat(1_100_000) } }, 413, "INPUT_TOO_LARGE"],
  [
    "for a data pool where there are none",
    { persistTo: { dataPoolId: "0198c1de-7a53-7000-8000-000000000000" } },
    422,
    "DATA_REFERENCE_INVALID",
  ],
])("a rehearsal %s is refused as the start is", async (_name, payload, status, code) => {
  const [start, rehearsal] = [await scene.start(payload), await rehearse(payload)];
  expect([rehearsal.statusCode, rehearsal.json()]).toEqual([start.statusCode, start.json()]);
  expect([rehearsal.statusCode, rehearsal.json()]).toMatchObject([status, { code }]);
});

test("a full queue refuses rehearsals, which take no place of it", async () => {
  for (let index = 0; index < 299; index++) await scene.start();
  for (let index = 0; index < 5; index++) expect((await rehearse()).statusCode).toBe(200);
  expect((await scene.start()).statusCode).toBe(201);
  expect([(await rehearse()).statusCode, (await rehearse()).json()]).toMatchObject([
    429,
    { code: "RATE_LIMITED" },
  ]);
});

test("a rehearsal leaves its key free, and of a key that has started an execution it has that one", async () => {
  const key = { "idempotency-key": "order-4711" };
  expect((await rehearse({}, key)).statusCode).toBe(200);
  const started = await scene.start({ data: {} }, key);
  expect([started.statusCode, started.headers["idempotency-replayed"]]).toEqual([201, undefined]);
  const again = await rehearse({ data: {} }, key);
  expect([
    again.statusCode,
    again.headers["idempotency-replayed"],
    again.headers["preference-applied"],
  ]).toEqual([201, "true", "dry-run"]);
  expect(again.json()).toMatchObject({ id: started.json<{ id: string }>().id });
  const conflict = await rehearse({}, key);
  expect([conflict.statusCode, conflict.json()]).toMatchObject([409, { code: "IDEMPOTENCY_CONFLICT" }]);
  expect(await listAll()).toHaveLength(1);
});
