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
/** Characters of a laid-out text, for each of its own. What goes further is indentation: 28 KB of brackets would become 392 MB. */
const MOST_GROWTH = 16;
/** Of a text that is short, whatever its depth. */
const MOST_OF_SHORT = 1_000_000;
/** Of any: a browser makes no text of half a billion characters. */
const MOST_CHARACTERS = 200_000_000;

/** A text that is being laid out. */
interface Layout {
  readonly out: string[];
  /** As `LaidOutJson.closes`; its last place is the current line. */
  readonly closes: number[];
  /** Lines that opened what is not closed yet. */
  readonly open: number[];
  /** Of all line breaks with their indentation. */
  blank: number;
}

/**
 * Lays a JSON text out; null: it is none, or so deep that it would be indentation for the most part. Pauses after each million characters, so that the page stays usable.
 *
 * @param pause resolves when to go on
 */
export async function layOutJson(text: string, pause: () => Promise<void>): Promise<LaidOutJson | null> {
  const layout: Layout = { out: [], closes: [0, 0], open: [], blank: 0 };
  const mostBlank = Math.min(MOST_OF_SHORT + MOST_GROWTH * text.length, MOST_CHARACTERS);
  let paused = 0;
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    if (at - paused >= SLICE) {
      paused = at;
      await pause();
    }
    const next = layOutToken(layout, text, at);
    if (next === null || layout.blank > mostBlank) return null;
    at = next;
  }
  const { out, closes, open } = layout;
  return open.length === 0 ? { text: out.join(""), closes: Int32Array.from(closes) } : null;
}

/** Where the next token begins, spaces aside; null: this is none. */
function layOutToken(layout: Layout, text: string, at: number): number | null {
  const { out } = layout;
  const character = text[at] ?? "";
  switch (character) {
    case "{":
    case "[":
      return layOutOpening(layout, text, at);
    case "}":
    case "]":
      return layOutClosing(layout, character) ? at + 1 : null;
    case ",":
      out.push(",");
      breakLine(layout);
      return at + 1;
    case ":":
      out.push(": ");
      return at + 1;
    default: {
      const end = findEnd(text, at);
      out.push(text.slice(at, end));
      return end;
    }
  }
}

function layOutOpening(layout: Layout, text: string, at: number): number {
  const character = text[at] ?? "";
  const next = skipSpace(text, at + 1);
  if (text[next] === (character === "{" ? "}" : "]")) {
    layout.out.push(character, text[next] ?? "");
    return next + 1;
  }
  layout.out.push(character);
  layout.open.push(layout.closes.length - 1);
  breakLine(layout);
  return at + 1;
}

function layOutClosing(layout: Layout, character: string): boolean {
  const opened = layout.open.pop();
  if (opened === undefined) return false;
  breakLine(layout);
  layout.closes[opened] = layout.closes.length - 1;
  layout.out.push(character);
  return true;
}

function breakLine(layout: Layout): void {
  const { out, closes, open } = layout;
  out.push("\n", INDENT.repeat(open.length));
  layout.blank += 1 + INDENT.length * open.length;
  closes.push(0);
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

const isSpace = (code: number) => code === 32 || code === 10 || code === 13 || code === 9;

/** Where the string, number or word that begins here ends; at least one character further. */
function findEnd(text: string, from: number): number {
  if (text[from] === '"') return findStringEnd(text, from);
  let at = from;
  while (at < text.length && !isSpace(text.charCodeAt(at)) && !'{}[],:"'.includes(text[at] ?? "")) at += 1;
  return Math.max(at, from + 1);
}

function findStringEnd(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === "\\") backslashes += 1;
    if (backslashes % 2 === 0) return end + 1;
  }
  return text.length;
}

/** Where the value that begins here ends. */
function skipValue(text: string, from: number): number {
  let depth = 0;
  let at = from;
  do {
    const character = text[at] ?? "";
    if (character === "{" || character === "[") depth += 1;
    if (character === "}" || character === "]") depth -= 1;
    at = findEnd(text, at);
    if (depth > 0) at = skipSpace(text, at);
  } while (depth > 0 && at < text.length);
  return at;
}

/** The text of one member of a JSON object, as it stands there; null: it has none of this name. */
export function sliceMember(text: string, name: string): string | null {
  const start = skipSpace(text, 0);
  if (text[start] !== "{") return null;
  let at = skipSpace(text, start + 1);
  while (text[at] === '"') {
    const keyEnd = findEnd(text, at);
    const value = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, value);
    if (readString(text.slice(at, keyEnd)) === name) return text.slice(value, end);
    // Behind the comma, if there is one.
    at = skipSpace(text, skipSpace(text, end) + 1);
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
  const character = peek(reader);
  if (character === "{") {
    const members = readMembers(reader, depth);
    return { kind: "object", members, text: text.slice(from, reader.at) };
  }
  if (character === "[") {
    const items = readItems(reader, depth);
    return { kind: "array", items, text: text.slice(from, reader.at) };
  }
  reader.at = findEnd(text, from);
  return { kind: "scalar", text: text.slice(from, reader.at) };
}

function readMembers(reader: Reader, depth: number): ReadonlyMap<string, ExactValue> {
  const { text } = reader;
  const members = new Map<string, ExactValue>();
  for (let isMore = enter(reader, "}"); isMore; isMore = goOn(reader)) {
    const end = findEnd(text, reader.at);
    const key = readString(text.slice(reader.at, end));
    reader.at = skipSpace(text, end) + 1;
    members.set(key, readValue(reader, depth + 1));
  }
  return members;
}

function readItems(reader: Reader, depth: number): readonly ExactValue[] {
  const items: ExactValue[] = [];
  for (let isMore = enter(reader, "]"); isMore; isMore = goOn(reader))
    items.push(readValue(reader, depth + 1));
  return items;
}

/** Behind the opening bracket, and behind the closing one where there is nothing between. */
function enter(reader: Reader, closing: string): boolean {
  reader.at = skipSpace(reader.text, reader.at + 1);
  if (peek(reader) !== closing) return true;
  reader.at += 1;
  return false;
}

/** Behind the comma, or behind the closing bracket. */
function goOn(reader: Reader): boolean {
  reader.at = skipSpace(reader.text, reader.at);
  const isMore = peek(reader) === ",";
  reader.at += 1;
  if (isMore) reader.at = skipSpace(reader.text, reader.at);
  return isMore;
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
  collect(before, after, "", { found, most });
  return found;
}

interface Collected {
  readonly found: JsonDifference[];
  readonly most: number;
}

function collect(
  before: ExactValue | undefined,
  after: ExactValue | undefined,
  path: string,
  into: Collected,
): void {
  if (into.found.length >= into.most) return;
  if (before !== undefined && after !== undefined && collectWithin(before, after, path, into)) return;
  if (!isSameScalar(before, after))
    into.found.push({ path, before: before?.text ?? null, after: after?.text ?? null });
}

/** false: they are not both objects, or both arrays. */
function collectWithin(before: ExactValue, after: ExactValue, path: string, into: Collected): boolean {
  if (before.kind === "object" && after.kind === "object") {
    collectMembers(before, after, path, into);
    return true;
  }
  if (before.kind === "array" && after.kind === "array") {
    collectItems(before, after, path, into);
    return true;
  }
  return false;
}

type Of<K extends ExactValue["kind"]> = Extract<ExactValue, { readonly kind: K }>;

function collectMembers(before: Of<"object">, after: Of<"object">, path: string, into: Collected): void {
  for (const key of new Set([...before.members.keys(), ...after.members.keys()]))
    collect(before.members.get(key), after.members.get(key), `${path}/${escapePointer(key)}`, into);
}

function collectItems(before: Of<"array">, after: Of<"array">, path: string, into: Collected): void {
  const length = Math.max(before.items.length, after.items.length);
  for (let at = 0; at < length; at += 1) collect(before.items[at], after.items[at], `${path}/${at}`, into);
}

function isSameScalar(before: ExactValue | undefined, after: ExactValue | undefined): boolean {
  return (
    before?.kind === "scalar" && after?.kind === "scalar" && toComparable(before) === toComparable(after)
  );
}

/** Strings are the same whichever way they are escaped; numbers only digit by digit. */
function toComparable({ text }: { readonly text: string }): string {
  return text.startsWith('"') ? JSON.stringify(readString(text)) : text;
}

function escapePointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
