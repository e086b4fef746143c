import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ExactNumber, parseExactNumbers } from "@platform/contract/exact-number";
import type { LocalTry } from "@platform/contract/local-try";
import { createHttpServer } from "@platform/engine/http/server";
import { createOutput } from "../base/output.ts";
import { createServerLogger } from "./server-logger.ts";
import { registerTryPage } from "./try-page.ts";

const PROJECT: LocalTry = {
  name: "demo",
  version: "local-1",
  inputSchema: { enum: [new ExactNumber("12345678901234567890")] },
  example: { data: '{"n":12345678901234567890}', params: null },
  exampleNotes: [],
  failure: null,
  reloadFault: null,
};
const INDEX = '<meta name="csp-nonce" content="__CSP_NONCE__">';
const SCRIPT = "export const answer = 42;\n";

let directory: string;
let app: ReturnType<typeof createHttpServer>;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "platform-try-page-"));
  const nobody = { isTerminal: false, write: () => undefined };
  const output = createOutput({ out: nobody, err: nobody, isJson: false, noColor: true });
  app = createHttpServer({ logger: createServerLogger(output, false) });
  await registerTryPage(app, { directory, describe: async () => PROJECT });
});
afterEach(async () => {
  await app.close();
  await rm(directory, { recursive: true });
});

/** As `tools/build-console.ts` builds it: with nothing compressed. */
async function build(length = SCRIPT.length): Promise<void> {
  const file = "assets/try-Ab_9-x.js";
  const listed = {
    path: `/try/${file}`,
    file,
    type: "text/javascript; charset=utf-8",
    etag: '"abc"',
    immutable: true,
    lengths: { identity: length },
  };
  await mkdir(join(directory, "assets"));
  await writeFile(join(directory, file), SCRIPT);
  await writeFile(join(directory, "try.html"), INDEX);
  await writeFile(join(directory, "manifest.json"), JSON.stringify({ index: "try.html", files: [listed] }));
}

interface Asked {
  readonly host?: string;
  readonly remoteAddress?: string;
}

const get = (url: string, { host = "localhost:8081", remoteAddress = "127.0.0.1" }: Asked = {}) =>
  app.inject({ method: "GET", url, remoteAddress, headers: { host, accept: "*/*" } });

test("the page has a nonce of its own each time, allows nothing from elsewhere, and is shown in no frame", async () => {
  await build();
  const pages = [await get("/try"), await get("/try/")];
  const nonces = pages.map(({ headers, body }) => {
    const policy = String(headers["content-security-policy"]);
    const [, nonce = ""] = /style-src 'self' 'nonce-([\w-]{24})'/u.exec(policy) ?? [];
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'$/u);
    expect(body).toBe(INDEX.replace("__CSP_NONCE__", nonce));
    return nonce;
  });
  expect(new Set(nonces).size).toBe(2);
  expect(pages[0]?.headers).toMatchObject({
    "cache-control": "no-store",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
  });
});

test("its files are kept for ever under their names, and nothing that is not listed is served", async () => {
  await build();
  const { statusCode, headers, body } = await get("/try/assets/try-Ab_9-x.js");
  expect([statusCode, body]).toEqual([200, SCRIPT]);
  expect(headers).toMatchObject({
    "cache-control": "public, max-age=31536000, immutable",
    "cross-origin-resource-policy": "same-origin",
  });
  for (const path of ["/try/manifest.json", "/try/try.html", "/try/assets/../manifest.json", "/try/x"])
    expect((await get(path)).statusCode).toBe(404);
});

test("the project is told with the digits of its schema and example, and is kept by nobody", async () => {
  const { headers, body } = await get("/try/project.json");
  expect(body).toContain('"inputSchema":{"enum":[12345678901234567890]}');
  expect(parseExactNumbers(body)).toEqual(PROJECT);
  expect(headers["cache-control"]).toBe("no-store");
});

test("where it was not built, the page says what to run, and is there as soon as that has run", async () => {
  const missing = await get("/try");
  expect(missing.statusCode).toBe(404);
  expect(missing.headers["content-type"]).toBe("text/html; charset=utf-8");
  expect(missing.body).toContain("npm run build -w packages/console");
  expect((await get("/try/assets/try-Ab_9-x.js")).statusCode).toBe(404);
  await build();
  expect((await get("/try")).statusCode).toBe(200);
});

test("a build whose files do not belong together is no page, and no fault of the server", async () => {
  await build(SCRIPT.length + 1);
  const { statusCode, body } = await get("/try");
  expect(statusCode).toBe(404);
  expect(body).toMatch(/bytes and not.*npm run build/su);
});

test.each([
  ["another machine", { host: "192.168.1.7:8081", remoteAddress: "192.168.1.9" }],
  ["another machine that says it is this one", { remoteAddress: "192.168.1.9" }],
  ["a program of this machine that passes on what others ask", { host: "lab.example.org" }],
])("%s gets no page, no file and no example, and is told where the page is", async (_who, asked) => {
  await build();
  const page = await get("/try?from=there", asked);
  expect(page.statusCode).toBe(403);
  expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
  expect(page.body).toMatch(/without a login and without TLS.*http:\/\/localhost:\d*\/try there/su);
  for (const path of ["/try/project.json", "/try/assets/try-Ab_9-x.js"]) {
    const refused = await get(path, asked);
    expect([refused.statusCode, refused.json<{ code: string }>().code]).toEqual([403, "FORBIDDEN"]);
  }
});

test.each([
  { host: "127.0.0.1:8081" },
  { host: "[::1]:8081", remoteAddress: "::1" },
  { host: "demo.localhost:8081", remoteAddress: "::ffff:127.0.0.1" },
])("a browser of this machine gets it as $host", async (asked) => {
  await build();
  expect((await get("/try", asked)).statusCode).toBe(200);
});

test("nothing is changed by it", async () => {
  for (const url of ["/try", "/try/project.json", "/try/assets/x.js"]) {
    const { statusCode, headers } = await app.inject({ method: "POST", url, payload: "{}" });
    expect([statusCode, headers["allow"]]).toEqual([405, "GET"]);
  }
});
