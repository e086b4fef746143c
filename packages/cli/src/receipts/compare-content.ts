import { createHash } from "node:crypto";
import type { ReceiptClaims } from "@platform/contract/receipt";
import { scanJson } from "@platform/engine/executions/json-scan";

/** Whether content that somebody has is that of a receipt. */
export interface Comparison {
  readonly what: "input" | "result";
  /** Path as it was given. */
  readonly file: string;
  /** What of the receipt it is: `input`, `result`, or the name of a file of the result. Null: nothing. */
  readonly matches: string | null;
  /** Of the bytes that were compared. */
  readonly digest: string;
  /** What the receipt says; null: nothing. */
  readonly expected: string | null;
}

const RESULT_START = '{"result":';

/** The body of a start is compared as a whole. */
export function compareInput(claims: ReceiptClaims, file: string, bytes: Uint8Array): Comparison {
  const digest = toDigest([bytes]);
  const expected = claims.inputDigest ?? null;
  return { what: "input", file, matches: digest === expected ? "input" : null, digest, expected };
}

/** The answer of the result operation, the value of its `result` alone, or a file of the result. */
export function compareResult(claims: ReceiptClaims, file: string, bytes: Uint8Array): Comparison {
  const whole = toDigest([bytes]);
  const expected = claims.resultDigest ?? null;
  const ofFile = claims.resultFiles?.find(({ digest }) => digest === whole)?.name;
  const value = whole === expected ? null : findResult(bytes);
  const digest = value === null ? whole : toDigest(value);
  const matches = digest === expected ? "result" : (ofFile ?? null);
  return {
    what: "result",
    file,
    matches,
    digest: matches === null || digest === expected ? digest : whole,
    expected,
  };
}

/** The bytes of the result in an answer of a platform or of a local server; null: it is neither. */
function findResult(body: Uint8Array): readonly Uint8Array[] | null {
  const lengths = measureMembers(body);
  const hosted = findTail(body, lengths, ["_embedded", "_links", "metadata"]);
  if (hosted !== null && readText(body, 0, RESULT_START.length) === RESULT_START)
    return [body.subarray(RESULT_START.length, hosted)];
  // In an answer of a local server the members of the result stand beside those of the server.
  const local = findTail(body, lengths, ["_embedded", "_links"]);
  return local === null ? null : [body.subarray(0, local), Buffer.from("}")];
}

/** Where these members begin, which are the last ones, the last of them first; null: they are not. */
function findTail(
  body: Uint8Array,
  lengths: ReadonlyMap<string, number>,
  keys: readonly string[],
): number | null {
  let at = body.length - 1;
  for (const key of keys) {
    const name = `"${key}":`;
    at -= (lengths.get(key) ?? 0) + name.length;
    if (at < 1 || readText(body, at, at + name.length) !== name) return null;
    if (body[at - 1] === ",".charCodeAt(0)) at -= 1;
  }
  return at;
}

/** By key, of the last one of each. */
function measureMembers(body: Uint8Array): ReadonlyMap<string, number> {
  try {
    return new Map(scanJson(body).members.map(({ key, length }) => [key, length]));
  } catch {
    return new Map();
  }
}

function readText(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.subarray(start, end)).toString("latin1");
}

function toDigest(pieces: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  return `sha256:${hash.digest("hex")}`;
}
