import { isRawJson } from "./client.ts";
import type { Route } from "./client.ts";

/** A request that is to be shown as a program. */
export interface ShownRequest {
  readonly route: Pick<Route, "method" | "path">;
  readonly baseUrl: string;
  /** As the client takes it. */
  readonly request: {
    readonly params?: Readonly<Record<string, string | number>>;
    readonly query?: Readonly<Record<string, string | number | readonly string[] | undefined>>;
    readonly body?: unknown;
  };
  /** Besides the token's. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The variable that programs read the personal access token from: no live token is ever shown. */
const TOKEN = "PLATFORM_TOKEN";

/** A text as one word of a POSIX shell. */
function quoteShell(text: string): string {
  return /^[A-Za-z0-9_./:@%+=,-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A text as a literal of Python: JSON's escapes are Python's as well, but for characters beyond U+FFFF, which it writes in halves. */
function quotePython(text: string): string {
  return JSON.stringify(text)
    .replace(/[\u007f-\uffff]/gu, escapeCodePoint)
    .replace(/[\u{10000}-\u{10ffff}]/gu, escapeCodePoint);
}

function escapeCodePoint(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  return point > 0xff_ff
    ? `\\U${point.toString(16).padStart(8, "0")}`
    : `\\u${point.toString(16).padStart(4, "0")}`;
}

/** The body as it is sent: JSON text that the caller has is sent unchanged. */
function toText(body: unknown): string {
  return isRawJson(body) ? body.json : JSON.stringify(body);
}

/** The request as a command of curl, for a POSIX shell. */
export function toCurl({ route, baseUrl, request, headers = {} }: ShownRequest): string {
  const lines = [
    `curl ${route.method === "GET" ? "" : `-X ${route.method} `}${quoteShell(toUrl(route, baseUrl, request))}`,
  ];
  lines.push(`-H "Authorization: Bearer $${TOKEN}"`);
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${quoteShell(`${name}: ${value}`)}`);
  if (request.body !== undefined) {
    lines.push("-H 'Content-Type: application/json'");
    lines.push(`--data-binary ${quoteShell(toText(request.body))}`);
  }
  return lines.join(" \\\n  ");
}

/** The request as a program of Python 3 with its standard library. */
export function toPython({ route, baseUrl, request, headers = {} }: ShownRequest): string {
  const hasBody = request.body !== undefined;
  const all = hasBody ? { ...headers, "Content-Type": "application/json" } : headers;
  const lines = Object.entries(all).map(
    ([name, value]) => `        ${quotePython(name)}: ${quotePython(value)},`,
  );
  return [
    "import json",
    "import os",
    "import urllib.request",
    "",
    "request = urllib.request.Request(",
    `    ${quotePython(toUrl(route, baseUrl, request))},`,
    `    method=${quotePython(route.method)},`,
    "    headers={",
    `        "Authorization": "Bearer " + os.environ["${TOKEN}"],`,
    ...lines,
    "    },",
    ...(hasBody ? [`    data=${quotePython(toText(request.body))}.encode(),`] : []),
    ")",
    "with urllib.request.urlopen(request) as response:",
    "    print(json.dumps(json.load(response), indent=2))",
  ].join("\n");
}

/**
 * The request as a module of JavaScript (Node.js 18 or newer, `request.mjs`), without packages. The answer is printed
 * as it came, since numbers of JavaScript would lose digits. Texts are written as JSON, which is JavaScript as well.
 */
export function toJavaScript({ route, baseUrl, request, headers = {} }: ShownRequest): string {
  const hasBody = request.body !== undefined;
  const all = hasBody ? { ...headers, "Content-Type": "application/json" } : headers;
  const lines = Object.entries(all).map(
    ([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},`,
  );
  return [
    `const response = await fetch(${JSON.stringify(toUrl(route, baseUrl, request))}, {`,
    `  method: ${JSON.stringify(route.method)},`,
    "  headers: {",
    `    "Authorization": "Bearer " + process.env.${TOKEN},`,
    ...lines,
    "  },",
    ...(hasBody ? [`  body: ${JSON.stringify(toText(request.body))},`] : []),
    "});",
    "const text = await response.text();",
    'if (!response.ok) throw new Error(response.status + " " + text);',
    "console.log(text);",
  ].join("\n");
}

function toUrl(
  { path }: Pick<Route, "path">,
  baseUrl: string,
  { params, query }: ShownRequest["request"],
): string {
  const filled = path.replace(/\{(\w+)\}/gu, (_, name: string) =>
    encodeURIComponent(String(params?.[name] ?? "")),
  );
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {}))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined) parameters.append(name, String(one));
  const written = parameters.toString();
  return `${baseUrl}${filled}${written === "" ? "" : `?${written}`}`;
}

/** How a program learns that its execution is finished. */
export type Waiting = "poll" | "wait" | "events";

/** A start of a service by an application, with all that follows until the result. */
export interface ShownCall {
  readonly tokenUrl: string;
  /** Endpoint URL of a subscription, with its final slash. */
  readonly endpointUrl: string;
  /** Absent: read from the environment, as the secret always is. */
  readonly keyId?: string | undefined;
  /** JSON text of a start. */
  readonly body: string;
  readonly waiting: Waiting;
  readonly idempotencyKey?: string | undefined;
}

const KEY_ID = "PLATFORM_ACCESS_KEY_ID";
const SECRET = "PLATFORM_ACCESS_KEY_SECRET";
/** Seconds that a state is waited for, and between two looks at it. */
const WAIT = "wait=30";
const PAUSE = 2;

/** The first member of that name in JSON text, for a shell that has no parser. */
const pick = (name: string) => `grep -o '"${name}" *: *"[^"]*"' | head -n 1 | cut -d '"' -f 4`;

/** The call as commands of a POSIX shell with curl. */
export function toCallCurl(call: ShownCall): string {
  const user =
    call.keyId === undefined ? `"$${KEY_ID}:$${SECRET}"` : `${quoteShell(call.keyId)}:"$${SECRET}"`;
  const key = call.idempotencyKey;
  const again = call.waiting === "wait" ? ` -H 'Prefer: ${WAIT}'` : "";
  const wait =
    call.waiting === "events"
      ? [`curl -fsSN "$URL$ID/events" -H "$AUTH" >&2`]
      : [
          `STATUS=PENDING`,
          `while [ "$STATUS" = PENDING ] || [ "$STATUS" = RUNNING ]; do`,
          ...(call.waiting === "poll" ? [`  sleep ${PAUSE}`] : []),
          `  STATUS=$(curl -fsS "$URL$ID" -H "$AUTH"${again} | ${pick("status")})`,
          `done`,
        ];
  return [
    `URL=${quoteShell(call.endpointUrl)}`,
    `TOKEN=$(curl -fsS ${quoteShell(call.tokenUrl)} -u ${user} \\`,
    `  -d grant_type=client_credentials | ${pick("access_token")})`,
    `AUTH="Authorization: Bearer $TOKEN"`,
    `ID=$(curl -fsS -X POST "$URL" -H "$AUTH" -H 'Content-Type: application/json' \\`,
    ...(key === undefined ? [] : [`  -H ${quoteShell(`Idempotency-Key: ${key}`)} \\`]),
    `  --data-binary ${quoteShell(call.body)} | ${pick("id")})`,
    ...wait,
    `curl -fsS "$URL$ID/result" -H "$AUTH"`,
  ].join("\n");
}

/** The call as a program of Python 3 with its standard library. */
export function toCallPython(call: ShownCall): string {
  const keyId = call.keyId === undefined ? `os.environ["${KEY_ID}"]` : quotePython(call.keyId);
  const key = call.idempotencyKey;
  const prefer = call.waiting === "wait" ? `, {"Prefer": "${WAIT}"}` : "";
  const wait =
    call.waiting === "events"
      ? [
          `with send(url + id + "/events") as events:`,
          `    for line in events:`,
          `        print(line.decode().rstrip(), file=sys.stderr)`,
        ]
      : [
          `while json.load(send(url + id${prefer}))["status"] in ("PENDING", "RUNNING"):`,
          call.waiting === "poll" ? `    time.sleep(${PAUSE})` : `    pass`,
        ];
  return [
    `import base64, json, os, sys, time, urllib.request`,
    ``,
    `def send(url, headers={}, data=None):`,
    `    headers = {"Authorization": authorization, **headers}`,
    `    return urllib.request.urlopen(urllib.request.Request(url, data, headers))`,
    ``,
    `url = ${quotePython(call.endpointUrl)}`,
    `pair = ${keyId} + ":" + os.environ["${SECRET}"]`,
    `authorization = "Basic " + base64.b64encode(pair.encode()).decode()`,
    `token = json.load(send(${quotePython(call.tokenUrl)}, data=b"grant_type=client_credentials"))`,
    `authorization = "Bearer " + token["access_token"]`,
    `headers = {"Content-Type": "application/json"}`,
    ...(key === undefined ? [] : [`headers["Idempotency-Key"] = ${quotePython(key)}`]),
    `id = json.load(send(url, headers, ${quotePython(call.body)}.encode()))["id"]`,
    ...wait,
    `print(send(url + id + "/result").read().decode())`,
  ].join("\n");
}

/** The call as a module of Node.js 18 or newer. */
export function toCallJavaScript(call: ShownCall): string {
  const keyId = call.keyId === undefined ? `process.env.${KEY_ID}` : JSON.stringify(call.keyId);
  const key = call.idempotencyKey;
  const prefer = call.waiting === "wait" ? `, { headers: { Prefer: "${WAIT}" } }` : "";
  const wait =
    call.waiting === "events"
      ? [
          `const events = await send(url + id + "/events");`,
          `for await (const part of events.body) process.stderr.write(part);`,
        ]
      : [
          `while (["PENDING", "RUNNING"].includes((await (await send(url + id${prefer})).json()).status))`,
          `  await new Promise((done) => setTimeout(done, ${call.waiting === "poll" ? PAUSE * 1000 : 0}));`,
        ];
  return [
    `let Authorization = "Basic " + btoa(${keyId} + ":" + process.env.${SECRET});`,
    `async function send(url, { headers, ...rest } = {}) {`,
    `  const response = await fetch(url, { headers: { Authorization, ...headers }, ...rest });`,
    `  if (!response.ok) throw new Error(await response.text());`,
    `  return response;`,
    `}`,
    ``,
    `const url = ${JSON.stringify(call.endpointUrl)};`,
    `const form = new URLSearchParams({ grant_type: "client_credentials" });`,
    `const token = await send(${JSON.stringify(call.tokenUrl)}, { method: "POST", body: form });`,
    `Authorization = "Bearer " + (await token.json()).access_token;`,
    `const headers = { "Content-Type": "application/json" };`,
    ...(key === undefined ? [] : [`headers["Idempotency-Key"] = ${JSON.stringify(key)};`]),
    `const body = ${JSON.stringify(call.body)};`,
    `const { id } = await (await send(url, { method: "POST", headers, body })).json();`,
    ...wait,
    `console.log(await (await send(url + id + "/result")).text());`,
  ].join("\n");
}

/** A text as a literal of Java, in ASCII whatever the file is encoded in. */
const quoteJava = (text: string) =>
  JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** The call as a program of Java 17 or newer with its standard library: `java Call.java`. */
export function toCallJava(call: ShownCall): string {
  const keyId = call.keyId === undefined ? `System.getenv("${KEY_ID}")` : quoteJava(call.keyId);
  const key = call.idempotencyKey;
  const prefer = call.waiting === "wait" ? `, "Prefer", "${WAIT}"` : "";
  const wait =
    call.waiting === "events"
      ? [`    System.err.println(send(null, url + id + "/events"));`]
      : [
          `    while (pick("status", send(null, url + id${prefer})).matches("PENDING|RUNNING"))`,
          `      Thread.sleep(${call.waiting === "poll" ? PAUSE * 1000 : 0});`,
        ];
  const again = key === undefined ? "" : `, "Idempotency-Key", ${quoteJava(key)}`;
  return [
    `import java.net.URI;`,
    `import java.net.http.*;`,
    `import java.util.*;`,
    `import java.util.regex.*;`,
    ``,
    `class Call {`,
    `  static String authorization;`,
    ``,
    `  static String send(String body, String url, String... headers) throws Exception {`,
    `    var request = HttpRequest.newBuilder(URI.create(url)).header("Authorization", authorization);`,
    `    for (int i = 0; i < headers.length; i += 2) request.header(headers[i], headers[i + 1]);`,
    `    if (body != null) request.POST(HttpRequest.BodyPublishers.ofString(body));`,
    `    var response = HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());`,
    `    if (response.statusCode() >= 300) throw new RuntimeException(response.body());`,
    `    return response.body();`,
    `  }`,
    ``,
    `  static String pick(String name, String json) {`,
    `    return Pattern.compile("\\"" + name + "\\" *: *\\"([^\\"]*)\\"").matcher(json)`,
    `      .results().findFirst().orElseThrow().group(1);`,
    `  }`,
    ``,
    `  public static void main(String[] arguments) throws Exception {`,
    `    var url = ${quoteJava(call.endpointUrl)};`,
    `    var pair = ${keyId} + ":" + System.getenv("${SECRET}");`,
    `    authorization = "Basic " + Base64.getEncoder().encodeToString(pair.getBytes());`,
    `    authorization = "Bearer " + pick("access_token", send("grant_type=client_credentials",`,
    `      ${quoteJava(call.tokenUrl)}, "Content-Type", "application/x-www-form-urlencoded"));`,
    `    var id = pick("id", send(${quoteJava(call.body)},`,
    `      url, "Content-Type", "application/json"${again}));`,
    ...wait,
    `    System.out.println(send(null, url + id + "/result"));`,
    `  }`,
    `}`,
  ].join("\n");
}
