import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isRecord } from "../base/json.ts";
import { parsePointer } from "./pointer.ts";
import { createPointerTracker } from "./pointer-tracker.ts";
import { NoJsonObject, createJsonScanner } from "./scanner.ts";

/** What the scanner says of a text in pieces of these lengths in turn: null where it is an object. */
function scan(bytes: Uint8Array, lengths: readonly number[] = [bytes.length + 1], pointer: string[] = []) {
  const tracker = createPointerTracker(pointer);
  const scanner = createJsonScanner(tracker);
  try {
    for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
      const length = lengths[turn % lengths.length] ?? 1;
      // A copy that is overwritten: the scanner must not keep what it is given.
      const chunk = Uint8Array.from(bytes.subarray(at, at + length));
      scanner.push(chunk);
      chunk.fill(0);
      at += length;
    }
    scanner.end();
    return { fault: null, found: tracker.finish() };
  } catch (error) {
    if (error instanceof NoJsonObject) return { fault: error.message, found: null };
    throw error;
  }
}

const encode = (text: string) => new TextEncoder().encode(text);
const say = (text: string) => scan(encode(text)).fault;

const nest = (levels: number) => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function isObject(bytes: Uint8Array): boolean {
  try {
    return isRecord(JSON.parse(decoder.decode(bytes)));
  } catch {
    return false;
  }
}

const TEXTS = [
  '{"a":[1,-0.5e+10,true,false,null,"x\\u00e9\\n\\"",{"ü":{}}],"b":{},"c":[]}',
  ' { "k" : [ [ ] , 0 , 1E5 ] } ',
  '{"a":"\\ud800","b":1.25,"😀":"€"}',
  '{"a":01}',
  '{"a":1.}',
  "\uFEFF{}",
  "[1]",
];
const BYTES = [
  ...Buffer.from('{}[]":,019.eE+-truefalsn \n\t\\u/\u0000\u001Fü€😀'),
  0xff,
  0xc0,
  0xed,
  0xa0,
  0xf4,
  0x90,
];

describe("createJsonScanner", () => {
  test("takes what JSON.parse takes for an object, whatever was exchanged and however it is cut", () => {
    const edit = fc.record({
      at: fc.nat(90),
      drop: fc.nat(2),
      put: fc.array(fc.constantFrom(...BYTES), { maxLength: 2 }),
    });
    fc.assert(
      fc.property(
        fc.constantFrom(...TEXTS),
        fc.array(edit, { maxLength: 3 }),
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 }),
        (text, edits, lengths) => {
          const list = [...encode(text)];
          for (const { at, drop, put } of edits) list.splice(at, drop, ...put);
          const bytes = Uint8Array.from(list);
          const whole = scan(bytes).fault;
          expect(whole === null).toBe(isObject(bytes));
          expect(scan(bytes, lengths).fault).toBe(whole);
        },
      ),
      { numRuns: 20_000 },
    );
  });

  test("takes any object, cut anywhere", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue({ maxDepth: 8 })),
        fc.constantFrom(undefined, 1, "\t"),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
        (value, space, lengths) => {
          expect(scan(encode(JSON.stringify(value, null, space)), lengths).fault).toBeNull();
        },
      ),
    );
  });

  test.each([
    ["nothing", "", 'byte 0: the text ends here, expected a "{"'],
    ["an array", "[1]", 'byte 0: expected a "{"'],
    ["a string", ' "x"', 'byte 1: expected a "{"'],
    ["a byte order mark", "\uFEFF{}", 'byte 0: a byte order mark is not allowed, expected a "{"'],
    ["NaN", '{"a":NaN}', "byte 5: expected a value"],
    ["an unknown word", '{"a":nil}', "byte 6: expected null"],
    ["a comma too many", '{"a":1,}', "byte 7: expected a name in double quotes"],
    ["a comma too many in an array", '{"a":[1,]}', "byte 8: expected a value"],
    ["another bracket", '{"a":[1}', "byte 7: expected a comma or the end of what encloses the value"],
    ["a second object", "{} {}", "byte 3: expected the end of the text"],
    ["a zero too many", '{"a":01}', "byte 6: expected the end of a number that begins with 0"],
    ["a number without an exponent", '{"a":1e}', "byte 7: expected an exponent"],
    ["a name without a value", '{"a"}', 'byte 4: expected a ":"'],
    [
      "a tab in a string",
      '{"a":"\t"}',
      "byte 6: expected the end of a string, where a control character must be escaped",
    ],
    ["an escape that there is not", String.raw`{"a":"\x"}`, "byte 7: expected one of the escapes of JSON"],
    ["an escape that is too short", String.raw`{"a":"\u12"}`, "byte 10: expected four hexadecimal digits"],
    [
      "a text without an end",
      '{"a":[{}',
      "byte 8: the text ends here, expected a comma or the end of what encloses the value",
    ],
  ])("says where it is wrong: %s", (_, text, fault) => {
    expect(say(text)).toBe(fault);
  });

  test("says where the bytes are no UTF-8, also behind a chunk that ended within a character", () => {
    const bytes = Buffer.concat([encode('{"ä":"€'), Buffer.from([0xe2, 0x82]), encode('"}')]);
    expect(scan(bytes).fault).toBe("byte 10: not UTF-8");
    expect(scan(bytes, [11]).fault).toBe("byte 10: not UTF-8");
    expect(scan(bytes.subarray(0, 12)).fault).toBe("byte 10: not UTF-8");
  });

  test("takes as many levels as an input may have and no more, in a time that does not depend on the rest", () => {
    expect(say(nest(200))).toBeNull();
    expect(say(nest(201))).toBe("byte 204: nested deeper than 200 levels");
    expect(say(`{"a":${"[".repeat(1_000_000)}`)).toBe("byte 204: nested deeper than 200 levels");
  });
});

/** What is at a pointer, as RFC 6901 says and as `JSON.parse` reads; undefined: nothing. */
function follow(value: unknown, pointer: readonly string[]): unknown {
  let at = value;
  for (const part of pointer) {
    if (Array.isArray(at)) at = /^(0|[1-9]\d*)$/.test(part) ? at[Number(part)] : undefined;
    else at = isRecord(at) && Object.hasOwn(at, part) ? at[part] : undefined;
  }
  return at;
}

function find(text: string, pointer: string[], lengths?: readonly number[]): unknown {
  const bytes = encode(text);
  const { fault, found } = scan(bytes, lengths, pointer);
  expect(fault).toBeNull();
  if (found === null || "fault" in found) return found?.fault;
  return JSON.parse(decoder.decode(bytes.subarray(found.start, found.end)));
}

/** A name as JSON: as it is, or all of it as escapes. */
const spell = (text: string) =>
  fc.constantFrom(
    JSON.stringify(text),
    `"${Array.from(text, (unit) => `\\u00${unit.charCodeAt(0).toString(16).padStart(2, "0")}`).join("")}"`,
  );

describe("createPointerTracker", () => {
  test("finds what is at a pointer in what JSON.parse reads, with names twice and in any spelling, however the text is cut", () => {
    const name = fc.constantFrom("a", "b", "0", "1", "~", "é", "");
    const part = fc.constantFrom("a", "b", "0", "1", "~", "é", "", "2", "00", "-");
    const { value } = fc.letrec<{ value: string; object: string }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom("1", '"]}"', "null", '"\\\\\\""'),
        tie("object"),
        fc.array(tie("value"), { maxLength: 3 }).map((items) => `[ ${items.join(" ,")}]`),
      ),
      object: fc
        .array(fc.tuple(name.chain(spell), tie("value")), { maxLength: 4 })
        .map((members) => `{${members.map(([key, text]) => `${key} : ${text}`).join(",")}}`),
    }));
    const document = fc
      .array(fc.tuple(name.chain(spell), value), { maxLength: 4 })
      .map((members) => `{${members.map(([key, text]) => `${key}:${text}`).join(",")}}`);
    const hits = { object: 0, other: 0, nothing: 0 };
    fc.assert(
      fc.property(
        document,
        fc.array(part, { maxLength: 3 }),
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 3 }),
        (text, pointer, lengths) => {
          const value = follow(JSON.parse(text), pointer);
          const [kind, expected]: [keyof typeof hits, unknown] =
            value === undefined
              ? ["nothing", "there is no value there"]
              : isRecord(value)
                ? ["object", value]
                : ["other", "the value there is no object"];
          expect(find(text, pointer, lengths)).toEqual(expected);
          hits[kind] += 1;
        },
      ),
      { numRuns: 10_000 },
    );
    expect(Math.min(...Object.values(hits))).toBeGreaterThan(100);
  });

  test("passes over a name that is longer than the one it looks for, however long", () => {
    expect(find(`{"${"a".repeat(3_000_000)}":{},"a":{"b":1}}`, ["a"], [65_536])).toEqual({ b: 1 });
  });
});

describe("parsePointer", () => {
  test("gives the parts without escapes, the empty ones as well", () => {
    expect(parsePointer("")).toEqual([]);
    expect(parsePointer("/")).toEqual([""]);
    expect(parsePointer("/a~1b/~01/ /0")).toEqual(["a/b", "~1", " ", "0"]);
    expect(parsePointer("/a".repeat(64))).toHaveLength(64);
  });

  test.each([
    ["no slash", "a/b", 'must be empty or begin with "/"'],
    ["a tilde alone", "/a~", 'must write "~" as "~0" and "/" within a name as "~1"'],
    ["an unknown escape", "/~2", 'must write "~" as "~0" and "/" within a name as "~1"'],
    ["too many parts", "/a".repeat(65), "has 65 parts; at most 64 are accepted"],
  ])("says what is wrong: %s", (_, text, fault) => {
    expect(parsePointer(text)).toEqual({ fault });
  });
});
