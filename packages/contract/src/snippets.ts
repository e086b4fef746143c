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
