import fc from "fast-check";
import { expect, test } from "vitest";
import { parseExactNumbers } from "@platform/contract/exact-number";
import { dedent, showJson } from "./show-json.ts";

test("what holds nothing nested stays in a line, if it fits", () => {
  expect(
    showJson({
      data: {
        cities: [
          [565, 575],
          [25, 185],
        ],
        none: [],
        no: {},
      },
      params: { seed: 1, restarts: 200 },
    }),
  ).toBe(`{
  "data": {
    "cities": [
      [565, 575],
      [25, 185]
    ],
    "none": [],
    "no": {}
  },
  "params": { "seed": 1, "restarts": 200 }
}`);
  expect(showJson(Array.from({ length: 40 }, () => 10)).split("\n")).toHaveLength(42);
});

test("numbers that a double would change have their digits, as numbers", () => {
  const text = '{ "id": 12345678901234567890, "most": [1e400, 1] }';
  expect(JSON.stringify(parseExactNumbers(showJson(parseExactNumbers(text))))).toBe(text.replaceAll(" ", ""));
  expect(showJson(parseExactNumbers("[12345678901234567890, 1]"))).toBe("[12345678901234567890, 1]");
});

test("it is the same value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.stringify(JSON.parse(showJson(value)))).toBe(JSON.stringify(value));
    }),
  );
});

test("what is not seen is escaped: it may be a key to a terminal that the text is pasted into", () => {
  expect(showJson({ "a\u007f": ["\u009b\u202e", { b: "ä\u2028" }] })).toBe(`{
  "a\\u007f": [
    "\\u009b\\u202e",
    { "b": "ä\\u2028" }
  ]
}`);
});

test("a part of a text begins at the margin, and is the same value", () => {
  expect(
    dedent(`[
      [565, 575]
    ]`),
  ).toBe(`[
  [565, 575]
]`);
  expect(dedent("[1]")).toBe("[1]");
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const part = JSON.stringify([[value]], null, 2)
        .slice(2, -2)
        .trim();
      expect(JSON.parse(dedent(part))).toEqual(JSON.parse(part));
    }),
  );
});
