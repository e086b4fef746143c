import { randomBytes } from "node:crypto";
import { escapeControls } from "./output.ts";

/** JSON that goes through this process without losing a digit: `JSON.parse` makes 12345678901234567890 another number. */
export interface ExactJson {
  /** As `JSON.parse`; numbers that would not come out as they went in are carried as marked strings. */
  readonly parse: (text: string) => unknown;
  /** As `JSON.stringify` with two spaces; carried numbers are written as they were read. */
  readonly stringify: (value: unknown) => string;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const TOKEN_START = /["\-\d]/g;

export function createExactJson(): ExactJson {
  // Random, so that no text of a service can pass for a number.
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

/** Replaces the numbers of a JSON text, leaving digits in strings alone. */
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
    // What is no number is left as it is, for JSON.parse to refuse.
    if (number !== undefined) copied = at + number.length;
    at = findTokenStart(text, at + (number?.length ?? 1));
  }
  return `${parts.join("")}${text.slice(copied)}`;
}

function findTokenStart(text: string, from: number): number {
  TOKEN_START.lastIndex = from;
  return TOKEN_START.exec(text)?.index ?? text.length;
}

/** Index of the quote that ends the string which begins at `start`. */
function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === "\\") backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
