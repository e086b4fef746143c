import {
  BODY_FILE,
  PYTHON_OPENER,
  SHELL_FUNCTIONS,
  WAIT,
  isInFile,
  quoteJava,
  quoteJavaScript,
  quotePython,
  quoteShell,
  sayFile,
  toCurlData,
  toJavaScriptData,
  toPythonBytes,
} from "./texts.ts";

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
/** Seconds between two looks at a state. */
const PAUSE = 2;

/** The call as commands of a POSIX shell with curl 7.76 or newer. In parentheses, so that a refusal ends them and not the shell they are copied into. */
export function toCallCurl(call: ShownCall): string {
  const user =
    call.keyId === undefined ? `"$${KEY_ID}:$${SECRET}"` : `${quoteShell(call.keyId)}:"$${SECRET}"`;
  const key = call.idempotencyKey;
  const again = call.waiting === "wait" ? ` -H 'Prefer: ${WAIT}'` : "";
  const wait =
    call.waiting === "events"
      ? [`curl -sSN --fail-with-body "$URL$ID/events" -H "$AUTH" >&2`]
      : [
          `STATUS=PENDING`,
          `while [ "$STATUS" = PENDING ] || [ "$STATUS" = RUNNING ]; do`,
          ...(call.waiting === "poll" ? [`  sleep ${PAUSE}`] : []),
          `  send "$URL$ID" -H "$AUTH"${again}`,
          `  STATUS=$(pick status)`,
          `done`,
        ];
  const lines = [
    `set -e`,
    ...SHELL_FUNCTIONS,
    `URL=${quoteShell(call.endpointUrl)}`,
    `send ${quoteShell(call.tokenUrl)} -u ${user} -d grant_type=client_credentials`,
    `AUTH="Authorization: Bearer $(pick access_token)"`,
    `send -X POST "$URL" -H "$AUTH" -H 'Content-Type: application/json' \\`,
    ...(key === undefined ? [] : [`  -H ${quoteShell(`Idempotency-Key: ${key}`)} \\`]),
    `  --data-binary ${toCurlData(call.body)}`,
    `ID=$(pick id)`,
    ...wait,
    `curl -sS --fail-with-body "$URL$ID/result" -H "$AUTH"`,
  ];
  return [...sayFile("#", call.body), `(`, ...lines, `)`].join("\n");
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
    `import base64, json, os, sys, time, urllib.error, urllib.request`,
    ``,
    ...PYTHON_OPENER,
    ``,
    `def send(url, headers={}, data=None):`,
    `    headers = {"Authorization": authorization, **headers}`,
    `    try:`,
    `        return opener.open(urllib.request.Request(url, data, headers))`,
    `    except urllib.error.HTTPError as refusal:`,
    `        sys.exit(f"{refusal.code} {refusal.read().decode()}")`,
    ``,
    `url = ${quotePython(call.endpointUrl)}`,
    `pair = ${keyId} + ":" + os.environ["${SECRET}"]`,
    `authorization = "Basic " + base64.b64encode(pair.encode()).decode()`,
    `token = json.load(send(${quotePython(call.tokenUrl)}, data=b"grant_type=client_credentials"))`,
    `authorization = "Bearer " + token["access_token"]`,
    `headers = {"Content-Type": "application/json"}`,
    ...(key === undefined ? [] : [`headers["Idempotency-Key"] = ${quotePython(key)}`]),
    ...sayFile("#", call.body),
    `body = ${toPythonBytes(call.body)}`,
    `id = json.load(send(url, headers, body))["id"]`,
    ...wait,
    `sys.stdout.buffer.write(send(url + id + "/result").read() + b"\\n")`,
  ].join("\n");
}

/** The call as a module of Node.js 18 or newer. */
export function toCallJavaScript(call: ShownCall): string {
  const keyId = call.keyId === undefined ? `process.env.${KEY_ID}` : quoteJavaScript(call.keyId);
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
  const isFile = isInFile(call.body);
  return [
    ...(isFile ? [`import { readFile } from "node:fs/promises";`, ``] : []),
    `let Authorization = "Basic " + btoa(${keyId} + ":" + process.env.${SECRET});`,
    `async function send(url, { headers, ...rest } = {}) {`,
    `  const sent = { headers: { Authorization, ...headers }, redirect: "manual", ...rest };`,
    `  const response = await fetch(url, sent);`,
    `  if (!response.ok) throw new Error(response.status + " " + (await response.text()));`,
    `  return response;`,
    `}`,
    ``,
    `const url = ${quoteJavaScript(call.endpointUrl)};`,
    `const form = new URLSearchParams({ grant_type: "client_credentials" });`,
    `const token = await send(${quoteJavaScript(call.tokenUrl)}, { method: "POST", body: form });`,
    `Authorization = "Bearer " + (await token.json()).access_token;`,
    `const headers = { "Content-Type": "application/json" };`,
    ...(key === undefined ? [] : [`headers["Idempotency-Key"] = ${quoteJavaScript(key)};`]),
    ...sayFile("//", call.body),
    `const body = ${toJavaScriptData(call.body)};`,
    `const { id } = await (await send(url, { method: "POST", headers, body })).json();`,
    ...wait,
    `console.log(await (await send(url + id + "/result")).text());`,
  ].join("\n");
}

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
  const isFile = isInFile(call.body);
  return [
    `import java.net.URI;`,
    `import java.net.http.*;`,
    ...(isFile ? [`import java.nio.file.*;`] : []),
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
    `    if (response.statusCode() >= 300) throw new RuntimeException(response.statusCode() + " " + response.body());`,
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
    ...sayFile("//", call.body).map((line) => `    ${line}`),
    `    var body = ${isFile ? `Files.readString(Path.of("${BODY_FILE}"))` : quoteJava(call.body)};`,
    `    var id = pick("id", send(body, url, "Content-Type", "application/json"${again}));`,
    ...wait,
    `    System.out.writeBytes(send(null, url + id + "/result").getBytes("UTF-8"));`,
    `    System.out.println();`,
    `  }`,
    `}`,
  ].join("\n");
}
