import { METHODS } from "node:http";
import { connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { Type } from "typebox";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { waitUntil } from "../testing/wait-until.ts";
import type { OperationTable } from "@platform/contract/operation";
import { Problem } from "@platform/contract/problems";
import { REQUEST_TIMES } from "./body-deadline.ts";
import type { RequestTimes } from "./body-deadline.ts";
import { registerDocs } from "./docs.ts";
import { registerOperations } from "./pipeline.ts";
import { createHttpServer } from "./server.ts";

const TABLE = {
  rename: {
    method: "POST",
    path: "/things/{id}",
    allows: "caller",
    scope: "user",
    audit: "thing.rename",
    rate: "write",
    bodyMode: "json",
    answerMode: "none",
    summary: "Rename a thing",
    description: "By its id.",
    body: Type.Object({ name: Type.Unknown() }),
    responses: { 204: { description: "Renamed" } },
    problems: [],
  },
  upload: {
    method: "PUT",
    path: "/things/{id}/archive",
    allows: "caller",
    scope: "user",
    audit: "thing.upload",
    rate: "upload",
    bodyMode: "stream",
    answerMode: "none",
    summary: "Upload a thing",
    description: "As a zip.",
    responses: { 204: { description: "Uploaded" } },
    problems: [],
  },
  put: {
    method: "PUT",
    path: "/things/{id}/file",
    allows: "caller",
    scope: "user",
    audit: "thing.put",
    rate: "upload",
    bodyMode: "file",
    answerMode: "none",
    summary: "Put a file of a thing",
    description: "Of any type.",
    responses: { 204: { description: "Put" } },
    problems: [],
  },
} as const satisfies OperationTable;

const open: FastifyInstance[] = [];
const sockets: Socket[] = [];
/** Bytes of the upload under way that the handler has seen. */
let received = 0;

async function receive(body: AsyncIterable<Buffer>) {
  for await (const chunk of body) received += chunk.length;
  return { status: 204 } as const;
}

async function create(times: Partial<RequestTimes> = {}): Promise<FastifyInstance> {
  const app = createHttpServer({
    logger: pino({ level: "silent" }),
    times: { ...REQUEST_TIMES, ...times },
  });
  open.push(app);
  await registerOperations(app, TABLE, {
    prefix: "/api",
    authenticate: async (request) => {
      if (request.headers.authorization === "none") throw new Error("nobody");
      return null;
    },
    handlers: {
      rename: async () => ({ status: 204 }) as const,
      upload: ({ body }) => receive(body),
      put: ({ body, http }) => {
        if (http.headers["x-refuse"] !== undefined) throw new Problem("CONFLICT");
        return receive(body);
      },
    },
  });
  await registerDocs(app, { prefix: "/api", openApi: () => ({}) });
  return app;
}

/** A connection by hand: what was answered so far, and whether it was ended. */
async function dial(app: FastifyInstance) {
  await app.listen({ host: "127.0.0.1", port: 0 });
  const socket = connect((app.server.address() as AddressInfo).port, "127.0.0.1");
  sockets.push(socket);
  const seen = { text: "", isEnded: false };
  socket.on("data", (chunk) => (seen.text += String(chunk)));
  socket.on("close", () => (seen.isEnded = true)).on("error", () => undefined);
  return { socket, seen };
}

beforeEach(() => {
  received = 0;
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const app of open.splice(0)) await app.close();
});

describe("any method that is not of the table is refused with those that are", () => {
  test.each(METHODS.filter((method) => !["POST", "CONNECT"].includes(method)))("%s", async (method) => {
    const app = await create();
    const response = await app.inject({ method: method as "GET", url: "/api/things/1" });
    expect(response.statusCode).toBe(405);
    expect(response.headers["allow"]).toBe("POST");
    expect(response.body).toMatch(method === "HEAD" ? /^$/ : /"code":"METHOD_NOT_ALLOWED"/);
  });

  test.each(["/healthz", "/readyz", "/api/openapi.json", "/api/docs"])("DELETE of %s", async (url) => {
    const response = await (await create()).inject({ method: "DELETE", url });
    expect([response.statusCode, response.headers["allow"]]).toEqual([405, "GET"]);
  });
});

describe("a body that is not as expected", () => {
  test.each([33, 100_000])("nested %i levels deep is the caller's mistake", async (levels) => {
    const payload = `{"name":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
    const response = await (
      await create()
    ).inject({
      method: "POST",
      url: "/api/things/1",
      headers: { "content-type": "application/json" },
      payload,
    });
    expect([response.statusCode, response.json()]).toMatchObject([400, { code: "INVALID_INPUT" }]);
  });

  test("nested 32 levels deep is accepted", async () => {
    const response = await (
      await create()
    ).inject({
      method: "POST",
      url: "/api/things/1",
      headers: { "content-type": "application/json" },
      payload: `{"name":${"[".repeat(31)}${"]".repeat(31)}}`,
    });
    expect(response.statusCode).toBe(204);
  });
});

test("a path that is no text is said to be wrong, and how it is written", async () => {
  const app = await create();
  const said: unknown[] = [];
  for (const url of ["/api/things/%zz", "/api/things/%ff"])
    said.push((await app.inject({ url })).json().detail);
  expect(said).toEqual([
    "The path has a % that begins no character of UTF-8; write it as %25.",
    "The path has a % that begins no character of UTF-8; write it as %25.",
  ]);
});

test("an Expect header that nobody can meet is answered with code and detail", async () => {
  const { socket, seen } = await dial(await create());
  socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\nexpect: a-miracle\r\n\r\n");
  await waitUntil(() => seen.isEnded);
  expect(seen.text).toMatch(/^HTTP\/1\.1 417 .*"code":"INVALID_INPUT","detail":"The Expect header/s);
});

test("two hundred thousand slashes are no work", async () => {
  const response = await (await create()).inject({ url: `/api${"/".repeat(200_000)}docs` });
  expect(response.statusCode).toBe(200);
});

test.each([
  ["known before", (bytes: number) => [`content-length: ${bytes}`, "", " "]],
  [
    "seen as it arrives",
    (bytes: number) => ["transfer-encoding: chunked", `${bytes.toString(16)}\r\n`, " \r\n0\r\n\r\n"],
  ],
] as const)(
  "who sends too large a body reads so, can send it to the end, and is answered what comes behind it: %s",
  async (_, frame) => {
    const { socket, seen } = await dial(await create());
    const bytes = 1_000_000;
    const [header, begin, end] = frame(bytes);
    const head = ["POST /api/things/1 HTTP/1.1", "host: x", "content-type: application/json", header];
    socket.write(`${head.join("\r\n")}\r\n\r\n${begin}${" ".repeat(bytes - 1)}`);
    await waitUntil(() => seen.text.includes("INPUT_TOO_LARGE"));
    expect(seen.text).toMatch(/^HTTP\/1\.1 413 /u);
    socket.write(`${end}GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n`);
    await waitUntil(() => seen.text.includes("alive") || seen.isEnded);
    expect(seen.text).toMatch(/HTTP\/1\.1 200 /u);
  },
);

describe("a request that arrives slowly", () => {
  const HEAD = "host: x\r\ntransfer-encoding: chunked\r\n";
  const SLOW = { headMs: 200, bodyMs: 300 };

  test("is ended with 408 while its JSON does not come", async () => {
    const { socket, seen } = await dial(await create(SLOW));
    socket.write(`POST /api/things/1 HTTP/1.1\r\n${HEAD}content-type: application/json\r\n\r\n1\r\n{\r\n`);
    await waitUntil(() => seen.isEnded);
    expect(seen.text).toMatch(/^HTTP\/1\.1 408 .*"code":"REQUEST_TIMEOUT"/s);
  });

  test("is ended with 408 while its head does not come", async () => {
    const { socket, seen } = await dial(await create({ headMs: 300 }));
    socket.write("POST /api/things/1 HTTP/1.1\r\nhost: x\r\n");
    await waitUntil(() => seen.isEnded);
    expect(seen.text).toMatch(/^HTTP\/1\.1 408 .*"code":"REQUEST_TIMEOUT"/s);
  });

  test.each([
    ["archive", "application/zip"],
    ["file", "application/json"],
  ])("goes on as long as an upload goes on, however long that is: %s", async (what, type) => {
    const { socket, seen } = await dial(await create(SLOW));
    const until = performance.now() + 3 * SLOW.bodyMs;
    socket.write(`PUT /api/things/1/${what} HTTP/1.1\r\n${HEAD}content-type: ${type}\r\n\r\n`);
    let sent = 0;
    while (performance.now() < until) {
      socket.write("1\r\nz\r\n");
      sent += 1;
      await waitUntil(() => received === sent || seen.isEnded);
    }
    socket.write("0\r\n\r\n");
    await waitUntil(() => seen.text !== "" || seen.isEnded);
    expect(seen.text).toMatch(/^HTTP\/1\.1 204 /);
  });

  test("is ended with 408 where an upload stands still", async () => {
    const { socket, seen } = await dial(await create({ uploadIdleMs: 200 }));
    socket.write(
      `PUT /api/things/1/archive HTTP/1.1\r\n${HEAD}content-type: application/zip\r\n\r\n1\r\nz\r\n`,
    );
    await waitUntil(() => seen.isEnded);
    expect(seen.text).toMatch(/^HTTP\/1\.1 408 /);
  });

  test.each([
    ["by nobody", "/nowhere", 404],
    ["by its handler", "/api/things/1/file", 409],
  ])("has no longer than others where the upload was refused already: %s", async (_, path, status) => {
    const { socket, seen } = await dial(await create(SLOW));
    const head = `${HEAD}x-refuse: yes\r\ncontent-type: application/zip\r\n\r\n`;
    socket.write(`PUT ${path} HTTP/1.1\r\n${head}1\r\nz\r\n`);
    await waitUntil(() => seen.text !== "");
    expect(seen.text).toContain(`HTTP/1.1 ${status} `);
    await waitUntil(() => {
      if (!seen.isEnded) socket.write("1\r\nz\r\n");
      return seen.isEnded;
    });
  });
});
