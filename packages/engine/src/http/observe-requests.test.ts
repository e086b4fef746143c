import { pino } from "pino";
import { Type } from "typebox";
import { afterEach, expect, test } from "vitest";
import { createHttpServer } from "./server.ts";
import { registerOperations } from "./pipeline.ts";
import type { OperationTable } from "@platform/contract/operation";
import { Problem } from "@platform/contract/problems";
import type { FastifyInstance } from "fastify";

const READ = {
  method: "GET",
  allows: "caller",
  scope: "user",
  audit: null,
  rate: "read",
  bodyMode: "none",
  answerMode: "none",
  description: "A thing.",
  responses: { 204: { description: "Here" } },
  problems: [],
} as const;
const TABLE = {
  find: {
    ...READ,
    path: "/things/{id}",
    summary: "Find a thing",
    params: Type.Object({ id: Type.String() }),
  },
  useLink: {
    ...READ,
    path: "/links/{token}",
    summary: "Use a link",
    params: Type.Object({ token: Type.String() }),
  },
  openDoor: { ...READ, path: "/door", summary: "Open the door", allows: "public" },
} as const satisfies OperationTable;

let app: FastifyInstance;

afterEach(() => app.close());

async function create() {
  const counted: (readonly [operation: string, status: number])[] = [];
  const logged: Record<string, unknown>[] = [];
  app = createHttpServer({
    logger: pino({ level: "debug" }, { write: (line: string) => void logged.push(JSON.parse(line)) }),
    observer: {
      observe: (operation) => (status, milliseconds) => {
        expect(milliseconds).toBeGreaterThan(0);
        counted.push([operation, status]);
      },
    },
  });
  await registerOperations(app, TABLE, {
    prefix: "",
    authenticate: (request) => {
      if (request.headers.authorization === undefined) throw new Problem("UNAUTHENTICATED");
      return null;
    },
    handlers: {
      find: ({ params }) => {
        if (params.id === "bug") throw new Error("a bug");
        return { status: 204 } as const;
      },
      useLink: () => {
        throw new Error("a bug");
      },
      openDoor: () => ({ status: 204 }) as const,
    },
  });
  const get = (url: string, headers: Readonly<Record<string, string>> = { authorization: "me" }) =>
    app.inject({ method: "GET", url, headers });
  return { counted, logged, get };
}

test("each answer is counted by its operation and status, refusals and unknown paths as well", async () => {
  const { counted, get } = await create();
  await get("/things/1");
  await get("/things/1", {});
  await get("/things/bug");
  await get("/door");
  await get("/nowhere");
  await get("/healthz");
  expect(counted).toEqual([
    ["find", 204],
    ["find", 401],
    ["find", 500],
    ["openDoor", 204],
    ["none", 404],
    ["none", 200],
  ]);
});

test("every answer has the id of its request, and no two the same, whatever the caller sends", async () => {
  const { get } = await create();
  const ids: unknown[] = [];
  for (const url of ["/things/1", "/nowhere", "/things/%E0%A4%A", "/door", "/healthz"])
    ids.push((await get(url, { authorization: "me", "x-request-id": "mine" })).headers["x-request-id"]);
  ids.push((await get("/things/1", {})).headers["x-request-id"]);
  expect(new Set(ids).size).toBe(6);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}-\d+$/u);
});

test("the log of a bug names the request as its answer does, and not what stands behind the question mark", async () => {
  const { logged, get } = await create();
  const answer = await get("/things/bug?code=hush");
  const requestId = answer.headers["x-request-id"];
  expect(answer.json()).toMatchObject({ code: "INTERNAL_ERROR", requestId });
  expect(logged).toEqual([
    expect.objectContaining({ msg: "request failed", requestId, path: "/things/bug", method: "GET" }),
  ]);
  expect(JSON.stringify(logged)).not.toContain("hush");
});

test("the log of a bug has no token of a link", async () => {
  const { logged, get } = await create();
  expect((await get("/links/hush")).statusCode).toBe(500);
  expect(logged).toEqual([expect.objectContaining({ msg: "request failed", path: "/links/:token" })]);
  expect(JSON.stringify(logged)).not.toContain("hush");
});
