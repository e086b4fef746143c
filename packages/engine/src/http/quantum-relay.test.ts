import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, Server } from "node:http";
import { connect, createServer as createSocketServer } from "node:net";
import type { AddressInfo, Server as SocketServer } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createQuantumRelay } from "./quantum-relay.ts";

/** Stands for the platform API: remembers what arrives, and answers with it. */
let api: Server;
/** Stands for the sandbox's socket. */
let door: SocketServer;
let target: string;
let seen: string[] = [];

async function answer(request: IncomingMessage): Promise<string> {
  const { method, url, headers } = request;
  seen.push(`${String(method)} ${String(url)}`);
  return JSON.stringify({ method, url, headers, body: await text(request) });
}

beforeAll(async () => {
  api = createServer((request, response) => {
    void answer(request).then((body) =>
      response
        .writeHead(201, {
          "content-type": "application/json",
          "set-cookie": "a=b",
          location: "/quantum/jobs/1",
        })
        .end(body),
    );
  });
  api.listen(0, "127.0.0.1");
  await once(api, "listening");
  target = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  const relay = createQuantumRelay({ target: () => target, logger: { warn: () => undefined } });
  door = createSocketServer(relay()).listen(0, "127.0.0.1");
  await once(door, "listening");
});
afterAll(() => {
  api.close();
  door.close();
});

/** All that comes back for these bytes, until the connection is closed. */
async function send(bytes: string): Promise<string> {
  seen = [];
  const socket = connect((door.address() as AddressInfo).port, "127.0.0.1");
  socket.write(bytes);
  return await text(socket);
}

const ask = async (line: string, headers: readonly string[] = [], body = "") =>
  await send([`${line} HTTP/1.1`, "Host: x", "Connection: close", ...headers, "", body].join("\r\n"));

test("a request to the quantum API is passed on with what it needs, and so is the answer", async () => {
  const token = "X-Auth-Token: plat_run_x";
  const headers = [token, "Cookie: session=1", "X-Forwarded-For: 1.2.3.4", "X-Fern-Language: Python"];
  const said = await ask(
    "POST /quantum/jobs?a=1",
    [...headers, "Content-Type: application/json", "Content-Length: 2"],
    "{}",
  );
  expect(said).toMatch(/^HTTP\/1\.1 201 /u);
  expect(said).toContain("location: /quantum/jobs/1");
  expect(said).not.toContain("set-cookie");
  const passed = JSON.parse(said.slice(said.indexOf("{"), said.lastIndexOf("}") + 1)) as {
    readonly headers: Record<string, string>;
  };
  expect(passed).toMatchObject({ method: "POST", url: "/quantum/jobs?a=1", body: "{}" });
  expect(passed.headers).toMatchObject({
    "x-auth-token": "plat_run_x",
    "x-fern-language": "Python",
    host: target.slice("http://".length),
  });
  expect(passed.headers).not.toHaveProperty("cookie");
  expect(passed.headers).not.toHaveProperty("x-forwarded-for");
});

test.each([
  "GET /api/services",
  "GET /",
  "GET /quantum",
  "GET /quantumx/jobs",
  "GET /quantum/../api/services",
  "GET /quantum/./../api/services",
  "GET /quantum/%2e%2e/api/services",
  "GET /quantum/..%2fapi",
  String.raw`GET /quantum/..\api`,
  "GET /quantum//api",
  "GET //quantum/jobs",
  "GET /quantum/jobs/..;/../api",
  "GET http://127.0.0.1:1/quantum/jobs",
  "GET http://127.0.0.1:1/api",
  "PUT /quantum/jobs",
  "GET /quantum/operations-to-come",
  "GET /quantum/openapi.json",
  "GET /quantum/jobs/1/2/3/4",
  "HEAD /quantum/jobs",
  "TRACE /quantum/jobs",
  "CONNECT 127.0.0.1:80",
  "OPTIONS *",
])("%s is refused, and nothing arrives", async (line) => {
  expect(await ask(line)).not.toContain(" 201 ");
  expect(seen).toEqual([]);
});

test.each([
  "DELETE /quantum/budgets/EUR",
  "GET /quantum/budgets",
  "GET /quantum/budgets?a=1",
  "GET /quantum/jobs/1/events",
  "GET /quantum/jobs/1/events?a=1",
  "PUT /quantum/budgets/EUR",
  "GET /quantum/workloads",
  "GET /quantum/runtime-minutes?a=1",
])("%s is for users, whoever the door knows, and nothing arrives", async (line) => {
  expect(await ask(line)).toMatch(/^HTTP\/1.1 403 [^]*"FORBIDDEN"/u);
  expect(seen).toEqual([]);
});

test.each([
  "GET /quantum/jobs/1/result/normalized",
  "GET /quantum/jobs/1/calibration",
  "GET /quantum/backends/budgets/calibration-history?before=1.0.0",
])("%s is passed on", async (line) => {
  expect(await ask(line)).toMatch(/^HTTP\/1.1 201 /u);
  expect(seen).toEqual([line]);
});

const SMUGGLED = "GET /api/services HTTP/1.1\r\nHost: x\r\n\r\n";

test.each<readonly [string, string, readonly string[], string]>([
  ["in the body of a GET", "GET /quantum/jobs", [`Content-Length: ${SMUGGLED.length}`], SMUGGLED],
  [
    "in pieces of a GET",
    "GET /quantum/jobs",
    ["Transfer-Encoding: chunked"],
    `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`,
  ],
  ["in the body of a DELETE", "DELETE /quantum/jobs/1", [`Content-Length: ${SMUGGLED.length}`], SMUGGLED],
  [
    "behind two lengths",
    "POST /quantum/jobs",
    ["Transfer-Encoding: chunked", "Content-Length: 5"],
    `0\r\n\r\n${SMUGGLED}`,
  ],
  [
    "in a body with pieces",
    "POST /quantum/jobs",
    ["Transfer-Encoding: chunked"],
    `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`,
  ],
  ["behind an upgrade", "GET /quantum/jobs", ["Upgrade: h2c"], SMUGGLED],
])("another request %s does not arrive", async (_where, line, headers, body) => {
  await ask(line, headers, body);
  expect(seen.filter((one) => !one.includes("/quantum/"))).toEqual([]);
});

test("a platform that is away is one that is asked again", async () => {
  const relay = createQuantumRelay({ target: () => "http://127.0.0.1:1", logger: { warn: () => undefined } });
  const server = createSocketServer(relay()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const answered = await fetch(`http://127.0.0.1:${port}/quantum/jobs`);
  expect([answered.status, await answered.json()]).toEqual([
    503,
    expect.objectContaining({ code: "UNAVAILABLE", error: expect.any(String) as unknown }),
  ]);
  server.close();
});

const authorize = (headers: IncomingHttpHeaders) =>
  headers["x-auth-token"] === "known" ? { ...headers, "x-auth-token": "another" } : null;

test("where the process knows who calls, nobody else does, and no other token is passed on", async () => {
  const own = createQuantumRelay({
    target: () => `${target}/prefix`,
    authorize,
    logger: { warn: () => undefined },
  });
  const server = createSocketServer(own()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/quantum/jobs`;
  const known = await fetch(url, { headers: { "x-auth-token": "known" } });
  expect(await known.json()).toMatchObject({
    url: "/prefix/quantum/jobs",
    headers: { "x-auth-token": "another" },
  });
  for (const headers of [{}, { "x-auth-token": "other" }, { authorization: "Bearer known" }])
    expect((await fetch(url, { headers })).status).toBe(401);
  server.close();
});
