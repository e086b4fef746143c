import fc from "fast-check";
import {
  BROKEN_JSON,
  HEADERS,
  HOSTILE_JSON,
  HOSTILE_SEGMENTS,
  HOSTILE_VALUES,
  METHODS,
} from "./fuzz-corpus.ts";
import type { RawRequest } from "./raw-http.ts";

type Schema = Readonly<Record<string, unknown>>;

/** One operation of an OpenAPI document, with what its parameters may be called by. */
export interface FuzzedOperation {
  readonly id: string;
  readonly method: string;
  /** From the root, with `{name}` for parameters. */
  readonly path: string;
  readonly params: Readonly<Record<string, readonly string[]>>;
  readonly query: readonly string[];
  readonly body: { readonly type: string; readonly schema: Schema } | null;
  readonly token: string;
  readonly host: string;
}

export interface FuzzedRequest extends RawRequest {
  readonly operation: FuzzedOperation;
  /** For the report of a failure. */
  readonly head: string;
}

type Framing = "length" | "chunked" | "truncated" | "trickled chunks" | "broken chunks";

/** Mostly right requests with a few things wrong: what is all wrong ends at the first check. */
export function fuzz(operations: readonly FuzzedOperation[]): fc.Arbitrary<FuzzedRequest> {
  return fc.oneof(...operations.map(fuzzOperation));
}

function fuzzOperation(operation: FuzzedOperation): fc.Arbitrary<FuzzedRequest> {
  return fc
    .record({
      method: rarely(fc.constantFrom(...METHODS), operation.method),
      path: fuzzPath(operation),
      query: fuzzQuery(operation),
      headers: fc.oneof(
        { weight: 3, arbitrary: fc.constant([]) },
        { weight: 2, arbitrary: fc.array(fc.constantFrom(...HEADERS), { maxLength: 3 }) },
      ),
      body: operation.body === null ? rarely(fuzzText(null), "") : fuzzText(operation.body.schema),
      framing: rarely<Framing>(
        fc.constantFrom("chunked", "truncated", "trickled chunks", "broken chunks"),
        "length",
      ),
    })
    .map((parts) => write(operation, parts));
}

function rarely<T>(wrong: fc.Arbitrary<T>, right: T): fc.Arbitrary<T> {
  return fc.oneof({ weight: 8, arbitrary: fc.constant(right) }, { weight: 1, arbitrary: wrong });
}

function fuzzPath({ path, params }: FuzzedOperation): fc.Arbitrary<string> {
  const segments = path.split(/(\{\w+\})/).map((part) => {
    const known = params[part.slice(1, -1)];
    if (!part.startsWith("{")) return fc.constant(part);
    const hostile = fc.constantFrom(...HOSTILE_SEGMENTS);
    return known === undefined || known.length === 0
      ? hostile
      : fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, { weight: 1, arbitrary: hostile });
  });
  const added = rarely(
    fc.constantFrom(...HOSTILE_SEGMENTS).map((segment) => `/${segment}`),
    "",
  );
  return fc.tuple(...segments, added).map((parts) => parts.join(""));
}

function fuzzQuery({ query }: FuzzedOperation): fc.Arbitrary<string> {
  const name = fc.constantFrom(...query, "__proto__", "x", "%00", "limit");
  const pair = fc.tuple(name, fc.constantFrom(...HOSTILE_VALUES)).map(([key, value]) => `${key}=${value}`);
  const required = query.filter((entry) => entry.includes("="));
  return fc
    .oneof(
      { weight: 3, arbitrary: fc.constant<string[]>([]) },
      { weight: 1, arbitrary: fc.array(pair, { maxLength: 4 }) },
    )
    .map((pairs) => [...required, ...pairs].join("&"));
}

function fuzzText(schema: Schema | null): fc.Arbitrary<string> {
  const hostile = fc.constantFrom(...HOSTILE_JSON);
  const random = fc.json({ maxDepth: 4 });
  const broken = fc.constantFrom(...BROKEN_JSON);
  if (schema === null) return fc.oneof(hostile, random, broken);
  return fc.oneof(
    { weight: 6, arbitrary: fuzzSchema(schema, 0) },
    { weight: 1, arbitrary: hostile },
    { weight: 1, arbitrary: random },
    { weight: 1, arbitrary: broken },
  );
}

/** JSON text that fits a schema but for a value here and there. */
function fuzzSchema(schema: Schema, depth: number): fc.Arbitrary<string> {
  const wrong = fc.constantFrom(...HOSTILE_JSON);
  return fc.oneof({ weight: 12, arbitrary: fitSchema(schema, depth) }, { weight: 1, arbitrary: wrong });
}

function fitSchema(schema: Schema, depth: number): fc.Arbitrary<string> {
  const { const: constant, enum: values, anyOf, type, properties, items } = schema;
  if (constant !== undefined) return fc.constant(JSON.stringify(constant));
  if (Array.isArray(values)) return fc.constantFrom(...values.map((value) => JSON.stringify(value)));
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((branch) => fuzzSchema(branch as Schema, depth)));
  if (type === "object" && properties !== undefined) {
    const members = Object.entries(properties as Readonly<Record<string, Schema>>).map(([name, member]) =>
      fc.tuple(fc.nat({ max: 9 }), fuzzSchema(member, depth + 1)).map(([chance, text]) => {
        if (chance === 0) return "";
        return `${JSON.stringify(name)}:${text}${chance === 1 ? `,${JSON.stringify(name)}:null` : ""}`;
      }),
    );
    return fc.tuple(...members).map((texts) => `{${texts.filter((text) => text !== "").join(",")}}`);
  }
  if (type === "array")
    return fc
      .array(fuzzSchema((items ?? {}) as Schema, depth + 1), { maxLength: 3 })
      .map((all) => `[${all.join(",")}]`);
  if (type === "integer" || type === "number") return fc.integer().map(String);
  if (type === "boolean") return fc.boolean().map(String);
  if (type === "string")
    return fc.oneof(
      fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/).map((text) => JSON.stringify(text)),
      fc.string({ unit: "binary", maxLength: 200 }).map((text) => JSON.stringify(text)),
    );
  return fc.json({ maxDepth: 2 });
}

interface Parts {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  readonly framing: Framing;
}

function write(operation: FuzzedOperation, parts: Parts): FuzzedRequest {
  const { method, path, query, headers, body, framing } = parts;
  const content = Buffer.from(body, "utf8");
  const isBodied = content.length > 0 || operation.body !== null;
  const given = new Map<string, string>([
    ["host", operation.host],
    ["authorization", operation.token],
    ...(isBodied ? ([["content-type", operation.body?.type ?? "application/json"]] as const) : []),
    ...(isBodied ? [frame(framing, content.length)] : []),
    ...headers,
  ]);
  const lines = [...given].map(([name, value]) => `${name}: ${value}`);
  const head = [`${method} ${path}${query === "" ? "" : `?${query}`} HTTP/1.1`, ...lines].join("\r\n");
  const sent = isBodied ? encode(framing, content) : Buffer.alloc(0);
  return {
    operation,
    head: [method, path, query, ...lines].map((part) => cut(part)).join(" | "),
    bytes: Buffer.concat([Buffer.from(`${head}\r\n\r\n`, "latin1"), sent]),
    isHead: method === "HEAD",
    // What the head says of the body's length is wrong: the server may wait for more.
    isTruncated:
      framing === "truncated" || framing === "broken chunks" || isMisframed(headers, method, isBodied),
  };
}

function cut(text: string): string {
  return text.length > 120 ? `${text.slice(0, 120)}... (${text.length})` : text;
}

function isMisframed(headers: Parts["headers"], method: string, isBodied: boolean): boolean {
  const names = new Set(headers.map(([name]) => name));
  const isUpgraded = names.has("upgrade") || headers.some(([, value]) => value === "upgrade");
  return (
    isUpgraded ||
    names.has("content-length") ||
    names.has("transfer-encoding") ||
    (isBodied && ["GET", "HEAD", "FOO"].includes(method))
  );
}

function frame(framing: Framing, length: number): readonly [string, string] {
  if (framing === "length") return ["content-length", String(length)];
  if (framing === "truncated") return ["content-length", String(length + 10)];
  return ["transfer-encoding", "chunked"];
}

function encode(framing: Framing, content: Buffer): Uint8Array {
  switch (framing) {
    case "length":
    case "truncated":
      return content;
    case "chunked":
      return Buffer.concat([chunk(content), Buffer.from("0\r\n\r\n")]);
    case "trickled chunks": {
      const few = [...content.subarray(0, 50)].map((byte) => chunk(Buffer.from([byte])));
      return Buffer.concat([...few, chunk(content.subarray(50)), Buffer.from("0\r\n\r\n")]);
    }
    case "broken chunks":
      return Buffer.concat([Buffer.from("zz\r\n"), content]);
    default:
      return framing satisfies never;
  }
}

function chunk(content: Buffer): Buffer {
  if (content.length === 0) return content;
  return Buffer.concat([Buffer.from(`${content.length.toString(16)}\r\n`), content, Buffer.from("\r\n")]);
}
