import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scanJson } from "./json-scan.ts";

const encode = (text: string) => new TextEncoder().encode(text);

/** The members of a text with their texts, cut out of its bytes where the scan says. */
function readMembers(text: string): (readonly [string, string])[] {
  const bytes = encode(text);
  return scanJson(bytes).members.map(({ key, start, length }) => [
    key,
    new TextDecoder().decode(bytes.subarray(start, start + length)),
  ]);
}

function measureDepth(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(measureDepth));
}

describe("scanJson", () => {
  test("agrees with JSON.parse on members and depth, whatever the white space", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.constantFrom(undefined, 1, "\t"),
        (object, space) => {
          const text = JSON.stringify(object, null, space);
          const scan = scanJson(encode(text));
          const parsed: object = JSON.parse(text);
          expect(scan.depth).toBe(measureDepth(parsed));
          expect(scan.members).toHaveLength(Object.keys(parsed).length);
          expect(new Set(scan.members.map((member) => member.key))).toEqual(new Set(Object.keys(parsed)));
        },
      ),
    );
  });

  test("says where every member's text is", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const parsed: object = JSON.parse(JSON.stringify(object));
        const texts = Object.entries(parsed).map(([key, value]) => [key, JSON.stringify(value)]);
        expect(readMembers(JSON.stringify(parsed))).toEqual(texts);
      }),
    );
  });

  test("counts a key that stands twice twice, also when one is written with escapes", () => {
    expect(readMembers(String.raw`{"a": 1, "\u0061": {"b": 2}}`)).toEqual([
      ["a", "1"],
      ["a", '{"b": 2}'],
    ]);
  });

  test("is not misled by brackets, quotes and backslashes inside strings", () => {
    const text = String.raw`{"a": "}]\"\\", "b": ["{"]}`;
    expect(scanJson(encode(text)).depth).toBe(2);
    expect(readMembers(text)).toEqual([
      ["a", String.raw`"}]\"\\"`],
      ["b", '["{"]'],
    ]);
  });
});
