import { randomBytes } from "node:crypto";
import { escapeControls } from "./output.ts";

/** Parses and writes JSON without changing numbers. `JSON.parse` alone turns 12345678901234567890 into another number. */
export interface ExactJson {
  /** Like `JSON.parse`, but numbers that a double cannot represent exactly as written become marked strings. */
  readonly parse: (text: string) => unknown;
  /** Like `JSON.stringify` with an indent of two, but marked strings become the original numbers. */
  readonly stringify: (value: unknown) => string;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const TOKEN_START = /["\-\d]/g;

/** Creates a parser and writer that belong together: `stringify` understands the marks of its own `parse` only. */
export function createExactJson(): ExactJson {
  // Random, so that no string of a service can be mistaken for a marked number.
  const mark = randomBytes(12).toString("hex");
  const marked = new RegExp(`"${mark}:([^"]+)"`, "g");
  return {
    parse: (text) =>
      JSON.parse(
        mapNumbers(text, (number) => (String(Number(number)) === number ? number : `"${mark}:${number}"`)),
      ),
    stringify: (value) => escapeControls(JSON.stringify(value, null, 2).replace(marked, "$1")),
  };
}

/** Replaces the numbers of a JSON text; digits in strings are not changed. */
function mapNumbers(text: string, map: (number: string) => string): string {
  const parts: string[] = [];
  let copied = 0;
  let at = findTokenStart(text, 0);
  while (at < text.length) {
    if (text[at] === '"') {
      at = findTokenStart(text, findStringEnd(text, at) + 1);
      continue;
    }
    NUMBER.lastIndex = at;
    const number = NUMBER.exec(text)?.[0];
    if (number !== undefined) parts.push(text.slice(copied, at), map(number));
    // An invalid number is left unchanged: JSON.parse refuses it.
    if (number !== undefined) copied = at + number.length;
    at = findTokenStart(text, at + (number?.length ?? 1));
  }
  return `${parts.join("")}${text.slice(copied)}`;
}

function findTokenStart(text: string, from: number): number {
  TOKEN_START.lastIndex = from;
  return TOKEN_START.exec(text)?.index ?? text.length;
}

/** Index of the closing quote of the string that begins at `start`. */
function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === "\\") backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
