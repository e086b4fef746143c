import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { FastifyInstance, LightMyRequestResponse } from "fastify";
import { pino } from "pino";
import { DAY } from "../base/time.ts";
import { createUuidV7 } from "../base/uuid.ts";
import { createExecutions } from "../executions/executions.ts";
import type { Executions } from "../executions/executions.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import type { Claim, ExecutionStore } from "../store/execution-store.ts";
import type { Outcome } from "../python/port/runtime.ts";
import { hostedPresenter, jobPresenter, localPresenter } from "./presenters.ts";
import { createHttpServer } from "./server.ts";
import { createUuidAt } from "../testing/create-uuid-at.ts";
import { createOwner } from "../testing/create-owner.ts";
import { registerServiceApi } from "./service-api.ts";

const TARGET = {
  id: createUuidV7(),
  resources: { cpu: 1, memory: 1 },
  timeoutSeconds: 60,
  inputSchema: {
    type: "object",
    properties: { params: { type: "object", properties: { shots: { type: "integer" } } } },
  },
};
const SUCCESS: Outcome = { status: "SUCCEEDED", result: Buffer.from('{"length": 7542}'), metadata: null };
const RETENTION_DAYS = 30;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/;

let app: FastifyInstance;
let store: ExecutionStore;
let executions: Executions;
let now: number | null;

function toTime(timestamp = ""): number {
  return Date.parse(`${timestamp.replace(" ", "T")}Z`);
}

beforeEach(async () => {
  now = null;
  store = createMemoryStore();
  executions = createExecutions({
    store,
    retentionDays: RETENTION_DAYS,
    queueLimits: { perOwner: 300, total: 301 },
    now: () => now ?? Date.now(),
    inputs: { check: async () => undefined, read: async () => null },
  });
  app = createHttpServer({ logger: pino({ level: "silent" }) });
  await registerServiceApi(app, {
    prefix: "/hosted",
    executions,
    presenter: hostedPresenter,
    authenticate: (request) => String(request.headers["x-owner"] ?? "alice"),
    ownerOf: createOwner,
    targetOf: () => TARGET,
    baseOf: () => "/hosted",
  });
  await registerServiceApi(app, {
    prefix: "/jobs",
    executions,
    presenter: jobPresenter,
    authenticate: () => "alice",
    ownerOf: createOwner,
    targetOf: () => TARGET,
    baseOf: () => "/jobs",
  });
  await registerServiceApi(app, {
    prefix: "",
    executions,
    presenter: localPresenter,
    authenticate: () => "alice",
    ownerOf: createOwner,
    targetOf: () => TARGET,
    baseOf: () => "",
  });
});

afterEach(async () => {
  executions.close();
  await app.close();
});

async function start(payload: unknown = {}, headers: Record<string, string> = {}) {
  return app.inject({
    method: "POST",
    url: "/hosted/",
    headers: { "content-type": "application/json", ...headers },
    payload: JSON.stringify(payload),
  });
}

async function claimOne(): Promise<Claim> {
  const [claim] = (
    await store.claim({
      workerId: "worker",
      limit: 1,
      free: { cpu: 1, memory: 1 },
      leaseSeconds: 30,
      excludedVersionIds: [],
    })
  ).claims;
  if (claim === undefined) throw new Error("nothing to claim");
  return claim;
}

/** The result of an execution that is not there, by an id of this age. */
async function readResultAged(days: number) {
  return app.inject({ url: `/hosted/${createUuidAt(Date.now() - days * DAY)}/result` });
}

async function startAndFinish(outcome: Outcome): Promise<string> {
  const { id } = (await start()).json<{ id: string }>();
  await store.finish(await claimOne(), outcome);
  return id;
}

describe("start", () => {
  test("refuses an Idempotency-Key, which it would have to keep", async () => {
    const response = await start({}, { "idempotency-key": "1" });
    expect([response.statusCode, response.json()]).toMatchObject([400, { code: "INVALID_INPUT" }]);
    expect(response.json<{ detail: string }>().detail).toContain("Idempotency-Key is not supported yet");
    expect((await app.inject({ url: "/hosted/" })).json()).toEqual([]);
  });

  test("answers 201 with Location, id, status and createdAt, with and without the final slash, and with repeated ones", async () => {
    for (const url of ["/hosted", "/hosted/", "//hosted//", "/"]) {
      const response = await app.inject({
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
    for (let index = 0; index < 300; index++) expect((await start()).statusCode).toBe(201);
    const own = await start();
    expect([own.statusCode, own.json().code]).toEqual([429, "RATE_LIMITED"]);
    expect(own.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
    expect(own.headers["ratelimit-policy"]).toBe('"queued";q=300');
    expect((await start({}, { "x-owner": "bob" })).statusCode).toBe(201);
    const everybodys = await start({}, { "x-owner": "carol" });
    expect([everybodys.statusCode, everybodys.json().code]).toEqual([503, "UNAVAILABLE"]);
    expect(everybodys.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
    expect((await store.list("carol", { limit: 1 })).items).toEqual([]);
  });

  test("stores the bytes as they came", async () => {
    const payload = '{ "data": {"a": 1.0, "b": "\\u0000"} }';
    await app.inject({ method: "POST", url: "/", headers: { "content-type": "application/json" }, payload });
    expect(Buffer.from((await claimOne()).body).toString()).toBe(payload);
  });

  test.each([
    ["text/plain", "{}", 415, "UNSUPPORTED_MEDIA_TYPE"],
    ["application/json", "{", 400, "INVALID_JSON"],
    ["application/json", "[]", 400, "INVALID_INPUT"],
    ["application/json", '{"params":{"shots":"many"}}', 400, "INVALID_INPUT"],
    ["application/json", `{"data":{"a":"${"x".repeat(3_000_000)}"}}`, 413, "INPUT_TOO_LARGE"],
  ])("refuses a body of %s with a code and a detail", async (type, payload, status, code) => {
    const response = await app.inject({
      method: "POST",
      url: "/hosted/",
      headers: { "content-type": type },
      payload,
    });
    expect(response.statusCode).toBe(status);
    expect(response.json()).toMatchObject({ code, detail: expect.stringMatching(/\S/) });
  });

  test("tells with JSON pointers what does not fit the declared types", async () => {
    expect((await start({ params: { shots: "many" } })).json()).toMatchObject({
      errors: [{ path: "/params/shots", message: "must be integer" }],
    });
  });

  test("refuses a missing content type, other methods with Allow, and an Accept without JSON", async () => {
    expect((await app.inject({ method: "POST", url: "/hosted/" })).statusCode).toBe(415);
    const other = await app.inject({ method: "DELETE", url: "/hosted/" });
    expect(other.statusCode).toBe(405);
    expect(other.headers["allow"]).toBe("POST, GET");
    expect((await start({}, { accept: "text/html" })).statusCode).toBe(406);
  });

  test("with Prefer: wait answers when the execution is finished", async () => {
    const pending = start({}, { prefer: "wait=30" });
    await expect.poll(async () => (await store.list("alice", { limit: 1 })).items.length).toBe(1);
    await store.finish(await claimOne(), SUCCESS);
    const response = await pending;
    expect(response.json()).toMatchObject({ status: "SUCCEEDED", terminal: true });
    expect(response.headers["preference-applied"]).toBe("wait=30");
  });
});

describe("state", () => {
  test("shows the states as they come, with startedAt and endedAt when known", async () => {
    const { id } = (await start()).json<{ id: string }>();
    const read = async () => (await app.inject({ url: `/hosted/${id}` })).json<Record<string, unknown>>();
    expect(Object.keys(await read())).toEqual(["id", "status", "createdAt", "terminal"]);
    const claim = await claimOne();
    expect(await read()).toMatchObject({
      status: "RUNNING",
      startedAt: expect.stringMatching(TIMESTAMP),
      terminal: false,
    });
    await store.finish(claim, SUCCESS);
    expect(await read()).toMatchObject({
      status: "SUCCEEDED",
      endedAt: expect.stringMatching(TIMESTAMP),
      terminal: true,
    });
  });

  test("says while it waits that no worker can start it, in state and list", async () => {
    const { id } = (await start()).json<{ id: string }>();
    const readState = async () =>
      (await app.inject({ url: `/hosted/${id}` })).json<{ pendingReason?: string }>();
    await expect.poll(async () => (await readState()).pendingReason).toBe("NO_WORKER");
    expect((await app.inject({ url: "/hosted/" })).json()).toMatchObject([
      { id, pendingReason: "NO_WORKER" },
    ]);
    await claimOne();
    expect(await readState()).not.toHaveProperty("pendingReason");
  });

  test("answers 304 while nothing has changed", async () => {
    const id = await startAndFinish(SUCCESS);
    const first = await app.inject({ url: `/hosted/${id}` });
    const again = await app.inject({
      url: `/hosted/${id}`,
      headers: { "if-none-match": String(first.headers.etag) },
    });
    expect([again.statusCode, again.body]).toEqual([304, ""]);
  });

  test.each(["nonsense", "00000000-0000-0000-0000-000000000000", "%00", "x".repeat(400)])(
    "answers 404 to the id %s",
    async (id) => {
      const response = await app.inject({ url: `/hosted/${id}` });
      expect(response.statusCode).toBe(404);
      expect(response.json()).toMatchObject({ code: "EXECUTION_NOT_FOUND" });
    },
  );

  test("hides what belongs to somebody else in every operation", async () => {
    const id = await startAndFinish(SUCCESS);
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "/result"],
      ["GET", "/log"],
      ["PUT", "/cancel"],
    ] as const) {
      const response = await app.inject({
        method,
        url: `/hosted/${id}${path}`,
        headers: { "x-owner": "mallory" },
      });
      expect([response.statusCode, response.json()]).toMatchObject([404, { code: "EXECUTION_NOT_FOUND" }]);
    }
    expect((await app.inject({ url: "/hosted/", headers: { "x-owner": "mallory" } })).json()).toEqual([]);
  });
});

function readMessages(response: LightMyRequestResponse): readonly string[] {
  return response.json<{ message: string }[]>().map(({ message }) => message);
}

function readNext(response: LightMyRequestResponse): string {
  return /^<(.*)>; rel="next"$/.exec(String(response.headers.link ?? ""))?.[1] ?? "";
}

describe("log", () => {
  const LINES = Array.from({ length: 2500 }, (_, index) => ({
    time: 0,
    severity: "INFO" as const,
    message: `${index} ${"x".repeat(1000)}`,
  }));
  interface JobLog {
    readonly items: readonly { readonly message: string }[];
    readonly nextCursor: string | null;
  }
  const MESSAGES = LINES.map(({ message }) => message);

  test("of a finished execution is one array of all its lines, however long: published clients follow no Link", async () => {
    await start();
    const claim = await claimOne();
    await store.appendLog(claim, LINES);
    await store.finish(claim, SUCCESS);
    const response = await app.inject({ url: `/hosted/${claim.id}/log` });
    expect(response.statusCode).toBe(200);
    expect(response.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(readMessages(response)).toEqual(MESSAGES);
    expect(response.headers.link).toBeUndefined();
  });

  test("of a finished job comes in pages, as every list of the platform API", async () => {
    await start();
    const claim = await claimOne();
    await store.appendLog(claim, LINES);
    await store.finish(claim, SUCCESS);
    const messages: string[] = [];
    let query: string | null = "";
    while (query !== null) {
      const response: LightMyRequestResponse = await app.inject({ url: `/jobs/${claim.id}/log${query}` });
      const page: JobLog = response.json();
      expect(page.items.length).toBeLessThan(LINES.length);
      messages.push(...page.items.map(({ message }) => message));
      query = page.nextCursor === null ? null : `?cursor=${page.nextCursor}`;
    }
    expect(messages).toEqual(MESSAGES);
  });

  test("of a running execution is an array of bounded size, and the Link header leads through the rest of it, also past the end", async () => {
    await start();
    const claim = await claimOne();
    await store.appendLog(claim, LINES);
    const first = await app.inject({ url: `/hosted/${claim.id}/log` });
    await store.finish(claim, SUCCESS);
    const pages = [first];
    for (let url = readNext(first); url !== ""; url = readNext(pages.at(-1) ?? first))
      pages.push(await app.inject({ url }));
    for (const { statusCode, body } of pages)
      expect([statusCode, body.length < 1_200_000]).toEqual([200, true]);
    expect(pages.flatMap(readMessages)).toEqual(MESSAGES);
    expect(pages).toHaveLength(3);
  });

  test("is refused for a cursor that is made up or given twice", async () => {
    const id = await startAndFinish(SUCCESS);
    for (const query of ["cursor=x", "cursor=1&cursor=2"]) {
      const response = await app.inject({ url: `/hosted/${id}/log?${query}` });
      expect([response.statusCode, response.json()]).toMatchObject([400, { code: "INVALID_INPUT" }]);
    }
  });
});

describe("result", () => {
  test("is 404 RESULT_NOT_READY with Retry-After before the end", async () => {
    const { id } = (await start()).json<{ id: string }>();
    const response = await app.inject({ url: `/hosted/${id}/result` });
    expect([response.statusCode, response.json()]).toMatchObject([404, { code: "RESULT_NOT_READY" }]);
    expect(response.headers["retry-after"]).toBe("1");
  });

  test("is 410 RESULT_EXPIRED for an id from before the retention, and 404 for a younger one that is not there", async () => {
    const [older, younger] = [
      await readResultAged(RETENTION_DAYS + 1),
      await readResultAged(RETENTION_DAYS - 1),
    ];
    expect([older.statusCode, older.json()]).toMatchObject([410, { code: "RESULT_EXPIRED" }]);
    expect([younger.statusCode, younger.json()]).toMatchObject([404, { code: "EXECUTION_NOT_FOUND" }]);
  });

  test("can be fetched until the expiry that the state announces, which counts from the end, and is 410 from then on", async () => {
    const id = await startAndFinish(SUCCESS);
    const { endedAt, expiresAt } = (await app.inject({ url: `/hosted/${id}` })).json<
      Record<string, string>
    >();
    expect(toTime(expiresAt) - toTime(endedAt)).toBe(RETENTION_DAYS * DAY);
    const readAll = async () =>
      Promise.all(["", "/result", "/log"].map((path) => app.inject({ url: `/hosted/${id}${path}` })));
    now = toTime(expiresAt) - 1;
    expect((await readAll()).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
    now = toTime(expiresAt) + 1000;
    for (const response of await readAll())
      expect([response.statusCode, response.json()]).toMatchObject([410, { code: "RESULT_EXPIRED" }]);
  });

  test("of an execution that waited longer than the retention is there when it has ended", async () => {
    const id = createUuidAt(Date.now() - (RETENTION_DAYS + 5) * DAY);
    await store.create({
      id,
      owner: createOwner("alice"),
      versionId: TARGET.id,
      resources: TARGET.resources,
      timeoutSeconds: TARGET.timeoutSeconds,
      body: Buffer.from("{}"),
      references: {},
    });
    await store.finish(await claimOne(), SUCCESS);
    expect((await app.inject({ url: `/hosted/${id}/result` })).statusCode).toBe(200);
  });

  test("is an envelope at the gateway", async () => {
    const id = await startAndFinish(SUCCESS);
    expect((await app.inject({ url: `/hosted/${id}/result` })).json()).toMatchObject({
      result: { length: 7542 },
      metadata: null,
      _links: { self: { href: `/hosted/${id}/result` }, status: { href: `/hosted/${id}` } },
      _embedded: { status: { id, status: "SUCCEEDED" } },
    });
  });

  test("is flat on the local server, with snake case times, also when the output is empty", async () => {
    const id = await startAndFinish(SUCCESS);
    expect((await app.inject({ url: `/${id}/result` })).json()).toEqual({
      length: 7542,
      _links: { status: { href: `/${id}` } },
      _embedded: {
        status: {
          id,
          status: "SUCCEEDED",
          created_at: expect.stringMatching(TIMESTAMP),
          started_at: expect.stringMatching(TIMESTAMP),
          ended_at: expect.stringMatching(TIMESTAMP),
        },
      },
    });
    const empty = await startAndFinish({ ...SUCCESS, result: Buffer.from("{ }") });
    expect(Object.keys((await app.inject({ url: `/${empty}/result` })).json())).toEqual([
      "_links",
      "_embedded",
    ]);
  });

  test.each(["/hosted", ""])("is 200 with code and detail of a failure at %s/", async (base) => {
    const id = await startAndFinish({ status: "FAILED", code: "TIMEOUT", detail: "too long" });
    const response = await app.inject({ url: `${base}/${id}/result` });
    expect([response.statusCode, response.json()]).toMatchObject([
      200,
      { code: "TIMEOUT", detail: "too long", _embedded: { status: { status: "FAILED" } } },
    ]);
  });
});

describe("cancel and list", () => {
  test("cancel ends a pending execution as FAILED with code CANCELLED, and changes a finished one no more", async () => {
    const { id } = (await start()).json<{ id: string }>();
    for (let time = 0; time < 2; time++) {
      expect((await app.inject({ method: "PUT", url: `/hosted/${id}/cancel` })).json()).toMatchObject({
        status: "FAILED",
        terminal: true,
      });
    }
    expect((await app.inject({ url: `/hosted/${id}/result` })).json()).toMatchObject({ code: "CANCELLED" });
  });

  test("list is newest first, filtered by state, and paged by the Link header", async () => {
    const finished = await startAndFinish(SUCCESS);
    const ids = [
      (await start()).json<{ id: string }>().id,
      (await start()).json<{ id: string }>().id,
    ].toReversed();
    const first = await app.inject({ url: "/hosted/?limit=2" });
    expect(first.json<{ id: string }[]>().map((item) => item.id)).toEqual(ids);
    const next = /<([^>]+)>; rel="next"/.exec(String(first.headers["link"]))?.[1];
    expect((await app.inject({ url: next ?? "" })).json<{ id: string }[]>().map((item) => item.id)).toEqual([
      finished,
    ]);
    expect((await app.inject({ url: "/hosted/?status=SUCCEEDED" })).json()).toMatchObject([{ id: finished }]);
  });

  test.each(["limit=0", "limit=1e9", "status=DONE", "createdAfter=yesterday", "limit=1&limit=2"])(
    "list refuses ?%s",
    async (query) => {
      const response = await app.inject({ url: `/hosted/?${query}` });
      expect([response.statusCode, response.json()]).toMatchObject([400, { code: "INVALID_INPUT" }]);
    },
  );
});
