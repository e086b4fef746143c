import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SUCCESS, openServiceApiScene } from "../testing/service-api-scene.ts";
import type { ServiceApiScene } from "../testing/service-api-scene.ts";

let scene: ServiceApiScene;
beforeEach(async () => {
  scene = await openServiceApiScene();
});
afterEach(() => scene.close());

const KEY = "8e03978e-40d5-43e8-bc93-6894a57f9324";

describe("a start with an Idempotency-Key", () => {
  test("creates one execution however often it is sent, and says from the second time on that it was there", async () => {
    for (const url of ["/hosted/", "/jobs/", "/"]) {
      const start = (key: string, payload = "{}") =>
        scene.app.inject({
          method: "POST",
          url,
          headers: { "content-type": "application/json", "idempotency-key": key },
          payload,
        });
      const first = await start(`${url}-1`);
      expect([first.statusCode, first.headers["idempotency-replayed"]]).toEqual([201, undefined]);
      const again = await start(`"${url}-1"`);
      expect([again.statusCode, again.headers["idempotency-replayed"]]).toEqual([201, "true"]);
      const { id, status, createdAt } = first.json<Record<string, string>>();
      expect(again.json()).toMatchObject({ id, status, createdAt });
      expect(again.headers.location).toBe(first.headers.location);
      const other = await start(`${url}-2`);
      expect([other.statusCode, other.headers["idempotency-replayed"]]).toEqual([201, undefined]);
      expect(other.json<{ id: string }>().id).not.toBe(first.json<{ id: string }>().id);
    }
  });

  test("is answered with the state of by now, or as late as it prefers", async () => {
    const { id } = (await scene.start({}, { "idempotency-key": KEY })).json<{ id: string }>();
    const waiting = scene.start({}, { "idempotency-key": KEY, prefer: "wait=30" });
    await scene.store.finish(await scene.claimOne(), SUCCESS);
    const answers = [await waiting, await scene.start({}, { "idempotency-key": KEY })];
    for (const answer of answers)
      expect([answer.statusCode, answer.json()]).toMatchObject([201, { id, status: "SUCCEEDED" }]);
  });

  test("is a conflict when its body is another one, to the byte", async () => {
    await scene.start({ data: { n: 1 } }, { "idempotency-key": KEY });
    const conflict = await scene.start({ data: { n: 2 } }, { "idempotency-key": KEY });
    expect([conflict.statusCode, conflict.json()]).toMatchObject([409, { code: "IDEMPOTENCY_CONFLICT" }]);
    expect((await scene.app.inject({ url: "/hosted/" })).json()).toHaveLength(1);
  });

  test("is a start of its own for every owner", async () => {
    const ids = new Set<string>();
    for (const owner of ["alice", "bob"])
      ids.add(
        (await scene.start({}, { "idempotency-key": KEY, "x-owner": owner })).json<{ id: string }>().id,
      );
    expect(ids.size).toBe(2);
  });

  test("is answered also where the queue is full by now; one that has started nothing is refused as any", async () => {
    const { id } = (await scene.start({}, { "idempotency-key": KEY })).json<{ id: string }>();
    for (let index = 1; index < 300; index++) expect((await scene.start()).statusCode).toBe(201);
    expect((await scene.start({}, { "idempotency-key": "new" })).statusCode).toBe(429);
    const again = await scene.start({}, { "idempotency-key": KEY });
    expect([again.statusCode, again.json<{ id: string }>().id]).toEqual([201, id]);
    const other = await scene.start({ data: {} }, { "idempotency-key": KEY });
    expect([other.statusCode, other.json()]).toMatchObject([429, { code: "RATE_LIMITED" }]);
  });

  test("that is refused leaves the key free", async () => {
    const refused = await scene.start({ data: [] }, { "idempotency-key": KEY });
    expect(refused.json()).toMatchObject({ code: "INVALID_INPUT" });
    const started = await scene.start({}, { "idempotency-key": KEY });
    expect([started.statusCode, started.headers["idempotency-replayed"]]).toEqual([201, undefined]);
  });

  test.each([
    "",
    " ",
    "a b",
    "\u00e9",
    '"',
    '""',
    '"a',
    'a"b',
    '"a"b',
    '"a", "b"',
    "a, b",
    "a\\b",
    '"\\x"',
    "x".repeat(256),
    `"${"x".repeat(256)}"`,
  ])("is refused where the key is %j", async (key) => {
    const response = await scene.start({}, { "idempotency-key": key });
    expect([response.statusCode, response.json()]).toMatchObject([400, { code: "INVALID_INPUT" }]);
    expect(response.json<{ detail: string }>().detail).toContain("Idempotency-Key");
    expect((await scene.app.inject({ url: "/hosted/" })).json()).toEqual([]);
  });

  test.each([
    "a",
    "x".repeat(255),
    `"${"x".repeat(255)}"`,
    '"a b"',
    '"a\\"b\\\\"',
    "~!#$%&'()*+-./:;<=>?@[]^_`{|}",
  ])("is accepted where the key is %j", async (key) => {
    expect((await scene.start({}, { "idempotency-key": key })).statusCode).toBe(201);
    expect((await scene.start({}, { "idempotency-key": key })).headers["idempotency-replayed"]).toBe("true");
  });
});
