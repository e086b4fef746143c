import { once } from "node:events";
import { readFile, rm, truncate, writeFile } from "node:fs/promises";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { FastifyInstance } from "fastify";
import pino from "pino";
import { createHttpServer } from "@platform/engine/http/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { INDEX, SCRIPT, buildTestConsole } from "../testing/built-console.ts";
import { createTestUser } from "../testing/fixtures.ts";
import { TEST_API_URL, TEST_GATEWAY_URL, createTestInstance } from "../testing/instance.ts";
import type { TestInstance } from "../testing/instance.ts";
import { createRecordingLogger, createTestDatabase } from "../testing/test-database.ts";
import type { TestDatabase } from "../testing/test-database.ts";
import { registerConsole } from "./console.ts";

const PAGE = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const JS = "/assets/app-Ab_9-x.js";
const URLS = { apiUrl: TEST_API_URL, gatewayUrl: TEST_GATEWAY_URL };

let home: TestDatabase;
let folder: string;
let here: TestInstance;
/** Its console is not built. */
let bare: TestInstance;

beforeAll(async () => {
  home = await createTestDatabase();
  folder = await buildTestConsole();
  here = await createTestInstance({ database: home.database });
  bare = await createTestInstance({ database: home.connect() });
  const logger = createRecordingLogger();
  await registerConsole(here.api, { ...URLS, directory: folder, logger });
  await registerConsole(bare.api, { ...URLS, directory: join(folder, "assets"), logger });
  await here.api.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(async () => {
  await Promise.all([here?.close(), bare?.close()]);
  await home?.close();
  await rm(folder, { recursive: true, force: true });
});

type Headers = Readonly<Record<string, string>>;

function get(url: string, headers: Headers = {}, { api }: { readonly api: FastifyInstance } = here) {
  return api.inject({ method: "GET", url, headers });
}

/** Sends the target as it is: what a URL makes of it is not what others send. */
async function sendAsIs(path: string, headers: Headers): Promise<IncomingMessage> {
  const { port } = here.api.server.address() as { readonly port: number };
  const sent = request({ port, host: "127.0.0.1", path, headers, agent: false }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return response;
}

async function sendTarget(path: string, headers: Headers) {
  const response = await sendAsIs(path, headers);
  const body: unknown = JSON.parse(await text(response));
  return [path, response.statusCode, body];
}

/** A server that has the console and nothing else. */
async function serve(directory: string, urls = URLS) {
  const api = createHttpServer({ logger: pino({ level: "silent" }) });
  const logger = createRecordingLogger();
  return { isBuilt: await registerConsole(api, { ...urls, directory, logger }), api, logger };
}

const NOWHERE = { code: "NOT_FOUND", detail: expect.stringContaining("There is nothing at ") };

/** The page says that there is nothing. */
const HAND_EDITED = [
  "/o/x/services/%5C",
  "/o/x/services/a%2f..%2fb",
  "/o\\x",
  "/o/../x",
  "/%00",
  "/o/acme/services/%00",
  "/o/a%0d%0ax",
  "/o/%7f",
];

test("every path that a browser opens and that nothing else has is the page of the console", async () => {
  for (const url of ["/", "/o/acme/services?q=x", "/jobs/01a2", "//o//acme/", "/o/acme/executions/a.b"]) {
    const response = await get(url, { accept: PAGE });
    expect([url, response.statusCode, response.headers["content-type"]]).toEqual([
      url,
      200,
      "text/html; charset=utf-8",
    ]);
    expect(response.headers["cache-control"]).toBe("no-store");
  }
});

test.each(HAND_EDITED)("so is %j as it stands here", async (path) => {
  const response = await sendAsIs(path, { accept: PAGE });
  expect([response.statusCode, response.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
  await text(response);
});

test("each page has a nonce of its own, in its policy and wherever the build has left a place for it", async () => {
  const nonces = new Set<string>();
  for (let count = 0; count < 3; count += 1) {
    const { headers, body } = await get("/", { accept: PAGE });
    const [, nonce = ""] = /'nonce-([\w-]{24})'/u.exec(String(headers["content-security-policy"])) ?? [];
    nonces.add(nonce);
    expect(body).toBe(INDEX.replaceAll("__CSP_NONCE__", nonce));
    expect(headers["content-security-policy"]).toBe(
      `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
    );
  }
  expect(nonces.size).toBe(3);
});

test("the page is never sent as the build has left it", async () => {
  expect((await get("/index.html", { accept: PAGE })).body).not.toContain("__CSP_NONCE__");
  expect((await get("/index.html", { accept: "*/*" })).json()).toEqual(NOWHERE);
});

const COMMON = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": expect.stringMatching(/(?=.*camera=\(\))(?=.*clipboard-write=\(self\)$)/u),
};

test("the page and each file have the headers that keep other pages away", async () => {
  for (const url of ["/", JS, "/assets/app-1f.css", "/icon.svg"]) {
    const { headers } = await get(url, { accept: PAGE });
    expect(headers).toMatchObject(COMMON);
    expect(headers).not.toHaveProperty("strict-transport-security");
  }
  expect((await get("/icon.svg")).headers["content-security-policy"]).toMatch(
    /^default-src 'none'.*sandbox$/u,
  );
});

test.each([
  ["https://platform.test", "https://platform.test:8443", "max-age=31536000"],
  ["https://platform.test", "http://gateway.test", "max-age=31536000"],
  // Browsers would no longer reach the gateway.
  ["https://platform.test", "http://platform.test:8080", undefined],
  ["http://platform.test:8090", "https://platform.test", undefined],
])("an API at %s beside a gateway at %s is bound to https: %s", async (apiUrl, gatewayUrl, wanted) => {
  const { headers } = await get("/", { accept: PAGE }, await serve(folder, { apiUrl, gatewayUrl }));
  expect(headers["strict-transport-security"]).toBe(wanted);
});

test("what is not the console's stays as it was: the API, its refusals, health, the device page", async () => {
  const token = (await createTestUser(here)).token;
  const me = await get("/api/me", { accept: PAGE, authorization: `Bearer ${token}` });
  expect([me.statusCode, me.headers["content-type"]]).toEqual([200, "application/json; charset=utf-8"]);
  expect((await get("/api/me", { accept: PAGE })).statusCode).toBe(401);
  expect((await get("/healthz", { accept: PAGE })).json()).toEqual({ status: "alive" });
  expect((await get("/device", { accept: PAGE })).body).toContain("Log in a program");
  expect((await get("/api/docs", { accept: PAGE })).body).toContain("swagger-ui");
  // This path has no GET.
  expect((await get("/api/device/code", { accept: PAGE })).statusCode).toBe(405);
});

test.each([
  "/api",
  "/api/nothing",
  "//api/nothing",
  "/%61pi/nothing",
  "/healthz/more",
  "/readyz/more",
  "/device/more",
  "/assets/gone-0123.js",
  "/assets",
])("%s is nothing, also for a browser", async (url) => {
  const response = await get(url, { accept: PAGE });
  expect([response.statusCode, response.json()]).toEqual([404, NOWHERE]);
});

test.each([{}, { accept: "*/*" }, { accept: "application/json" }, { accept: "text/html;q=0, */*" }])(
  "who does not ask for a page gets none where nothing is: %j",
  async (headers) => {
    for (const url of ["/", "/o/acme", "/main.js"]) {
      const response = await get(url, headers);
      expect([response.statusCode, response.json()]).toEqual([404, NOWHERE]);
    }
  },
);

test("only GET and HEAD are answered with the page", async () => {
  for (const method of ["POST", "PUT", "DELETE", "OPTIONS"] as const) {
    const response = await here.api.inject({ method, url: "/o/acme", headers: { accept: PAGE } });
    expect([response.statusCode, response.json()]).toEqual([404, NOWHERE]);
  }
  const head = await here.api.inject({ method: "HEAD", url: "/o/acme", headers: { accept: PAGE } });
  expect([head.statusCode, head.body, head.headers["content-type"]]).toEqual([
    200,
    "",
    "text/html; charset=utf-8",
  ]);
});

test.each([
  [
    "..",
    ["/../package.json", "/%2e%2e/package.json", "/assets/..%2f..%2fmanifest.json", "/assets/../icon.svg"],
  ],
  ["twice encoded", ["/assets/%252e%252e/icon.svg", "/assets%252fapp-Ab_9-x.js", "/%2569con.svg"]],
  ["encoded", ["/assets%2fapp-Ab_9-x.js", "/%69con.svg", "/assets/app-Ab_9-x%2ejs"]],
  ["null characters", ["/%00", "/icon.svg%00", "/icon.svg%00.js", "/%00/icon.svg"]],
  ["backslashes", ["/..%5c..%5cpackage.json", "/\\..\\package.json", "/assets\\app-Ab_9-x.js"]],
  [
    "elsewhere",
    ["/etc/passwd", "//etc/passwd", "http://x.test/icon.svg", "http://x.test/", "file:///etc/passwd"],
  ],
  [
    "not listed",
    ["/not-listed.txt", "/manifest.json", "/assets/app-Ab_9-x.js.br", "/icon.svg/", "//icon.svg"],
  ],
  ["of objects", ["/__proto__", "/constructor", "/toString"]],
])("no path leads to a file that the build does not list: %s", async (_what, targets) => {
  for (const target of targets)
    expect(await sendTarget(target, { accept: "*/*" })).toEqual([target, 404, NOWHERE]);
});

test.each([["http://x.test/", "http://x.test/o/acme", "file:///o/acme"]])(
  "%s is no page, nor are others like it",
  async (...targets) => {
    for (const target of targets)
      expect(await sendTarget(target, { accept: PAGE })).toEqual([target, 404, NOWHERE]);
  },
);

test("a path that is not UTF-8 is refused", async () => {
  expect((await get("/o/%ff", { accept: PAGE })).statusCode).toBe(400);
});

const DECODERS = new Map([
  ["gzip", gunzipSync],
  ["br", brotliDecompressSync],
]);

test.each([
  ["br, gzip", "br"],
  ["gzip, deflate, br;q=0.9", "gzip"],
  ["GZIP", "gzip"],
  ["gzip;q=0.001", "gzip"],
  ["*", "br"],
  ["br;q=0, *", "gzip"],
  ["zstd, *;q=0.5, br;q=0", "gzip"],
])("a client that accepts %s gets %s", async (accepted, encoding) => {
  const { headers, rawPayload } = await get(JS, { "accept-encoding": accepted });
  expect(headers).toMatchObject({ "content-encoding": encoding, vary: "accept-encoding" });
  expect(headers["content-length"]).toBe(String(rawPayload.length));
  expect(DECODERS.get(encoding)?.(rawPayload).toString()).toBe(SCRIPT);
  expect(rawPayload.length).toBeLessThan(SCRIPT.length);
});

test.each([
  "",
  "identity",
  "deflate",
  "identity, gzip;q=0.5",
  "gzip;q=0",
  "*;q=0",
  "br;q=2",
  "gzip;q=x",
  ",;,=;",
])("a client that accepts '%s' gets the file as it is", async (accepted) => {
  const { headers, body } = await get(JS, { "accept-encoding": accepted });
  expect(headers).not.toHaveProperty("content-encoding");
  expect([headers["vary"], body]).toEqual(["accept-encoding", SCRIPT]);
});

test("a header of a million encodings takes time in proportion to its length", async () => {
  const began = process.cpuUsage();
  const { headers } = await get(JS, { "accept-encoding": `${"x;q=0.1,".repeat(1_000_000)}gzip` });
  expect(headers["content-encoding"]).toBe("gzip");
  const { user } = process.cpuUsage(began);
  expect(user / 1e6).toBeLessThan(20);
});

test("a file that was fetched is not sent again, and its kinds of encoding are told apart", async () => {
  const [plain, gzip] = await Promise.all([get(JS), get(JS, { "accept-encoding": "gzip" })]);
  const [etag, packed] = [String(plain.headers["etag"]), String(gzip.headers["etag"])];
  expect(new Set([etag, packed]).size).toBe(2);
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
    const again = await get(JS, { "if-none-match": known });
    expect([again.statusCode, again.body, again.headers["etag"]]).toEqual([304, "", etag]);
    expect(again.headers).toMatchObject({ ...COMMON, vary: "accept-encoding" });
  }
  for (const other of [packed, '"other"', etag.slice(1, -1)])
    expect((await get(JS, { "if-none-match": other })).statusCode).toBe(200);
  // What has a new nonce each time is never known.
  expect((await get("/", { accept: PAGE, "if-none-match": "*" })).statusCode).toBe(200);
});

test("files with a hash in their name are kept for ever, others for an hour", async () => {
  expect((await get(JS)).headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  expect((await get("/icon.svg?v=2")).headers).toMatchObject({
    "cache-control": "public, max-age=3600",
    "content-type": "image/svg+xml",
  });
});

test("HEAD has the headers of GET and nothing else", async () => {
  const url = JS;
  const headers = { "accept-encoding": "gzip" };
  const [got, head] = [await get(url, headers), await here.api.inject({ method: "HEAD", url, headers })];
  expect([head.statusCode, head.body]).toEqual([200, ""]);
  for (const name of ["etag", "vary", "content-type", "content-encoding", "content-length", "cache-control"])
    expect([name, head.headers[name]]).toEqual([name, got.headers[name]]);
});

test("the port of the gateway has nothing of it", async () => {
  for (const url of ["/", JS, "/icon.svg", "/o/acme"]) {
    const response = await here.gateway.inject({ method: "GET", url, headers: { accept: PAGE } });
    expect([url, response.statusCode, response.json()]).toEqual([url, 404, NOWHERE]);
  }
});

test("where the console is not built, a page says how to, and the API works", async () => {
  const { statusCode, body, headers } = await get("/o/acme", { accept: PAGE }, bare);
  expect(statusCode).toBe(404);
  expect(body).toContain("npm run build -w packages/console");
  expect(headers).toMatchObject({ ...COMMON, "cache-control": "no-store" });
  expect((await get("/", {}, bare)).json()).toEqual(NOWHERE);
  const { token } = await createTestUser(bare);
  expect((await get("/api/me", { authorization: `Bearer ${token}` }, bare)).statusCode).toBe(200);
});

test("a build beside a running platform changes nothing of what that serves", async () => {
  const directory = await buildTestConsole();
  const served = await serve(directory);
  await rm(directory, { recursive: true });
  expect((await get(JS, {}, served)).body).toBe(SCRIPT);
});

test.each([
  ["a part is shorter than it was", (directory: string) => truncate(join(directory, `${JS}.gz`), 10)],
  ["a part is missing", (directory: string) => rm(join(directory, `${JS}.br`))],
  ["the page is missing", (directory: string) => rm(join(directory, "index.html"))],
  ["the manifest is cut", (directory: string) => truncate(join(directory, "manifest.json"), 20)],
])("a build that is not whole is not served: %s", async (_what, damage) => {
  const directory = await buildTestConsole();
  await damage(directory);
  const { isBuilt, logger, ...served } = await serve(directory);
  expect(isBuilt).toBe(false);
  expect(logger.entries.map(({ message }) => message)).toEqual(["the console is not served: build it again"]);
  expect((await get("/", { accept: PAGE }, served)).body).toContain("is not built");
  expect((await get(JS, {}, served)).statusCode).toBe(404);
  await rm(directory, { recursive: true });
});

test.each(["../icon.svg", "assets/../../icon.svg", "/etc/passwd", "assets//app-1f.css", ".env"])(
  "a build that lists the file %s is not served",
  async (file) => {
    const directory = await buildTestConsole();
    const path = join(directory, "manifest.json");
    const manifest = await readFile(path, "utf8");
    await writeFile(path, manifest.replace('"file":"icon.svg"', `"file":"${file}"`));
    const { isBuilt, logger } = await serve(directory);
    expect(isBuilt).toBe(false);
    expect(logger.entries).toMatchObject([
      { fields: { err: { message: expect.stringContaining("no file") } } },
    ]);
    await rm(directory, { recursive: true });
  },
);
