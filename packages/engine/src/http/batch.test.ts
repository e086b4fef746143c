import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Batch } from "@platform/contract/batch";
import { createUuidV7 } from "../base/uuid.ts";
import { SUCCESS, TIMESTAMP, openServiceApiScene } from "../testing/service-api-scene.ts";
import type { ServiceApiScene } from "../testing/service-api-scene.ts";

let scene: ServiceApiScene;
beforeEach(async () => {
  scene = await openServiceApiScene();
});
afterEach(() => scene.close());

interface Sent {
  readonly base?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const send = (payload: string, { base = "/hosted", headers = {} }: Sent = {}) =>
  scene.app.inject({
    method: "POST",
    url: `${base}/batch`,
    headers: { "content-type": "application/json", ...headers },
    payload,
  });
const sendItems = (items: readonly unknown[], sent?: Sent) => send(JSON.stringify({ items }), sent);
const read = async (url: string, headers: Readonly<Record<string, string>> = {}) =>
  await scene.app.inject({ url, headers });
const count = async (owner = "alice") => {
  const states = await scene.store.countPending();
  return [...states].reduce((sum, [id, pending]) => (id === owner ? sum + pending : sum), 0);
};

describe("a batch", () => {
  test("starts every item, answers them in order, and is found at its URL, at the gateway, for jobs and on the local server", async () => {
    for (const base of ["/hosted", "/jobs", ""]) {
      const answer = await sendItems([{ data: { n: 1 } }, {}, { params: { shots: 3 } }], { base });
      expect(answer.statusCode).toBe(201);
      const batch = answer.json<Batch>();
      expect(batch).toMatchObject({ total: 3, done: 0, refused: 0, complete: true, terminal: false });
      expect(batch.createdAt).toMatch(TIMESTAMP);
      expect(batch.items.map(({ index, status }) => [index, status])).toEqual(
        [0, 1, 2].map((index) => [index, "PENDING"]),
      );
      expect(answer.headers.location).toBe(`${base}/batch/${batch.id}`);
      for (const { id = "" } of batch.items)
        expect((await read(`${base}/${id}`)).json()).toMatchObject({ id, status: "PENDING" });
      const found = await read(`${base}/batch/${batch.id}`);
      expect(found.headers["retry-after"]).toBe("1");
      expect(found.json()).toEqual(batch);
    }
  });

  test("stores each item as the bytes that came, without what the schema has as a default", async () => {
    const item = '{ "data": {"a": 1.0, "b": "\\u0000"}, "params": {} }';
    await send(`{"items": [ ${item} ]}`);
    expect(Buffer.from((await scene.claimOne()).body).toString()).toBe(item);
  });

  test("refuses bad items by themselves, as each alone would be, and starts the others", async () => {
    const answer = await send(
      `{"items": [{}, {"params": {"shots": "many"}}, 17, [], null, {"data": 1}, {"what": 1}, {] , {"data":{"a":"${"x".repeat(1_100_000)}"}}, {"persistTo": {"dataPoolId": "${createUuidV7()}"}}, {}]}`.replace(
        "{] ,",
        '{"a" 1},',
      ),
    );
    expect(answer.statusCode).toBe(201);
    const { items, refused, total } = answer.json<Batch>();
    expect(items.map(({ status, code }) => status ?? code)).toEqual([
      "PENDING",
      "INVALID_INPUT",
      "INVALID_INPUT",
      "INVALID_INPUT",
      "INVALID_INPUT",
      "INVALID_INPUT",
      "INVALID_INPUT",
      "INVALID_JSON",
      "INPUT_TOO_LARGE",
      "DATA_REFERENCE_INVALID",
      "PENDING",
    ]);
    expect([refused, total]).toEqual([9, 11]);
    expect(items[1]?.errors).toEqual([{ path: "/params/shots", message: "must be integer." }]);
    expect(items.filter(({ code }) => code !== undefined).every(({ id, detail }) => !id && detail)).toBe(
      true,
    );
    expect((await read("/hosted/")).json()).toHaveLength(2);
  });

  test.each([
    ["", 400, "INVALID_JSON"],
    ["[]", 400, "INVALID_INPUT"],
    ["{}", 400, "INVALID_INPUT"],
    ['{"items":[]}', 400, "INVALID_INPUT"],
    ['{"items":{}}', 400, "INVALID_INPUT"],
    ['{"items":[{}],"key":1}', 400, "INVALID_INPUT"],
    ['{"items":[{}', 400, "INVALID_JSON"],
    [`{"items":[${Array.from({ length: 1_001 }, () => "{}").join(",")}]}`, 400, "INVALID_INPUT"],
    [`{"items":[{"data":{"a":"${"x".repeat(16 * 1024 * 1024)}"}}]}`, 413, "INPUT_TOO_LARGE"],
  ])("of another form is refused, and starts nothing (case %#)", async (payload, status, code) => {
    const answer = await send(payload);
    expect([answer.statusCode, answer.json()]).toMatchObject([status, { code, detail: expect.any(String) }]);
    expect((await read("/hosted/")).json()).toEqual([]);
  });

  test("needs JSON, and other methods are refused with Allow", async () => {
    expect((await send("{}", { headers: { "content-type": "text/plain" } })).statusCode).toBe(415);
    const other = await scene.app.inject({ method: "DELETE", url: "/hosted/batch" });
    expect([other.statusCode, other.headers["allow"]]).toEqual([405, "POST"]);
  });

  test("beyond the limits of the queue refuses what has no place, with the time after which there may be", async () => {
    const { items, refused } = (await sendItems(Array.from({ length: 310 }, () => ({})))).json<Batch>();
    expect(refused).toBe(10);
    expect(items.slice(0, 300).every(({ status }) => status === "PENDING")).toBe(true);
    for (const item of items.slice(300))
      expect(item).toMatchObject({ code: "RATE_LIMITED", retryAfterSeconds: expect.any(Number) });
    expect(await count()).toBe(300);
    const all = await sendItems([{}, {}], { headers: { "x-owner": "bob" } });
    expect(all.json<Batch>().items.map(({ status, code }) => status ?? code)).toEqual([
      "PENDING",
      "UNAVAILABLE",
    ]);
  });
});

describe("a batch with an Idempotency-Key", () => {
  const KEY = { "idempotency-key": "order-4711" };

  test("is started once: repeated it has the same ids, refusals too, and the states of by now", async () => {
    const items = [{ data: { n: 1 } }, { nonsense: 1 }, {}];
    const first = await sendItems(items, { headers: KEY });
    expect(first.headers["idempotency-replayed"]).toBeUndefined();
    const claim = await scene.claimOne();
    await scene.store.finish(claim, SUCCESS);
    const again = await sendItems(items, { headers: KEY });
    expect([again.statusCode, again.headers["idempotency-replayed"]]).toEqual([201, "true"]);
    const [before, after] = [first.json<Batch>(), again.json<Batch>()];
    expect(after.items.map(({ id }) => id)).toEqual(before.items.map(({ id }) => id));
    expect(after.items[1]).toEqual(before.items[1]);
    expect(after).toMatchObject({ id: before.id, counts: { SUCCEEDED: 1, PENDING: 1 }, done: 2 });
    expect((await read("/hosted/")).json()).toHaveLength(2);
  });

  test("is a conflict with another body, and with a start of the same key", async () => {
    await sendItems([{}], { headers: KEY });
    for (const answer of [await sendItems([{}, {}], { headers: KEY }), await scene.start({}, KEY)])
      expect([answer.statusCode, answer.json().code]).toEqual([409, "IDEMPOTENCY_CONFLICT"]);
    expect((await read("/hosted/")).json()).toHaveLength(1);
  });

  test("that races another request of its key is one batch with one set of executions", async () => {
    const items = Array.from({ length: 50 }, (_, n) => ({ data: { n } }));
    const answers = await Promise.all([1, 2, 3].map(() => sendItems(items, { headers: KEY })));
    const ids = answers.map((answer) => answer.json<Batch>().items.map(({ id }) => id));
    expect(ids[1]).toEqual(ids[0]);
    expect(ids[2]).toEqual(ids[0]);
    expect(await count()).toBe(50);
  });
});

describe("the progress of a batch", () => {
  test("counts states, in pages of items", async () => {
    const { id, items } = (await sendItems(Array.from({ length: 60 }, () => ({})))).json<Batch>();
    const claim = await scene.claimOne();
    await scene.store.finish(claim, { status: "FAILED", code: "TIMEOUT", detail: "Too long." });
    const shown: unknown[] = [];
    let url: string | null = `/hosted/batch/${id}?limit=25`;
    while (url !== null) {
      const page = await read(url);
      const body = page.json<Batch>();
      shown.push(...body.items.map((item) => item.id));
      expect(body).toMatchObject({ total: 60 });
      const link = /^<([^>]+)>; rel="next"$/.exec(String(page.headers.link ?? ""))?.[1] ?? null;
      expect(link === null).toBe(body.nextCursor === null);
      url = link;
    }
    expect(shown).toEqual(items.map((item) => item.id));
    await expect
      .poll(async () => (await read(`/hosted/batch/${id}`)).json())
      .toMatchObject({ done: 1, failed: 1, counts: { FAILED: 1, PENDING: 59 } });
  });

  test("refuses limits and cursors that are none", async () => {
    const { id } = (await sendItems([{}])).json<Batch>();
    for (const query of [
      "limit=0",
      "limit=101",
      "limit=x",
      "cursor=-1",
      "cursor=x",
      "cursor=1000",
      "limit=1&limit=2",
    ])
      expect([query, (await read(`/hosted/batch/${id}?${query}`)).statusCode]).toEqual([query, 400]);
  });

  test("of another owner's batch, or of none, is not there", async () => {
    const { id } = (await sendItems([{}])).json<Batch>();
    const bob = { "x-owner": "bob" };
    const answers = [
      await read(`/hosted/batch/${id}`, bob),
      await read(`/hosted/batch/${createUuidV7()}`),
      await read("/hosted/batch/nonsense"),
      await scene.app.inject({ method: "PUT", url: `/hosted/batch/${id}/cancel`, headers: bob }),
      await scene.app.inject({ method: "PUT", url: "/hosted/batch/nonsense/cancel" }),
    ];
    const bodies = answers.map((answer) => [answer.statusCode, answer.json()]);
    for (const body of bodies)
      expect(body).toEqual([404, { code: "NOT_FOUND", detail: "There is no such batch." }]);
    expect(await count()).toBe(1);
  });
});

test("cancelling a batch that has ended changes nothing, as with a single execution", async () => {
  const { id } = (await sendItems([{}, { nonsense: 1 }])).json<Batch>();
  await scene.store.finish(await scene.claimOne(), SUCCESS);
  const cancel = async () => await scene.app.inject({ method: "PUT", url: `/hosted/batch/${id}/cancel` });
  const answer = await cancel();
  const ended = { cancelled: false, terminal: true, done: 2, counts: { SUCCEEDED: 1 } };
  expect([answer.statusCode, answer.json()]).toMatchObject([200, ended]);
  await expect.poll(async () => (await read(`/hosted/batch/${id}`)).json()).toEqual(answer.json());
  expect((await cancel()).json()).toEqual(answer.json());
});

test("cancelling a batch ends all that has not ended, however often", async () => {
  const { id } = (await sendItems(Array.from({ length: 300 }, () => ({})))).json<Batch>();
  const ended = await scene.claimOne();
  await scene.store.finish(ended, SUCCESS);
  const running = await scene.claimOne();
  for (let repeated = 0; repeated < 2; repeated++) {
    const answer = await scene.app.inject({ method: "PUT", url: `/hosted/batch/${id}/cancel` });
    expect([answer.statusCode, answer.json()]).toMatchObject([
      200,
      { cancelled: true, counts: { SUCCEEDED: 1, RUNNING: 1, FAILED: 298 }, done: 299, terminal: false },
    ]);
  }
  await scene.store.finish(running, { status: "FAILED", code: "CANCELLED", detail: "It was cancelled." });
  await expect.poll(async () => (await read(`/hosted/batch/${id}`)).json()).toMatchObject({ terminal: true });
});
