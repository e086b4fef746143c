import { isRawJson } from "../client.ts";
import type { Route } from "../client.ts";
import {
  BODY_FILE,
  PYTHON_OPENER,
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

/*
 * Each program prints the answer byte by byte, so that no digit of a number is lost. Of a refusal it prints the text of
 * the platform, and fails.
 */

/** The variable that programs read the personal access token from: no live token is ever shown. */
const TOKEN = "PLATFORM_TOKEN";

/** The body as it is sent: JSON text that the caller has is sent unchanged. Null: there is none. */
function toText({ body }: ShownRequest["request"]): string | null {
  if (body === undefined) return null;
  return isRawJson(body) ? body.json : JSON.stringify(body);
}

/** All headers but the token's. */
function listHeaders({ request, headers = {} }: ShownRequest): readonly (readonly [string, string])[] {
  const type = request.body === undefined ? {} : { "Content-Type": "application/json" };
  return Object.entries({ ...headers, ...type });
}

/** The request as a command of curl 7.76 or newer, for a POSIX shell. */
export function toCurl(shown: ShownRequest): string {
  const { method } = shown.route;
  const body = toText(shown.request);
  const words = [
    `curl -sS --fail-with-body ${method === "GET" ? "" : `-X ${method} `}${quoteShell(toUrl(shown))}`,
    `-H "Authorization: Bearer $${TOKEN}"`,
    ...listHeaders(shown).map(([name, value]) => `-H ${quoteShell(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`--data-binary ${toCurlData(body)}`]),
  ];
  return [...sayFile("#", body ?? ""), words.join(" \\\n  ")].join("\n");
}

/** The request as a program of Python 3 with its standard library. */
export function toPython(shown: ShownRequest): string {
  const body = toText(shown.request);
  return [
    "import os",
    "import sys",
    "import urllib.error",
    "import urllib.request",
    "",
    ...PYTHON_OPENER,
    "",
    ...sayFile("#", body ?? ""),
    "request = urllib.request.Request(",
    `    ${quotePython(toUrl(shown))},`,
    `    method=${quotePython(shown.route.method)},`,
    "    headers={",
    `        "Authorization": "Bearer " + os.environ["${TOKEN}"],`,
    ...listHeaders(shown).map(([name, value]) => `        ${quotePython(name)}: ${quotePython(value)},`),
    "    },",
    ...(body === null ? [] : [`    data=${toPythonBytes(body)},`]),
    ")",
    "try:",
    "    with opener.open(request) as response:",
    `        sys.stdout.buffer.write(response.read() + b"\\n")`,
    "except urllib.error.HTTPError as refusal:",
    `    sys.exit(f"{refusal.code} {refusal.read().decode()}")`,
  ].join("\n");
}

/** The request as a module of JavaScript (Node.js 18 or newer, `request.mjs`), without packages. */
export function toJavaScript(shown: ShownRequest): string {
  const body = toText(shown.request);
  const isFile = isInFile(body ?? "");
  return [
    ...(isFile ? [`import { readFile } from "node:fs/promises";`, ""] : []),
    ...sayFile("//", body ?? ""),
    `const response = await fetch(${quoteJavaScript(toUrl(shown))}, {`,
    `  method: ${quoteJavaScript(shown.route.method)},`,
    '  redirect: "manual",',
    "  headers: {",
    `    "Authorization": "Bearer " + process.env.${TOKEN},`,
    ...listHeaders(shown).map(([name, value]) => `    ${quoteJavaScript(name)}: ${quoteJavaScript(value)},`),
    "  },",
    ...(body === null ? [] : [`  body: ${toJavaScriptData(body)},`]),
    "});",
    "const text = await response.text();",
    'if (!response.ok) throw new Error(response.status + " " + text);',
    "console.log(text);",
  ].join("\n");
}

function toPublisher(body: string | null): string {
  if (body === null) return "noBody()";
  return isInFile(body) ? `ofFile(Path.of("${BODY_FILE}"))` : `ofString(${quoteJava(body)})`;
}

/** The request as a program of Java 17 or newer with its standard library: `java Request.java`. */
export function toJava(shown: ShownRequest): string {
  const body = toText(shown.request);
  const isFile = isInFile(body ?? "");
  return [
    "import java.net.URI;",
    "import java.net.http.HttpClient;",
    "import java.net.http.HttpRequest;",
    "import java.net.http.HttpResponse;",
    ...(isFile ? ["import java.nio.file.Path;"] : []),
    "",
    "class Request {",
    "  public static void main(String[] arguments) throws Exception {",
    ...sayFile("//", body ?? "").map((line) => `    ${line}`),
    `    var request = HttpRequest.newBuilder(URI.create(${quoteJava(toUrl(shown))}))`,
    `      .header("Authorization", "Bearer " + System.getenv("${TOKEN}"))`,
    ...listHeaders(shown).map(([name, value]) => `      .header(${quoteJava(name)}, ${quoteJava(value)})`),
    `      .method(${quoteJava(shown.route.method)}, HttpRequest.BodyPublishers.${toPublisher(body)})`,
    "      .build();",
    "    var response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofByteArray());",
    "    boolean isRefused = response.statusCode() >= 300;",
    "    var output = isRefused ? System.err : System.out;",
    `    if (isRefused) output.print(response.statusCode() + " ");`,
    "    output.writeBytes(response.body());",
    "    output.println();",
    "    if (isRefused) System.exit(1);",
    "  }",
    "}",
  ].join("\n");
}

function toUrl({ route: { path }, baseUrl, request: { params, query } }: ShownRequest): string {
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
