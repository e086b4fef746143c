import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scanJson } from "./json-scan.ts";

const encode = (text: string) => new TextEncoder().encode(text);

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

  test("gives the size of every member's text", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const parsed: object = JSON.parse(JSON.stringify(object));
        const sizes = Object.entries(parsed).map(([key, value]) => ({
          key,
          length: encode(JSON.stringify(value)).length,
        }));
        expect(scanJson(encode(JSON.stringify(parsed))).members).toEqual(sizes);
      }),
    );
  });

  test("counts a key that stands twice twice, also when one is written with escapes", () => {
    expect(scanJson(encode(String.raw`{"a": 1, "\u0061": {"b": 2}}`)).members).toEqual([
      { key: "a", length: 1 },
      { key: "a", length: 8 },
    ]);
  });

  test("is not misled by brackets, quotes and backslashes inside strings", () => {
    expect(scanJson(encode(String.raw`{"a": "}]\"\\", "b": ["{"]}`))).toEqual({
      depth: 2,
      members: [
        { key: "a", length: 8 },
        { key: "b", length: 5 },
      ],
    });
  });
});
