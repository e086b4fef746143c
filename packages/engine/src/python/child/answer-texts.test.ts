import fc from "fast-check";
import { expect, test } from "vitest";
import { readMetadata } from "./answer-texts.ts";

function read(text: string): string | null {
  return readMetadata(Buffer.from(text))?.toString() ?? null;
}

function nest(levels: number): string {
  return `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
}

test.each([
  ["an object", '{"a":[1,{"b":"}"}]}'],
  [
    "numbers that JavaScript has no room for",
    '{"at":1763841600123456789,"few":1.0,"large":1e400,"small":-0.0}',
  ],
  ["characters as escapes", String.raw`{"a":"\ud83d\ude00 \u00f6 \u0000 \\ud800 \" \n"}`],
  ["the name of measured values within", '{"a":{"_usage":1},"b":"_usage"}'],
  ["as many levels as an input may have", nest(200)],
])("metadata pass byte by byte: %s", (_, text) => {
  expect(read(text)).toBe(text);
});

test.each([
  ["nothing", ""],
  ["braces only", "{]}"],
  ["an end ahead of the end", '{"a":1},"result":{"b":2}'],
  ["a text without an end", '{"a":"}'],
  ["an unknown word", '{"a":NaN}'],
  ["a comma too many", '{"a":1,}'],
  ["a line break in a text", '{"a":"\n"}'],
  ["an escape that there is not", String.raw`{"a":"\x00"}`],
  ["an array", "[1]"],
  ["space ahead of it", ' {"a":1}'],
  ["space behind it", '{"a":1}\n'],
  ["space within it, which would not look empty", "{ }"],
  ["characters beyond ASCII", '{"a":"ö"}'],
  ["measured values", '{"a":1,"_usage":{"cpuSeconds":0}}'],
  ["measured values in other letters", String.raw`{"\u005fusage":{"cpuSeconds":0}}`],
  ["what was read", '{"a":1,"_inputs":{}}'],
  ["where it was stored", '{"a":1,"_persisted":{}}'],
  ["measured values twice", '{"_usage":1,"_usage":2}'],
  ["more levels than an input may have", nest(201)],
  ["levels without end", nest(400_000)],
])("metadata that the runner does not send are none: %s", (_, text) => {
  expect(read(text)).toBeNull();
});

test("bytes that are no text are no metadata", () => {
  expect(readMetadata(Buffer.from('{"a":"\xff\xfe"}', "latin1"))).toBeNull();
});

test("halves of surrogate pairs, which parsers of callers refuse, are replaced, and nothing else", () => {
  expect(read(String.raw`{"a":"\ud800","\uDFFF":"\udc00\ud83d\ude00\ud83d\\ude00\\\ud83d"}`)).toBe(
    String.raw`{"a":"\ufffd","\ufffd":"\ufffd\ud83d\ude00\ufffd\\ude00\\\ufffd"}`,
  );
});

/** What a text may consist of but space, which the runner does not write. */
const PIECES = [
  "{",
  "}",
  "[",
  "]",
  ":",
  ",",
  '"',
  '"a"',
  '"_":',
  "0",
  "10",
  "-",
  ".",
  "e",
  "E",
  "+",
  "1.5e-7",
];
const WORDS = ["true", "null", "nul", "\\", "\\n", "\\u", "\\u0061", "\\x", "\u0001", "\u007F"];

/** As Python writes it. */
function write(value: unknown): string {
  return JSON.stringify(value).replace(/[^ -~]/gu, (character) =>
    [...Array(character.length).keys()]
      .map((unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

function isObject(text: string): boolean {
  try {
    JSON.parse(text);
  } catch {
    return false;
  }
  return text.startsWith("{");
}

test("metadata are what JSON.parse takes for an object, also with some pieces exchanged", () => {
  const piece = fc.constantFrom(...PIECES, ...WORDS);
  const anyObject = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue(), { maxKeys: 4 });
  fc.assert(
    fc.property(
      anyObject,
      fc.array(fc.tuple(fc.nat(), fc.nat(3), piece), { maxLength: 3 }),
      (value, changes) => {
        let text = write(value);
        for (const [place, length, inserted] of changes) {
          const at = place % (text.length + 1);
          text = text.slice(0, at) + inserted + text.slice(at + length);
        }
        expect(read(text) !== null).toBe(isObject(text));
      },
    ),
    { numRuns: 1000 },
  );
});

test("metadata are what JSON.parse takes for an object, of all texts that pieces make", () => {
  const text = fc
    .array(fc.constantFrom(...PIECES, ...WORDS), { maxLength: 6 })
    .map((some) => `{"a":${some.join("")}}`);
  fc.assert(
    fc.property(text, (some) => {
      expect(read(some) !== null).toBe(isObject(some));
    }),
    { numRuns: 3000 },
  );
});
