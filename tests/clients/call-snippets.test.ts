/** The calls of the API tab as programs: run as they are copied, with texts that end quotations elsewhere. */
import { writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { escapeUnseen } from "@platform/contract/snippets/texts";
import { toCallCurl, toCallJava, toCallJavaScript, toCallPython } from "@platform/contract/snippets/calls";
import type { ShownCall } from "@platform/contract/snippets/calls";
import { HOSTILE, SHOWN_LANGUAGES, listen, makeFolder, needLanguage, runShown } from "./snippet-programs.ts";
import type { ShownLanguage } from "./snippet-programs.ts";

const WRITERS = {
  curl: toCallCurl,
  Python: toCallPython,
  JavaScript: toCallJavaScript,
  Java: toCallJava,
} as const;
const ID = "8e03978e-40d5-43e8-bc93-6894a57f9324";
const SECRET = `s'e"c $r\\et`;

/** What a program sent: the requests are what is under test, so that what answers them is only as much as they need. */
const seen: {
  readonly asked: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}[] = [];
const REFUSAL = { code: "INVALID_INPUT", detail: "größe is missing" };
const RESULT = `{"result": ${JSON.stringify(HOSTILE)}, "n": 1e400}`;
let isRefused = false;
let isMoved = false;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const asked = `${request.method} ${request.url}`;
  seen.push({ asked, body: await text(request), headers: request.headers });
  const answers: Readonly<Record<string, string>> = {
    "POST /token": JSON.stringify({ access_token: "the-token" }),
    ...(isRefused ? {} : { "POST /its/": JSON.stringify({ id: ID, status: "PENDING" }) }),
    [`GET /its/${ID}`]: JSON.stringify({ id: ID, status: "SUCCEEDED" }),
    [`GET /its/${ID}/events`]: "data: {}\n\n",
    [`GET /its/${ID}/result`]: RESULT,
  };
  if (isMoved) {
    response.writeHead(302, { location: `${server.origin}/elsewhere` }).end();
    return;
  }
  response.writeHead(asked in answers ? 200 : 422).end(answers[asked] ?? JSON.stringify(REFUSAL));
}

let server: Awaited<ReturnType<typeof listen>>;
let folder: Awaited<ReturnType<typeof makeFolder>>;
beforeAll(async () => {
  folder = await makeFolder();
  server = await listen((request, response) => void answer(request, response));
});
afterAll(async () => {
  server.close();
  await folder.remove();
});
beforeEach(() => {
  seen.splice(0);
  isRefused = false;
  isMoved = false;
});

const createCall = (call: Pick<ShownCall, "waiting"> & Partial<ShownCall>): ShownCall => ({
  tokenUrl: `${server.origin}/token`,
  endpointUrl: `${server.origin}/its/`,
  keyId: "the'key",
  body: JSON.stringify({ data: { [HOSTILE]: HOSTILE } }),
  idempotencyKey: "a'b$c",
  ...call,
});

const start = (language: ShownLanguage, call: ShownCall) =>
  runShown(language, WRITERS[language](call), folder.path, { PLATFORM_ACCESS_KEY_SECRET: SECRET });

const CASES = SHOWN_LANGUAGES.flatMap((language) =>
  (["poll", "wait", "events"] as const).map((waiting) => [language, waiting] as const),
);

test.for(CASES)(
  "the call in %s runs as it is shown, with %s, and sends hostile input unchanged",
  async ([language, waiting], { skip }) => {
    await needLanguage(language, skip);
    const call = createCall({ waiting });
    const { code, output, stdout } = await start(language, call);
    expect([code, code === 0 ? "" : output]).toEqual([0, ""]);
    expect(stdout.trimEnd()).toBe(RESULT);
    expect(seen.map(({ asked }) => asked)).toEqual([
      "POST /token",
      "POST /its/",
      `GET /its/${ID}${waiting === "events" ? "/events" : ""}`,
      `GET /its/${ID}/result`,
    ]);
    const [token, started, state] = seen;
    const pair = Buffer.from(`the'key:${SECRET}`).toString("base64");
    expect(token).toMatchObject({
      body: "grant_type=client_credentials",
      headers: { authorization: `Basic ${pair}` },
    });
    expect(started).toMatchObject({
      // Byte by byte, or with escapes of what is not seen, and nothing else.
      body: expect.toBeOneOf([call.body, escapeUnseen(call.body)]),
      headers: { authorization: "Bearer the-token", "idempotency-key": "a'b$c" },
    });
    expect(state?.headers.prefer).toBe(waiting === "wait" ? "wait=30" : undefined);
  },
);

test.for(SHOWN_LANGUAGES)(
  "the call in %s ends with what the platform says of a start that it refuses, and asks for nothing more",
  async (language, { skip }) => {
    await needLanguage(language, skip);
    isRefused = true;
    const { code, output } = await start(language, createCall({ waiting: "wait" }));
    expect(code).not.toBe(0);
    expect(output).toContain(REFUSAL.code);
    expect(seen.map(({ asked }) => asked)).toEqual(["POST /token", "POST /its/"]);
  },
);

test.for(SHOWN_LANGUAGES)(
  "the call in %s follows no redirect: key and token are for one server alone",
  async (language, { skip }) => {
    await needLanguage(language, skip);
    isMoved = true;
    await start(language, createCall({ waiting: "wait" }));
    const asked = seen.map((one) => one.asked);
    expect([asked[0], asked.filter((one) => one.includes("elsewhere"))]).toEqual(["POST /token", []]);
  },
);

test.for(SHOWN_LANGUAGES)(
  "the call in %s reads a long body from the file that it names",
  async (language, { skip }) => {
    await needLanguage(language, skip);
    const body = JSON.stringify({ data: { text: "ä".repeat(200_000) } });
    await writeFile(join(folder.path, "body.json"), body);
    const call = createCall({ waiting: "wait", body });
    const { code, output } = await start(language, call);
    expect([code, code === 0 ? "" : output]).toEqual([0, ""]);
    expect(seen[1]?.body).toBe(body);
    expect(WRITERS[language](call)).toContain("Save the body as body.json");
  },
);
