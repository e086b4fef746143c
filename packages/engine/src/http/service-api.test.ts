import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openServiceApiScene, SUCCESS, TIMESTAMP } from "../testing/service-api-scene.ts";
import type { ServiceApiScene } from "../testing/service-api-scene.ts";

let scene: ServiceApiScene;
beforeEach(async () => {
  scene = await openServiceApiScene();
});
afterEach(() => scene.close());

describe("start", () => {
  test("answers 201 with Location, id, status and createdAt, with and without the final slash, and with repeated ones", async () => {
    for (const url of ["/hosted", "/hosted/", "//hosted//", "/"]) {
      const response = await scene.app.inject({
        method: "POST",
        url,
        headers: { "content-type": "application/json" },
        payload: "{}",
      });
      expect(response.statusCode).toBe(201);
      const body = response.json<Record<string, unknown>>();
      expect(body).toMatchObject({
        status: "PENDING",
        terminal: false,
        createdAt: expect.stringMatching(TIMESTAMP),
      });
      expect(response.headers.location).toBe(`${url === "/" ? "" : "/hosted"}/${String(body["id"])}`);
    }
  });

  test("is refused with Retry-After when too much waits already: 429 for the owner's own, 503 for all", async () => {
    for (let index = 0; index < 300; index++) expect((await scene.start()).statusCode).toBe(201);
    const own = await scene.start();
    expect([own.statusCode, own.json().code]).toEqual([429, "RATE_LIMITED"]);
    expect(own.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
    expect(own.headers["ratelimit-policy"]).toBe('"queued";q=300');
    expect((await scene.start({}, { "x-owner": "bob" })).statusCode).toBe(201);
    const everybodys = await scene.start({}, { "x-owner": "carol" });
    expect([everybodys.statusCode, everybodys.json().code]).toEqual([503, "UNAVAILABLE"]);
    expect(everybodys.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
    expect((await scene.store.list("carol", { limit: 1 })).items).toEqual([]);
  });

  test("stores the bytes as they came, without what the schema has as a default", async () => {
    const payload = '{ "data": {"a": 1.0, "b": "\\u0000"}, "params": {} }';
    await scene.app.inject({
      method: "POST",
      url: "/",
      headers: { "content-type": "application/json" },
      payload,
    });
    expect(Buffer.from((await scene.claimOne()).body).toString()).toBe(payload);
  });

  test.each([
    ["text/plain", "{}", 415, "UNSUPPORTED_MEDIA_TYPE"],
    ["application/json", "{", 400, "INVALID_JSON"],
    ["application/json", "[]", 400, "INVALID_INPUT"],
    ["application/json", '{"params":{"shots":"many"}}', 400, "INVALID_INPUT"],
    ["application/json", `{"data":{"a":"${"x".repeat(3_000_000)}"}}`, 413, "INPUT_TOO_LARGE"],
    // Nobody tells it.
    ["application/json", '{"webhookUrl":"https://example.org/"}', 400, "INVALID_INPUT"],
  ])("refuses a body of %s with a code and a detail", async (type, payload, status, code) => {
    const response = await scene.app.inject({
      method: "POST",
      url: "/hosted/",
      headers: { "content-type": type },
      payload,
    });
    expect(response.statusCode).toBe(status);
    expect(response.json()).toMatchObject({ code, detail: expect.stringMatching(/\S/) });
  });

  test("tells with JSON pointers what does not fit the declared types", async () => {
    expect((await scene.start({ params: { shots: "many" } })).json()).toMatchObject({
      errors: [{ path: "/params/shots", message: "must be integer." }],
    });
  });

  test("refuses a missing content type, other methods with Allow, and an Accept without JSON", async () => {
    expect((await scene.app.inject({ method: "POST", url: "/hosted/" })).statusCode).toBe(415);
    const other = await scene.app.inject({ method: "DELETE", url: "/hosted/" });
    expect(other.statusCode).toBe(405);
    expect(other.headers["allow"]).toBe("POST, GET");
    expect((await scene.start({}, { accept: "text/html" })).statusCode).toBe(406);
  });

  test("refuses a compressed body by its Content-Encoding, and not as one that is no JSON", async () => {
    const { statusCode, body } = await scene.start({}, { "content-encoding": "gzip" });
    expect([statusCode, body]).toEqual([415, expect.stringContaining("Content-Encoding gzip")]);
    expect((await scene.start({}, { "content-encoding": "identity" })).statusCode).toBe(201);
  });

  test("with Prefer: wait answers when the execution is finished", async () => {
    const pending = scene.start({}, { prefer: "wait=30" });
    await expect.poll(async () => (await scene.store.list("alice", { limit: 1 })).items.length).toBe(1);
    await scene.store.finish(await scene.claimOne(), SUCCESS);
    const response = await pending;
    expect(response.json()).toMatchObject({ status: "SUCCEEDED", terminal: true });
    expect(response.headers["preference-applied"]).toBe("wait=30");
  });
});

describe("state", () => {
  test("shows the states as they come, with startedAt and endedAt when known", async () => {
    const { id } = (await scene.start()).json<{ id: string }>();
    const read = async () =>
      (await scene.app.inject({ url: `/hosted/${id}` })).json<Record<string, unknown>>();
    expect(Object.keys(await read())).toEqual(["id", "status", "createdAt", "waiting", "terminal"]);
    const claim = await scene.claimOne();
    expect(await read()).toMatchObject({
      status: "RUNNING",
      startedAt: expect.stringMatching(TIMESTAMP),
      terminal: false,
    });
    await scene.store.finish(claim, SUCCESS);
    expect(await read()).toMatchObject({
      status: "SUCCEEDED",
      endedAt: expect.stringMatching(TIMESTAMP),
      terminal: true,
    });
  });

  test("says while it waits that no worker can start it, in state and list", async () => {
    const { id } = (await scene.start()).json<{ id: string }>();
    const readState = async () =>
      (await scene.app.inject({ url: `/hosted/${id}` })).json<{ waiting?: { reason: string } }>();
    await expect.poll(async () => (await readState()).waiting?.reason).toBe("NO_WORKER");
    expect((await scene.app.inject({ url: "/hosted/" })).json()).toMatchObject([
      { id, waiting: { reason: "NO_WORKER" } },
    ]);
    await scene.claimOne();
    expect(await readState()).not.toHaveProperty("waiting");
  });

  test("answers 304 while nothing has changed", async () => {
    const id = await scene.startAndFinish(SUCCESS);
    const first = await scene.app.inject({ url: `/hosted/${id}` });
    const again = await scene.app.inject({
      url: `/hosted/${id}`,
      headers: { "if-none-match": String(first.headers.etag) },
    });
    expect([again.statusCode, again.body]).toEqual([304, ""]);
  });

  test.each(["nonsense", "00000000-0000-0000-0000-000000000000", "%00", "x".repeat(400)])(
    "answers 404 to the id %s",
    async (id) => {
      const response = await scene.app.inject({ url: `/hosted/${id}` });
      expect(response.statusCode).toBe(404);
      expect(response.json()).toMatchObject({ code: "EXECUTION_NOT_FOUND" });
    },
  );

  test("hides what belongs to somebody else in every operation", async () => {
    const id = await scene.startAndFinish(SUCCESS);
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "/result"],
      ["GET", "/log"],
      ["PUT", "/cancel"],
    ] as const) {
      const response = await scene.app.inject({
        method,
        url: `/hosted/${id}${path}`,
        headers: { "x-owner": "mallory" },
      });
      expect([response.statusCode, response.json()]).toMatchObject([404, { code: "EXECUTION_NOT_FOUND" }]);
    }
    expect((await scene.app.inject({ url: "/hosted/", headers: { "x-owner": "mallory" } })).json()).toEqual(
      [],
    );
  });
});

describe("cancel and list", () => {
  test("cancel ends a pending execution as FAILED with code CANCELLED, and changes a finished one no more", async () => {
    const { id } = (await scene.start()).json<{ id: string }>();
    for (let time = 0; time < 2; time++) {
      expect((await scene.app.inject({ method: "PUT", url: `/hosted/${id}/cancel` })).json()).toMatchObject({
        status: "FAILED",
        terminal: true,
      });
    }
    expect((await scene.app.inject({ url: `/hosted/${id}/result` })).json()).toMatchObject({
      code: "CANCELLED",
    });
  });

  test("list is newest first, filtered by state, and paged by the Link header", async () => {
    const finished = await scene.startAndFinish(SUCCESS);
    const ids = [
      (await scene.start()).json<{ id: string }>().id,
      (await scene.start()).json<{ id: string }>().id,
    ].toReversed();
    const first = await scene.app.inject({ url: "/hosted/?limit=2" });
    expect(first.json<{ id: string }[]>().map((item) => item.id)).toEqual(ids);
    const next = /<([^>]+)>; rel="next"/.exec(String(first.headers["link"]))?.[1];
    expect(
      (await scene.app.inject({ url: next ?? "" })).json<{ id: string }[]>().map((item) => item.id),
    ).toEqual([finished]);
    expect((await scene.app.inject({ url: "/hosted/?status=SUCCEEDED" })).json()).toMatchObject([
      { id: finished },
    ]);
  });

  test.each([
    "limit=0",
    "limit=101",
    "limit=1e1",
    "limit=0x10",
    "limit=5.0",
    "limit=%205",
    "status=DONE",
    "createdAfter=yesterday",
    "limit=1&limit=2",
  ])("list refuses ?%s", async (query) => {
    const response = await scene.app.inject({ url: `/hosted/?${query}` });
    expect([response.statusCode, response.json()]).toMatchObject([400, { code: "INVALID_INPUT" }]);
  });
});
