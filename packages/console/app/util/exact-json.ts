/*
 * JSON as text: laid out, taken apart and compared without a number ever becoming a double, which would turn 12345678901234567890 and
 * 1e400 into something else.
 */

/** A JSON text with one value a line. */
export interface LaidOutJson {
  readonly text: string;
  /** By the number of a line that opens an object or array, from 1: the line that closes it; 0: it opens none. */
  readonly closes: Int32Array;
}

const SLICE = 1_000_000;
const INDENT = "  ";

/**
 * Lays a JSON text out; null: it is none. Pauses after each million characters, so that the page stays usable.
 *
 * @param pause resolves when to go on
 */
export async function layOutJson(text: string, pause: () => Promise<void>): Promise<LaidOutJson | null> {
  const out: string[] = [];
  const closes: number[] = [0, 0];
  const open: number[] = [];
  const breakLine = () => {
    out.push("\n", INDENT.repeat(open.length));
    closes.push(0);
  };
  let paused = 0;
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    if (at - paused >= SLICE) {
      paused = at;
      await pause();
    }
    const character = text[at] ?? "";
    if (character === "{" || character === "[") {
      const next = skipSpace(text, at + 1);
      if (text[next] === (character === "{" ? "}" : "]")) {
        out.push(character, text[next] ?? "");
        at = next + 1;
        continue;
      }
      out.push(character);
      open.push(closes.length - 1);
      breakLine();
      at += 1;
    } else if (character === "}" || character === "]") {
      const opened = open.pop();
      if (opened === undefined) return null;
      breakLine();
      closes[opened] = closes.length - 1;
      out.push(character);
      at += 1;
    } else if (character === ",") {
      out.push(",");
      breakLine();
      at += 1;
    } else if (character === ":") {
      out.push(": ");
      at += 1;
    } else {
      const end = findEnd(text, at);
      if (end <= at) return null;
      out.push(text.slice(at, end));
      at = end;
    }
  }
  return open.length === 0 ? { text: out.join(""), closes: Int32Array.from(closes) } : null;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

const isSpace = (code: number) => code === 32 || code === 10 || code === 13 || code === 9;

/** Where the string, number or word that begins here ends. */
function findEnd(text: string, from: number): number {
  if (text[from] === '"') {
    for (let end = text.indexOf('"', from + 1); end >= 0; end = text.indexOf('"', end + 1)) {
      let backslashes = 0;
      while (text[end - 1 - backslashes] === "\\") backslashes += 1;
      if (backslashes % 2 === 0) return end + 1;
    }
    return text.length;
  }
  let at = from;
  while (at < text.length && !isSpace(text.charCodeAt(at)) && !'{}[],:"'.includes(text[at] ?? "")) at += 1;
  return at;
}

/** The text of one member of a JSON object, as it stands there; null: it has none of this name. */
export function sliceMember(text: string, name: string): string | null {
  let depth = 0;
  let key: string | null = null;
  let begun = -1;
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    const character = text[at] ?? "";
    if (depth === 1 && begun >= 0 && (character === "," || character === "}"))
      return text.slice(begun, at).trimEnd();
    if ("{[".includes(character)) depth += 1;
    if ("}]".includes(character)) depth -= 1;
    if (depth === 1 && character === ",") key = null;
    if (depth === 1 && character === ":" && key === name) begun = skipSpace(text, at + 1);
    if ("{}[],:".includes(character)) {
      at += 1;
      continue;
    }
    const end = findEnd(text, at);
    if (depth === 1 && key === null && character === '"') key = readString(text.slice(at, end));
    at = end;
  }
  return null;
}

function readString(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : text;
  } catch {
    return text;
  }
}

/** A JSON value whose numbers are texts. */
export type ExactValue =
  | { readonly kind: "object"; readonly members: ReadonlyMap<string, ExactValue>; readonly text: string }
  | { readonly kind: "array"; readonly items: readonly ExactValue[]; readonly text: string }
  | { readonly kind: "scalar"; readonly text: string };

/** Deeper JSON is not taken apart: it would exhaust the stack. */
const MOST_DEPTH = 500;

/** Takes a JSON text apart; null: it is none, or is too deep. */
export function parseExact(text: string): ExactValue | null {
  const reader = { text, at: 0 };
  try {
    return readValue(reader, 0);
  } catch {
    return null;
  }
}

interface Reader {
  readonly text: string;
  at: number;
}

function readValue(reader: Reader, depth: number): ExactValue {
  if (depth > MOST_DEPTH) throw new RangeError("too deep");
  const { text } = reader;
  reader.at = skipSpace(text, reader.at);
  const from = reader.at;
  const character = text[from];
  if (character === "{" || character === "[") {
    const members = new Map<string, ExactValue>();
    const items: ExactValue[] = [];
    reader.at = skipSpace(text, from + 1);
    while (!"}]".includes(peek(reader))) {
      if (character === "{") {
        const end = findEnd(text, reader.at);
        const key = readString(text.slice(reader.at, end));
        reader.at = skipSpace(text, end) + 1;
        members.set(key, readValue(reader, depth + 1));
      } else items.push(readValue(reader, depth + 1));
      reader.at = skipSpace(text, reader.at);
      if (peek(reader) === ",") reader.at = skipSpace(text, reader.at + 1);
    }
    reader.at += 1;
    const whole = text.slice(from, reader.at);
    return character === "{"
      ? { kind: "object", members, text: whole }
      : { kind: "array", items, text: whole };
  }
  reader.at = findEnd(text, from);
  if (reader.at <= from) throw new SyntaxError("no value");
  return { kind: "scalar", text: text.slice(from, reader.at) };
}

function peek({ text, at }: Reader): string {
  const character = text[at];
  if (character === undefined) throw new SyntaxError("cut off");
  return character;
}

/** One place at which two JSON values differ. */
export interface JsonDifference {
  /** JSON Pointer (RFC 6901); "" is the whole. */
  readonly path: string;
  /** JSON text; null: it is not there. */
  readonly before: string | null;
  readonly after: string | null;
}

/** Where two values differ, at most so many places: members that one lacks, and values that are not the same. */
export function compareJson(before: ExactValue, after: ExactValue, most: number): readonly JsonDifference[] {
  const found: JsonDifference[] = [];
  collect(before, after, "", found, most);
  return found;
}

function collect(
  before: ExactValue | undefined,
  after: ExactValue | undefined,
  path: string,
  found: JsonDifference[],
  most: number,
): void {
  if (found.length >= most) return;
  if (before?.kind === "object" && after?.kind === "object") {
    for (const key of new Set([...before.members.keys(), ...after.members.keys()]))
      collect(before.members.get(key), after.members.get(key), `${path}/${escapePointer(key)}`, found, most);
    return;
  }
  if (before?.kind === "array" && after?.kind === "array") {
    const length = Math.max(before.items.length, after.items.length);
    for (let at = 0; at < length; at += 1)
      collect(before.items[at], after.items[at], `${path}/${at}`, found, most);
    return;
  }
  const isSame =
    before?.kind === "scalar" && after?.kind === "scalar" && toComparable(before) === toComparable(after);
  if (!isSame) found.push({ path, before: before?.text ?? null, after: after?.text ?? null });
}

/** Strings are the same whichever way they are escaped; numbers only digit by digit. */
function toComparable({ text }: { readonly text: string }): string {
  return text.startsWith('"') ? JSON.stringify(readString(text)) : text;
}

function escapePointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
