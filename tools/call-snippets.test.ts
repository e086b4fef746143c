import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { toCallCurl, toCallJavaScript, toCallPython } from "@platform/contract/snippets";
import type { ShownCall, Waiting } from "@platform/contract/snippets";

const run = promisify(execFile);
const ID = "8e03978e-40d5-43e8-bc93-6894a57f9324";
const HOSTILE = `it's "quoted" \\ \\u0041 $HOME $(id) \`id\` !! %s äöü 😀 \u2028 \n\t @file {{x}}`;
const SECRET = `s'e"c $r\\et`;

/** What a program sent: the requests are what is under test, so that what answers them is only as much as they need. */
const seen: {
  readonly asked: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}[] = [];
const server = createServer((request, response) => void answer(request, response));

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const asked = `${request.method} ${request.url}`;
  seen.push({ asked, body: await text(request), headers: request.headers });
  const answers: Readonly<Record<string, unknown>> = {
    "POST /token": { access_token: "the-token" },
    "POST /its/": { id: ID, status: "PENDING" },
    [`GET /its/${ID}`]: { id: ID, status: "SUCCEEDED" },
    [`GET /its/${ID}/events`]: {},
    [`GET /its/${ID}/result`]: { result: HOSTILE },
  };
  response.writeHead(asked in answers ? 200 : 404).end(JSON.stringify(answers[asked]));
}

beforeAll(() => new Promise<void>((done) => void server.listen(0, "127.0.0.1", done)));
afterAll(() => server.close());
beforeEach(() => void seen.splice(0));

const PROGRAMS = [
  ["sh", "-c", toCallCurl],
  ["python3", "-c", toCallPython],
  ["node", "--input-type=module -e", toCallJavaScript],
] as const;
const CASES = PROGRAMS.flatMap(([program, flags, write]) =>
  (["poll", "wait", "events"] as const).map((waiting) => [program, waiting, flags, write] as const),
);

test.each(CASES)(
  "%s runs the call as it is shown, with %s, and sends hostile input unchanged",
  async (program, waiting, flags, write) => {
    const call = createCall(waiting);
    const { stdout } = await run(program, [...flags.split(" "), write(call)], {
      env: { ...process.env, PLATFORM_ACCESS_KEY_SECRET: SECRET },
    });
    expect(JSON.parse(stdout)).toEqual({ result: HOSTILE });
    expect(seen.map(({ asked }) => asked)).toEqual([
      "POST /token",
      "POST /its/",
      `GET /its/${ID}${waiting === "events" ? "/events" : ""}`,
      `GET /its/${ID}/result`,
    ]);
    const [token, start, state] = seen;
    const pair = Buffer.from(`the'key:${SECRET}`).toString("base64");
    expect(token).toMatchObject({
      body: "grant_type=client_credentials",
      headers: { authorization: `Basic ${pair}` },
    });
    expect(start).toMatchObject({
      body: call.body,
      headers: { authorization: "Bearer the-token", "idempotency-key": "a'b$c" },
    });
    expect(state?.headers.prefer).toBe(waiting === "wait" ? "wait=30" : undefined);
  },
);

function createCall(waiting: Waiting): ShownCall {
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  return {
    tokenUrl: `${origin}/token`,
    endpointUrl: `${origin}/its/`,
    keyId: "the'key",
    body: JSON.stringify({ data: { [HOSTILE]: HOSTILE } }),
    waiting,
    idempotencyKey: "a'b$c",
  };
}
