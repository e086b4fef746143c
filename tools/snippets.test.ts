import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { toCurl, toJavaScript, toPython } from "../packages/contract/src/snippets.ts";
import type { ShownRequest } from "../packages/contract/src/snippets.ts";

const run = promisify(execFile);

/** What quoting has to survive, besides any text: quotes, backslashes, variables, line ends, other scripts, halves of pairs. */
const HARD = `it's "quoted" \\ $HOME \`id\` $(id) !x %s \\n äöü 漢字 😀 \u2028`;
const words = fc.oneof(
  fc.constant(HARD),
  fc.string({ unit: "grapheme", maxLength: 30 }),
  fc.string({ unit: "binary-ascii", maxLength: 30 }),
);

const requests = fc.record({
  id: words,
  q: words,
  value: words,
  header: fc.stringMatching(/^[ -~]{1,20}$/u),
});

interface Values {
  readonly id: string;
  readonly q: string;
  readonly value: string;
  readonly header: string;
}

function build({ id, q, value, header }: Values, baseUrl: string): ShownRequest {
  return {
    route: { method: "POST", path: "/things/{id}" },
    baseUrl,
    request: { params: { id }, query: { q, none: undefined, many: ["a", "b"] }, body: { value } },
    headers: { "X-Organizationid": header.trim() },
  };
}

const toUrl = ({ id, q }: Values, baseUrl: string) =>
  `${baseUrl}/things/${encodeURIComponent(id)}?${new URLSearchParams({ q }).toString()}&many=a&many=b`;

/** NUL can be no part of an argument of a program, nor of an id. */
const isSayable = ({ id, q, value }: Values) => ![id, q, value].some((word) => word.includes("\0"));

/** A segment of a path that is a dot or two is taken out of an address by whatever follows the standard of URLs. */
const isNoDots = ({ id }: Values) => ![".", ".."].includes(id);

const ANSWER = '{"n": 12345678901234567890}';

interface Texts {
  readonly write: (shown: ShownRequest) => string;
  readonly isSayable: (values: Values) => boolean;
}

test("the command of curl gives curl what was asked for, whatever the texts hold", async () => {
  await fc.assert(
    fc.asyncProperty(requests.filter(isSayable), async (values) => {
      const command = toCurl(build(values, "https://example.org/api"));
      const { stdout } = await run("sh", ["-c", `curl() { printf '%s\\0' "$@"; }\n${command}`], {
        env: { PLATFORM_TOKEN: "t-1" },
      });
      expect(stdout.split("\0").slice(0, -1)).toEqual([
        "-X",
        "POST",
        toUrl(values, "https://example.org/api"),
        "-H",
        "Authorization: Bearer t-1",
        "-H",
        `X-Organizationid: ${values.header.trim()}`,
        "-H",
        "Content-Type: application/json",
        "--data-binary",
        JSON.stringify({ value: values.value }),
      ]);
    }),
    { numRuns: 60, examples: [[{ id: HARD, q: HARD, value: HARD, header: "o'1" }]] },
  );
});

/** Runs programs with a server of ours as the platform; rejects where one sent anything else than was asked for. */
async function sendAll(program: string, args: (code: string) => readonly string[], texts: Texts) {
  const received: unknown[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { authorization, "content-type": type, "x-organizationid": organisation } = request.headers;
      received.push([request.method, request.url, authorization, type, organisation, body]);
      return response.end(ANSWER);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await fc.assert(
    fc.asyncProperty(requests.filter(texts.isSayable), async (values) => {
      received.length = 0;
      const { stdout } = await run(program, args(texts.write(build(values, baseUrl))), {
        env: { PLATFORM_TOKEN: "t-1" },
      });
      expect(received).toEqual([
        [
          "POST",
          toUrl(values, baseUrl).slice(baseUrl.length),
          "Bearer t-1",
          "application/json",
          values.header.trim(),
          JSON.stringify({ value: values.value }),
        ],
      ]);
      expect(stdout).toContain("12345678901234567890");
    }),
    { numRuns: 15, examples: [[{ id: HARD, q: HARD, value: HARD, header: "o'1" }]] },
  );
  server.close();
}

test("the program of Python sends what was asked for, whatever the texts hold", async () => {
  const sent = sendAll("python3", (code) => ["-c", code], { write: toPython, isSayable: () => true });
  await expect(sent).resolves.toBeUndefined();
});

test("the program of JavaScript sends what was asked for, whatever the texts hold", async () => {
  const sent = sendAll(process.execPath, (code) => ["--input-type=module", "-e", code], {
    write: toJavaScript,
    isSayable: isNoDots,
  });
  await expect(sent).resolves.toBeUndefined();
});

test("the program of JavaScript prints the digits of the answer, and fails with what the platform says of a refusal", async () => {
  const server = createServer((request, response) => {
    response.writeHead(request.method === "GET" ? 200 : 422).end('{"n": 1e400}');
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const start = (method: "GET" | "POST") =>
    run(process.execPath, [
      "--input-type=module",
      "-e",
      toJavaScript({ route: { method, path: "/me" }, baseUrl, request: {} }),
    ]);
  expect((await start("GET")).stdout).toBe('{"n": 1e400}\n');
  await expect(start("POST")).rejects.toThrow('422 {"n": 1e400}');
  server.close();
});

test("a read has no method and no body of its own", () => {
  expect(
    toCurl({ route: { method: "GET", path: "/me" }, baseUrl: "https://example.org/api", request: {} }),
  ).toBe('curl https://example.org/api/me \\\n  -H "Authorization: Bearer $PLATFORM_TOKEN"');
});

test("JSON text that the caller has is shown unchanged", () => {
  const route = { method: "POST", path: "/jobs" } as const;
  const shown = { route, baseUrl: "https://example.org/api", request: { body: { json: '{"n": 1e400}' } } };
  expect(toCurl(shown)).toContain(`'{"n": 1e400}'`);
  expect(toPython(shown)).toContain("1e400");
  expect(toJavaScript(shown)).toContain("1e400");
});
