/** Requests that the console shows as programs: run as they are copied, with texts that end quotations elsewhere. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { toCurl, toJava, toJavaScript, toPython } from "@platform/contract/snippets/requests";
import type { ShownRequest } from "@platform/contract/snippets/requests";
import { escapeUnseen } from "@platform/contract/snippets/texts";
import { HOSTILE, SHOWN_LANGUAGES, listen, makeFolder, needLanguage, runShown } from "./snippet-programs.ts";

const WRITERS = { curl: toCurl, Python: toPython, JavaScript: toJavaScript, Java: toJava } as const;
/** Interpreters start for a tenth of a second, and Java compiles for one or two; ten times as long beside other work. */
const RUNS = { curl: 15, Python: 8, JavaScript: 8, Java: 2 } as const;
const TOKEN = { PLATFORM_TOKEN: "t-1" };

const words = fc.oneof(
  fc.constant(HOSTILE),
  fc.string({ unit: "grapheme", maxLength: 30 }),
  fc.string({ unit: "binary-ascii", maxLength: 30 }),
);

interface Values {
  readonly id: string;
  readonly q: string;
  readonly value: string;
  readonly header: string;
}

/** NUL can be no part of an argument of a program; a segment of a path that is a dot or two is taken out of an address by whatever follows the standard of URLs. */
const isSayable = ({ id, q, value }: Values) =>
  ![id, q, value].some((word) => word.includes("\0")) && ![".", ".."].includes(id);

const requests = fc
  .record({ id: words, q: words, value: words, header: fc.stringMatching(/^[!-~]([ -~]{0,18}[!-~])?$/u) })
  .filter(isSayable);
const WORST: Values = { id: HOSTILE, q: HOSTILE, value: HOSTILE, header: `o'1 "$HOME"\\` };

function build({ id, q, value, header }: Values, baseUrl: string): ShownRequest {
  return {
    route: { method: "POST", path: "/things/{id}" },
    baseUrl,
    request: { params: { id }, query: { q, none: undefined, many: ["a", "b"] }, body: { value } },
    headers: { "X-Organizationid": header },
  };
}

const toPath = ({ id, q }: Values) =>
  `/things/${encodeURIComponent(id)}?${new URLSearchParams({ q }).toString()}&many=a&many=b`;

/** What a program sent: the requests are what is under test, so that what answers them is only as much as they need. */
const received: unknown[] = [];
let answer: { readonly status: number; readonly body: string; readonly location?: string } = {
  status: 200,
  body: "",
};
let server: Awaited<ReturnType<typeof listen>>;
let folder: Awaited<ReturnType<typeof makeFolder>>;
beforeAll(async () => {
  folder = await makeFolder();
  server = await listen((request, response) => {
    void text(request).then((body) => {
      const { authorization, "content-type": type, "x-organizationid": organisation } = request.headers;
      received.push([request.method, request.url, authorization, type, organisation, body]);
      if (answer.location !== undefined) response.setHeader("location", answer.location);
      return response.writeHead(answer.status).end(answer.body);
    });
  });
});
afterAll(async () => {
  server.close();
  await folder.remove();
});
beforeEach(() => void received.splice(0));

test("the command of curl gives curl what was asked for, whatever the texts hold", async () => {
  const run = promisify(execFile);
  await fc.assert(
    fc.asyncProperty(requests, async (values) => {
      const command = toCurl(build(values, "https://example.org/api"));
      const { stdout } = await run("sh", ["-c", `curl() { printf '%s\\0' "$@"; }\n${command}`], {
        env: TOKEN,
      });
      expect(stdout.split("\0").slice(0, -1)).toEqual([
        "-sS",
        "--fail-with-body",
        "-X",
        "POST",
        `https://example.org/api${toPath(values)}`,
        "-H",
        "Authorization: Bearer t-1",
        "-H",
        `X-Organizationid: ${values.header}`,
        "-H",
        "Content-Type: application/json",
        "--data-binary",
        escapeUnseen(JSON.stringify({ value: values.value })),
      ]);
    }),
    { numRuns: 60, examples: [[WORST]] },
  );
});

test.for(SHOWN_LANGUAGES)(
  "the program of %s sends what was asked for, whatever the texts hold, and prints the answer digit by digit",
  async (language, { skip }) => {
    await needLanguage(language, skip);
    answer = {
      status: 200,
      body: JSON.stringify({ said: HOSTILE }).replace("{", '{"n": 1e400, "m": 12345678901234567890,'),
    };
    const sent = fc.assert(
      fc.asyncProperty(requests, async (values) => {
        received.length = 0;
        const program = WRITERS[language](build(values, server.origin));
        const { code, output, stdout } = await runShown(language, program, folder.path, TOKEN);
        expect([code, code === 0 ? "" : output]).toEqual([0, ""]);
        const body = JSON.stringify({ value: values.value });
        expect(received).toEqual([
          [
            "POST",
            toPath(values),
            "Bearer t-1",
            "application/json",
            values.header,
            expect.toBeOneOf([body, escapeUnseen(body)]),
          ],
        ]);
        expect(stdout.trimEnd()).toBe(answer.body);
      }),
      { numRuns: RUNS[language], examples: [[WORST]] },
    );
    await expect(sent).resolves.toBeUndefined();
  },
);

test.for(SHOWN_LANGUAGES)(
  "the program of %s fails where the platform refuses, and says what the platform says",
  async (language, { skip }) => {
    await needLanguage(language, skip);
    answer = { status: 422, body: '{"code":"INVALID_INPUT","detail":"\\"größe\\" is missing: ä"}' };
    const program = WRITERS[language](build(WORST, server.origin));
    const { code, output } = await runShown(language, program, folder.path, TOKEN);
    expect(code).not.toBe(0);
    expect(output).toContain(answer.body);
  },
);

test.for(SHOWN_LANGUAGES)(
  "the program of %s holds a body of 40,000 bytes, and reads a longer one from the file that it names",
  async (language, { skip }) => {
    await needLanguage(language, skip);
    answer = { status: 200, body: "{}" };
    const start = async (json: string) => {
      const route = { method: "POST", path: "/jobs" } as const;
      const program = WRITERS[language]({ route, baseUrl: server.origin, request: { body: { json } } });
      const { code, output } = await runShown(language, program, folder.path, TOKEN);
      expect([code, output.trim()]).toEqual([0, "{}"]);
      expect(received.splice(0)).toEqual([
        ["POST", "/jobs", "Bearer t-1", "application/json", undefined, json],
      ]);
      return program;
    };
    const longest = JSON.stringify({ v: "😀".repeat(9_998) });
    expect([Buffer.byteLength(longest), await start(longest)]).toEqual([
      40_000,
      expect.not.stringContaining("body.json"),
    ]);
    const longer = JSON.stringify({ v: "ä".repeat(200_000) });
    await writeFile(join(folder.path, "body.json"), longer);
    expect(await start(longer)).toMatch(/(?:#|\/\/) Save the body as body\.json/u);
  },
);

test.for(SHOWN_LANGUAGES)(
  "the program of %s follows no redirect: the token is for one server alone",
  async (language, { skip }) => {
    await needLanguage(language, skip);
    answer = { status: 302, body: "", location: `${server.origin}/elsewhere` };
    const program = WRITERS[language](build(WORST, server.origin));
    await runShown(language, program, folder.path, TOKEN);
    expect(received).toHaveLength(1);
  },
);

test("a read has no method and no body of its own", () => {
  expect(
    toCurl({ route: { method: "GET", path: "/me" }, baseUrl: "https://example.org/api", request: {} }),
  ).toBe(
    'curl -sS --fail-with-body https://example.org/api/me \\\n  -H "Authorization: Bearer $PLATFORM_TOKEN"',
  );
});

test.each(SHOWN_LANGUAGES)("JSON text that the caller has is shown unchanged in %s", (language) => {
  const route = { method: "POST", path: "/jobs" } as const;
  const shown = { route, baseUrl: "https://example.org/api", request: { body: { json: '{"n": 1e400}' } } };
  expect(WRITERS[language](shown)).toContain("1e400");
});
