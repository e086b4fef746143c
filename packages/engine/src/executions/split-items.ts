import { MAX_BATCH_ITEMS } from "@platform/contract/batch";
import { Problem } from "@platform/contract/problems";
import { findStringEnd, readString } from "./json-scan.ts";

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;

/** What a byte outside strings adds to the depth. */
const DEPTHS = new Int8Array(256);
DEPTHS[OPEN_BRACE] = 1;
DEPTHS[OPEN_BRACKET] = 1;
DEPTHS[CLOSE_BRACE] = -1;
DEPTHS[CLOSE_BRACKET] = -1;

/** So many bytes are scanned between two pauses: about a millisecond. */
const PAUSE_EVERY = 512 * 1024;
const NAME = "items";
/** Of the kinds of values that a body can be instead of an object. */
const SCALAR_STARTS = new Set(Buffer.from('"-0123456789tfn['));

/**
 * Finds the items in the body of a batch, `{"items": [...]}`, without parsing them: whether an item is JSON is for whoever parses its bytes, and
 * nothing of it counts before. Yields null where the caller may pause: a body has up to 16 MB.
 *
 * @throws Problem INVALID_JSON where items cannot be told apart; INVALID_INPUT for another form, no items, or more than a batch has
 */
export function* splitItems(bytes: Uint8Array): Generator<Uint8Array | null, void> {
  let at = findFirstItem(bytes);
  let count = 0;
  if (bytes[at] === CLOSE_BRACKET) throw refuseItems("must have at least one item");
  for (;;) {
    const end = yield* findItemEnd(bytes, at);
    const item = trim(bytes, at, end);
    if (item.byteLength === 0) throw refuseJson("an item is missing between two commas");
    count += 1;
    if (count > MAX_BATCH_ITEMS) throw refuseItems(`must have at most ${MAX_BATCH_ITEMS} items`);
    yield item;
    if (bytes[end] === CLOSE_BRACKET) return requireEnd(bytes, end + 1);
    at = skipSpace(bytes, end + 1);
  }
}

/** Index of what follows `{"items": [`. */
function findFirstItem(bytes: Uint8Array): number {
  if (bytes.length === 0)
    throw refuseJson('the body is empty; send an object such as {"items": [{"data": {}}]}');
  const start = skipSpace(bytes, 0);
  if (bytes[start] !== OPEN_BRACE) throw refuseOther(bytes[start]);
  const name = skipSpace(bytes, start + 1);
  if (bytes[name] === CLOSE_BRACE) throw refuseItems("is missing");
  const end = requireName(bytes, name);
  const colon = skipSpace(bytes, end);
  if (bytes[colon] !== COLON) throw refuseJson("a colon is missing behind a key");
  const list = skipSpace(bytes, colon + 1);
  if (bytes[list] !== OPEN_BRACKET) throw refuseItems("must be an array");
  return skipSpace(bytes, list + 1);
}

/** Index behind the key, which must be `items`. */
function requireName(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== QUOTE) throw refuseJson("a key is missing");
  const end = findStringEnd(bytes, at);
  if (end >= bytes.length) throw refuseJson("it ends within a key");
  let name;
  try {
    name = readString(bytes, at, end);
  } catch (cause) {
    throw refuseJson("a key is no JSON string", cause);
  }
  if (name === NAME) return end + 1;
  const shown = name.slice(0, 100);
  const message = `The key "${shown}" is not known; only ${NAME} is.`;
  const path = `/${shown.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  throw new Problem("INVALID_INPUT", message, { errors: [{ path, message }] });
}

/** Index of the comma or bracket behind the item. */
function* findItemEnd(bytes: Uint8Array, from: number): Generator<null, number> {
  let depth = 0;
  let pausedAt = from;
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) at = findStringEnd(bytes, at);
    else if (depth === 0 && (byte === COMMA || byte === CLOSE_BRACKET)) return at;
    else depth += DEPTHS[byte] ?? 0;
    if (depth < 0) break;
    if (at - pausedAt < PAUSE_EVERY) continue;
    pausedAt = at;
    yield null;
  }
  throw refuseJson("its brackets do not match, or it ends within the items");
}

function requireEnd(bytes: Uint8Array, from: number): void {
  const at = skipSpace(bytes, from);
  if (bytes[at] === COMMA) {
    requireName(bytes, skipSpace(bytes, at + 1));
    throw refuseItems("is given twice");
  }
  if (bytes[at] !== CLOSE_BRACE || skipSpace(bytes, at + 1) < bytes.length)
    throw refuseJson("something follows the items");
}

function trim(bytes: Uint8Array, from: number, to: number): Uint8Array {
  let end = to;
  while (end > from && isSpace(bytes[end - 1])) end--;
  return bytes.subarray(from, end);
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at++;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function refuseOther(first: number | undefined): Problem {
  if (first === undefined || !SCALAR_STARTS.has(first)) return refuseJson("it does not begin with {");
  return new Problem("INVALID_INPUT", `The body must be a JSON object with ${NAME}.`);
}

function refuseJson(reason: string, cause?: unknown): Problem {
  return new Problem("INVALID_JSON", `The body is not valid JSON: ${reason}.`, { cause });
}

function refuseItems(reason: string): Problem {
  return new Problem("INVALID_INPUT", `"${NAME}" ${reason}.`, {
    errors: [{ path: `/${NAME}`, message: `${reason}.` }],
  });
}
