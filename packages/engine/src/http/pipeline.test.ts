import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { Type } from "typebox";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Operation, OperationTable } from "@platform/contract/operation";
import { Problem } from "@platform/contract/problems";
import { registerOperations } from "./pipeline.ts";
import type { PipelineOptions } from "./pipeline.ts";
import type { AuditStage } from "./types.ts";
import { createHttpServer } from "./server.ts";

const ROW = {
  method: "POST",
  path: "/things",
  allows: "caller",
  scope: "user",
  audit: "thing.create",
  rate: "write",
  bodyMode: "json",
  answerMode: "json",
  summary: "Create a thing",
  description: "With a name.",
  responses: { 201: { description: "Created", schema: Type.Object({ name: Type.String() }) } },
  problems: [],
} as const satisfies Operation;

const TABLE = {
  create: { ...ROW, body: Type.Object({ name: Type.String() }) },
  list: {
    ...ROW,
    method: "GET",
    path: "/things",
    audit: null,
    rate: "read",
    bodyMode: "none",
    answerMode: "bytes",
    responses: { 200: { description: "Things", schema: Type.Array(Type.String()) } },
  },
  remove: {
    ...ROW,
    method: "DELETE",
    path: "/things/{name}",
    allows: "administer",
    audit: "thing.delete",
    bodyMode: "none",
    answerMode: "none",
    params: Type.Object({ name: Type.String() }),
    responses: { 204: { description: "Deleted" } },
  },
} as const satisfies OperationTable;

type Options = PipelineOptions<typeof TABLE, string>;

const JSON_TYPE = { "content-type": "application/json" };

let app: FastifyInstance;
let seen: string[];

beforeEach(() => {
  app = createHttpServer({ logger: pino({ level: "silent" }) });
  seen = [];
});
afterEach(() => app.close());

async function register(options: Partial<Options> = {}): Promise<void> {
  await registerOperations<typeof TABLE, string>(app, TABLE, {
    prefix: "/api",
    authenticate: (request) => String(request.headers["x-caller"] ?? "ada"),
    authorize: (caller, { allows }) => {
      if (caller !== "ada") throw new Problem("FORBIDDEN", `${caller} may not ${allows}.`);
    },
    handlers: {
      create: async ({ caller, body }) => {
        seen.push(`${caller} creates ${body.name}`);
        return { status: 201, body };
      },
      list: ({ caller, query }) => {
        seen.push(`${caller} lists ${JSON.stringify(query)}`);
        return { status: 200, body: '["as it is"]', headers: { "x-count": "1" } };
      },
      remove: async ({ caller, params, body }) => {
        seen.push(`${caller} removes ${params.name} ${String(body)}`);
        return { status: 204 };
      },
    },
    ...options,
  });
}

describe("a request", () => {
  test.each(["at once", "later"])("reaches the handler with its caller, who is known %s", async (when) => {
    await register(when === "later" ? { authenticate: async () => "ada" } : {});
    const response = await app.inject({
      method: "POST",
      url: "/api/things",
      headers: JSON_TYPE,
      payload: '{"name":"a"}',
    });
    expect([response.statusCode, response.json()]).toEqual([201, { name: "a" }]);
    expect(seen).toEqual(["ada creates a"]);
  });

  test("of a row that answers bytes is answered with these bytes as JSON, and its query is left alone", async () => {
    await register();
    const response = await app.inject({ url: "/api/things?limit=x" });
    expect([response.statusCode, response.body]).toEqual([200, '["as it is"]']);
    expect(response.headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "x-count": "1",
    });
    expect(seen).toEqual(['ada lists {"limit":"x"}']);
  });

  test.each(["", "{}", "{broken", "null"])("that takes no body has this one ignored: %j", async (payload) => {
    await register();
    const request = { method: "DELETE", url: "/api/things/a", headers: JSON_TYPE, payload } as const;
    expect((await app.inject(request)).statusCode).toBe(204);
    expect(seen).toEqual(["ada removes a undefined"]);
  });

  test.each([
    ["another caller", { "x-caller": "eve" }, "FORBIDDEN"],
    ["no room for JSON", { accept: "text/html" }, "NOT_ACCEPTABLE"],
  ])("with %s reaches no handler", async (_what, headers, code) => {
    await register();
    const response = await app.inject({ method: "DELETE", url: "/api/things/a", headers });
    expect(response.json()).toMatchObject({ code });
    expect(seen).toEqual([]);
  });
});

test("a body that is too large is not called larger than 1 MB where less is accepted", async () => {
  await register();
  const payload = JSON.stringify({ name: "a".repeat(300_000) });
  const response = await app.inject({ method: "POST", url: "/api/things", headers: JSON_TYPE, payload });
  expect([response.statusCode, response.json()]).toMatchObject([413, { code: "INPUT_TOO_LARGE" }]);
  expect(response.body).toContain("dataRef");
  expect(response.body).not.toContain("1 MB");
  expect(seen).toEqual([]);
});

function refuse(): never {
  throw new Problem("UNAUTHENTICATED");
}

test("a public row asks nobody who they are, and its handler has no caller", async () => {
  const table = { look: { ...TABLE.list, allows: "public" } } as const satisfies OperationTable;
  await registerOperations(app, table, {
    prefix: "/public",
    authenticate: refuse,
    authorize: refuse,
    handlers: { look: ({ caller }) => ({ status: 200 as const, body: JSON.stringify([String(caller)]) }) },
  });
  expect((await app.inject({ url: "/public/things" })).json()).toEqual(["null"]);
  const refused = await app.inject({ url: "/public/things", headers: { accept: "text/html" } });
  expect(refused.statusCode).toBe(406);
});

describe("a limit", () => {
  test("is asked with caller and rate class, and refuses before the body is looked at", async () => {
    const asked: string[] = [];
    await register({
      limit: (caller, rate) => {
        asked.push(`${caller} ${rate}`);
        if (rate === "write")
          throw new Problem("RATE_LIMITED", undefined, { headers: { "retry-after": "1" } });
      },
    });
    const refused = await app.inject({
      method: "POST",
      url: "/api/things",
      headers: JSON_TYPE,
      payload: "{broken",
    });
    expect([refused.statusCode, refused.headers["retry-after"]]).toEqual([429, "1"]);
    expect((await app.inject({ url: "/api/things" })).statusCode).toBe(200);
    expect(asked).toEqual(["ada write", "ada read"]);
  });
});

const fail = () => Promise.reject(new Error("no room"));

describe("the audit log", () => {
  const audit: AuditStage<string> = {
    record: async ({ operation, caller }, handle) => {
      seen.push(`${caller} begins ${operation.audit}`);
      const answer = await handle();
      seen.push(`${caller} ends ${operation.audit} ${JSON.stringify(answer.body)}`);
      return answer;
    },
    refuse: async ({ operation, caller }, error) =>
      void seen.push(`${caller} may not ${operation.audit}: ${String(error)}`),
  };
  const create = { method: "POST", url: "/api/things", headers: JSON_TYPE, payload: '{"name":"a"}' } as const;

  test("has its entry before the answer", async () => {
    await register({ audit });
    expect((await app.inject(create)).statusCode).toBe(201);
    expect(seen).toEqual(["ada begins thing.create", "ada creates a", 'ada ends thing.create {"name":"a"}']);
  });

  test("has nothing of who only reads", async () => {
    await register({ audit });
    await app.inject({ url: "/api/things" });
    expect(seen).toEqual(["ada lists {}"]);
  });

  test.each(["at once", "later"])("has who is refused, whose caller is known %s", async (when) => {
    await register({ audit, ...(when === "later" ? { authenticate: async () => "eve" } : {}) });
    const headers = { ...JSON_TYPE, "x-caller": "eve" };
    const refused = await app.inject({ ...create, headers });
    expect(refused.json()).toMatchObject({ code: "FORBIDDEN" });
    expect(seen).toEqual(["eve may not thing.create: Problem: eve may not caller."]);
    expect((await app.inject({ url: "/api/things", headers })).statusCode).toBe(403);
    expect(seen).toHaveLength(1);
  });

  test("that cannot be written fails the request", async () => {
    await register({ audit: { record: fail, refuse: fail } });
    expect((await app.inject(create)).statusCode).toBe(500);
  });

  test("does not keep starts waiting", async () => {
    const table = { start: { ...TABLE.create, rate: "start" } } as const satisfies OperationTable;
    await registerOperations<typeof table, string>(app, table, {
      prefix: "/starts",
      authenticate: () => "ada",
      audit,
      handlers: { start: async ({ body }) => ({ status: 201, body }) },
    });
    expect((await app.inject({ ...create, url: "/starts/things" })).statusCode).toBe(201);
    expect(seen).toEqual([]);
  });
});

test("a row that allows an action is not served where nothing decides who may", async () => {
  const { authorize: _, ...options }: Options = {
    prefix: "/api",
    authenticate: () => "ada",
    authorize: () => undefined,
    handlers: {
      create: async ({ body }) => ({ status: 201, body }),
      list: () => ({ status: 200, body: "[]" }),
      remove: async () => ({ status: 204 }),
    },
  };
  await expect(registerOperations(app, TABLE, options)).rejects.toThrow('allows "administer"');
});
