import { afterEach, beforeEach, expect, test } from "vitest";
import { Value } from "typebox/value";
import type { Batch, BatchRehearsal } from "@platform/contract/batch";
import { BatchRehearsalSchema } from "@platform/contract/batch";
import { openServiceApiScene } from "../testing/service-api-scene.ts";
import type { ServiceApiScene } from "../testing/service-api-scene.ts";

let scene: ServiceApiScene;
beforeEach(async () => {
  scene = await openServiceApiScene();
});
afterEach(() => scene.close());

const send = (payload: string, headers: Readonly<Record<string, string>> = {}, base = "/hosted") =>
  scene.app.inject({
    method: "POST",
    url: `${base}/batch`,
    headers: { "content-type": "application/json", ...headers },
    payload,
  });
const toText = (items: readonly unknown[]) => JSON.stringify({ items });
const rehearse = (payload: string, headers: Readonly<Record<string, string>> = {}, base?: string) =>
  send(payload, { prefer: "dry-run", ...headers }, base);
const readCodes = (answer: Awaited<ReturnType<typeof send>>) =>
  answer.json<BatchRehearsal>().items.map(({ code }) => code ?? "valid");
const countPending = async () => [...(await scene.store.countPending()).values()].reduce((a, b) => a + b, 0);

test("a rehearsal of a batch says of each item what its start would do, wherever batches are, and creates nothing", async () => {
  for (const base of ["/hosted", "/jobs", ""]) {
    const answer = await rehearse(toText([{ data: { n: 1 } }, { nonsense: 1 }, {}]), {}, base);
    expect([answer.statusCode, answer.headers["preference-applied"], answer.headers.location]).toEqual([
      200,
      "dry-run",
      undefined,
    ]);
    const body = answer.json<BatchRehearsal>();
    expect(Value.Check(BatchRehearsalSchema, body)).toBe(true);
    expect(body).toMatchObject({ valid: false, total: 3, refused: 1 });
    expect(body.items).toMatchObject([
      { index: 0, rehearsal: { valid: true, version: "local", waiting: { reason: "NO_WORKER" } } },
      { index: 1, code: "INVALID_INPUT", detail: expect.any(String) },
      { index: 2, rehearsal: { valid: true } },
    ]);
    expect(await countPending()).toBe(0);
  }
  expect(readCodes(await rehearse(toText([{}])))).toEqual(["valid"]);
});

test("its items are refused for the reasons for which they are when they are started", async () => {
  const text = `{"items": [{}, {"params": {"shots": "many"}}, 17, null, {"data": 1}, {"a" 1}, {"data":{"a":"${"x".repeat(
    1_100_000,
  )}"}}, {"persistTo": {"dataPoolId": "0198c1de-7a53-7000-8000-000000000000"}}, {"startAt": "2126-01-01 00:00:00"}]}`;
  const rehearsed = (await rehearse(text)).json<BatchRehearsal>();
  const started = (await send(text)).json<Batch>();
  expect(rehearsed.refused).toBe(8);
  for (const item of started.items.slice(1)) expect(rehearsed.items[item.index]).toEqual(item);
});

test("a batch that is refused as a whole is refused, bounded as one that is started", async () => {
  const many = toText(Array.from({ length: 1_001 }, () => ({})));
  const large = `{"items":[{"data":{"a":"${"x".repeat(16 * 1024 * 1024)}"}}]}`;
  for (const [payload, status] of [
    ["{}", 400],
    ['{"items":[]}', 400],
    [many, 400],
    [large, 413],
  ] as const) {
    const [rehearsed, started] = [await rehearse(payload), await send(payload)];
    expect([rehearsed.statusCode, rehearsed.json().code]).toEqual([status, started.json().code]);
  }
});

test("items that come before take places: of the queue, and in it", async () => {
  const { items, refused } = (
    await rehearse(toText(Array.from({ length: 310 }, () => ({}))))
  ).json<BatchRehearsal>();
  expect(refused).toBe(10);
  for (const item of items.slice(300))
    expect(item).toMatchObject({ code: "RATE_LIMITED", retryAfterSeconds: expect.any(Number) });
  await scene.store.report({
    workerId: "worker",
    capacity: { cpu: 1, memory: 8 },
    free: { cpu: 1, memory: 8 },
    excludedVersionIds: [],
    reservedId: null,
    reservesAfterSeconds: null,
  });
  const readPositions = async () =>
    (await rehearse(toText([{}, { nonsense: 1 }, {}, {}])))
      .json<BatchRehearsal>()
      .items.map(({ rehearsal }) => rehearsal?.waiting.position);
  // The workers are listed once in three seconds.
  await expect.poll(readPositions).toEqual([0, undefined, 1, 2]);
});

test("with a key that has started a batch it is answered that one, and a free key stays free", async () => {
  const key = { "idempotency-key": "order-4711" };
  const text = toText([{}, { nonsense: 1 }]);
  expect((await rehearse(text, key)).statusCode).toBe(200);
  const started = await send(text, key);
  expect(started.headers["idempotency-replayed"]).toBeUndefined();
  const again = await rehearse(text, key);
  expect([
    again.statusCode,
    again.headers["idempotency-replayed"],
    again.headers["preference-applied"],
  ]).toEqual([201, "true", "dry-run"]);
  expect(again.headers.location).toBe(started.headers.location);
  expect(again.json()).toEqual(started.json());
  const other = await rehearse(toText([{}]), key);
  expect([other.statusCode, other.json().code]).toEqual([409, "IDEMPOTENCY_CONFLICT"]);
  expect(await countPending()).toBe(1);
});
