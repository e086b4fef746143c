import { describe, expect, expectTypeOf, test } from "vitest";
import { RequestRefused, createClient } from "./client.ts";
import type { Client, RawJson } from "./client.ts";
import type { ExecutionStatus, LogEntry, StatusRecord } from "./execution.ts";
import { PLATFORM_API } from "./platform-api/platform-api.ts";
import type { Build } from "./platform-api/builds.ts";
import type { Service } from "./platform-api/services.ts";
import type { Rehearsal } from "./rehearsal.ts";
import { SERVICE_API } from "./service-api.ts";

interface Sent {
  readonly url: string;
  readonly init: RequestInit;
}

function create(answer: Response = Response.json({}), baseUrl = "https://example.org/api") {
  const sent: Sent[] = [];
  const options = {
    baseUrl,
    headers: () => ({ authorization: "Bearer t" }),
    fetch: async (url: unknown, init: RequestInit = {}) => {
      sent.push({ url: String(url), init });
      return answer.clone();
    },
  };
  return {
    sent,
    platform: createClient(PLATFORM_API, options),
    service: createClient(SERVICE_API, options),
  };
}

describe("the URL", () => {
  test.each(["https://example.org/api", "https://example.org/api/", "https://example.org/api///"])(
    "lies below %s, with ids and queries encoded",
    async (baseUrl) => {
      const { sent, platform } = create(Response.json({}), baseUrl);
      await platform.getBuild({ params: { key: "a/b?c#d%", version: "1.0.0" }, query: { offset: 7 } });
      await platform.listServices({ query: { name: "a&b=c", limit: undefined } as never });
      expect(sent.map(({ url }) => url)).toEqual([
        "https://example.org/api/services/a%2Fb%3Fc%23d%25/versions/1.0.0/build?offset=7",
        "https://example.org/api/services?name=a%26b%3Dc",
      ]);
    },
  );

  test.each([
    ["ü 1", "https://example.org/api/services/%C3%BC%201"],
    ["a+b", "https://example.org/api/services/a%2Bb"],
    ["...", "https://example.org/api/services/..."],
    ["\0", "https://example.org/api/services/%00"],
  ])("has the id %j as one segment", async (key, url) => {
    const { sent, platform } = create();
    await platform.getService({ params: { key } });
    expect(sent[0]?.url).toBe(url);
    expect(decodeURIComponent(new URL(url).pathname.split("/").at(-1) ?? "")).toBe(key);
  });

  test("has every parameter of the query, and no question mark without one", async () => {
    const { sent, platform } = create();
    await platform.listServices({ query: { limit: 3, cursor: "c+/=", name: "ä" } });
    await platform.listServices({ query: {} });
    await platform.listServices({});
    expect(sent.map(({ url }) => url)).toEqual([
      "https://example.org/api/services?limit=3&cursor=c%2B%2F%3D&name=%C3%A4",
      "https://example.org/api/services",
      "https://example.org/api/services",
    ]);
  });

  test.each(["", ".", ".."])("cannot have the id %j: nothing is sent", async (key) => {
    const { sent, platform } = create();
    await expect(platform.getService({ params: { key } })).rejects.toMatchObject({
      status: 404,
      problem: { code: "NOT_FOUND", detail: expect.stringContaining(`"${key}"`) },
    });
    expect(sent).toEqual([]);
  });

  test("cannot lack a parameter: nothing is sent", async () => {
    const { sent, platform } = create();
    const calls = [
      platform.getBuild({ params: { key: "k" } } as never),
      platform.getBuild({ params: { key: "k", version: undefined } } as never),
      platform.getService({} as never),
    ];
    for (const call of calls) await expect(call).rejects.toThrow(TypeError);
    expect(sent).toEqual([]);
  });
});

describe("the request", () => {
  test("has JSON, the preferred wait, and the authorisation", async () => {
    const { sent, service } = create(Response.json({}, { status: 201 }));
    await service.startExecution({ body: { data: { a: 1 } }, prefer: "wait=5" });
    expect(sent[0]?.init).toMatchObject({
      method: "POST",
      body: '{"data":{"a":1}}',
      headers: { authorization: "Bearer t", "content-type": "application/json", prefer: "wait=5" },
    });
  });

  test("has text of the caller as it is", async () => {
    const { sent, service } = create();
    await service.startExecution({ body: { json: '{"data":{"a":1.0}}' } });
    expect(sent[0]?.init.body).toBe('{"data":{"a":1.0}}');
  });

  test("has the bytes of an archive", async () => {
    const { sent, platform } = create();
    const body = new Uint8Array([80, 75]);
    await platform.createVersion({ params: { key: "k" }, query: { bump: "minor" }, body });
    expect(sent[0]).toMatchObject({
      url: "https://example.org/api/services/k/versions?bump=minor",
      init: { method: "POST", headers: { "content-type": "application/zip" }, body },
    });
  });

  test("has neither body nor content type where there is nothing to send", async () => {
    const { sent, platform } = create();
    await platform.createAccessKey({ params: { id: "a" } });
    expect(sent[0]?.init).not.toHaveProperty("body");
    expect(sent[0]?.init.headers).not.toHaveProperty("content-type");
  });
});

describe("the answer", () => {
  test("is the JSON of a success, and undefined where there is none", async () => {
    expect(await create(Response.json([1])).service.listExecutions({})).toEqual([1]);
    const empty = create(new Response(null, { status: 204 }));
    expect(await empty.platform.deleteApplication({ params: { id: "a" } })).toBeUndefined();
  });

  test.each([
    [
      Response.json({ code: "NOT_FOUND", detail: "No." }, { status: 404 }),
      { code: "NOT_FOUND", detail: "No." },
    ],
    [new Response("<html>", { status: 502 }), { code: "HTTP_502" }],
    [Response.json(["code", "detail"], { status: 500 }), { code: "HTTP_500" }],
    [new Response(null, { status: 401 }), { code: "HTTP_401" }],
  ])("that refuses is thrown with what the server says", async (answer, problem) => {
    const refused = await create(answer)
      .platform.getMe({})
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RequestRefused);
    expect(refused).toMatchObject({ status: answer.status, problem });
  });
});

describe("the types of a client follow from its table", () => {
  type Platform = Client<typeof PLATFORM_API>;
  type ServiceClient = Client<typeof SERVICE_API>;
  type Request<C, K extends keyof C> = C[K] extends (request: infer R) => unknown ? R : never;
  type Answer<C, K extends keyof C> = C[K] extends (request: never) => infer A ? Awaited<A> : never;

  test("requests", () => {
    const start = (client: ServiceClient) => ({
      ordinary: () => client.startExecution({ body: {} }),
      rehearsed: () => client.startExecution({ body: {}, prefer: "dry-run" }),
    });
    type Started = ReturnType<typeof start>;
    expectTypeOf<Awaited<ReturnType<Started["ordinary"]>>>().toEqualTypeOf<StatusRecord>();
    expectTypeOf<Awaited<ReturnType<Started["rehearsed"]>>>().toEqualTypeOf<StatusRecord | Rehearsal>();
    expectTypeOf<Request<Platform, "getBuild">["params"]>().toEqualTypeOf<{ key: string; version: string }>();
    expectTypeOf<Request<Platform, "getBuild">["query"]>().toEqualTypeOf<{ offset?: number } | undefined>();
    expectTypeOf<Request<Platform, "listServices">["query"]>().toEqualTypeOf<
      | {
          limit?: number;
          cursor?: string;
          name?: string;
          q?: string;
          publication?: "internal" | "marketplace" | "none";
        }
      | undefined
    >();
    expectTypeOf<Request<ServiceClient, "listExecutions">>()
      .toHaveProperty("query")
      .exclude<undefined>()
      .toHaveProperty("status")
      .toEqualTypeOf<ExecutionStatus | undefined>();
    expectTypeOf<Request<Platform, "publishService">["body"]>().toEqualTypeOf<
      { scope: "internal" | "marketplace" } | RawJson
    >();
    expectTypeOf<Request<Platform, "createVersion">["body"]>().toEqualTypeOf<
      Uint8Array | ReadableStream<Uint8Array>
    >();
    expectTypeOf<{ data: { a: 1 } }>().toExtend<Request<ServiceClient, "startExecution">["body"]>();
    expectTypeOf<{ data: 1 }>().not.toExtend<Request<ServiceClient, "startExecution">["body"]>();
    expectTypeOf<Request<Platform, "getMe">>().not.toHaveProperty("body");
    expectTypeOf<Request<Platform, "getMe">>().not.toHaveProperty("params");
    // A missing parameter does not compile.
    expectTypeOf<{ params: { key: string } }>().not.toExtend<Request<Platform, "getBuild">>();
  });

  test("answers", () => {
    expectTypeOf<Answer<ServiceClient, "startExecution">>().toEqualTypeOf<StatusRecord>();
    expectTypeOf<Answer<ServiceClient, "getLog">>().toEqualTypeOf<LogEntry[]>();
    expectTypeOf<Answer<ServiceClient, "getState">>().toEqualTypeOf<StatusRecord>();
    expectTypeOf<Answer<Platform, "createVersion">>().toEqualTypeOf<Build>();
    expectTypeOf<Answer<Platform, "listServices">>().toEqualTypeOf<{
      items: Service[];
      nextCursor: string | null;
    }>();
    expectTypeOf<Answer<Platform, "deleteApplication">>().toEqualTypeOf<undefined>();
    expectTypeOf<StatusRecord["status"]>().toEqualTypeOf<
      "PENDING" | "RUNNING" | "SUCCEEDED" | "FAILED" | "UNKNOWN"
    >();
    expectTypeOf<Service["publication"]>().toEqualTypeOf<"internal" | "marketplace" | null>();
  });

  test("operations", () => {
    expectTypeOf<keyof ServiceClient>().toEqualTypeOf<keyof typeof SERVICE_API>();
    expectTypeOf<Platform>().not.toHaveProperty("startExecution");
  });
});
