import { expect, test } from "vitest";
import {
  ExactNumber,
  countDecimals,
  measureExpanded,
  parseExactNumbers,
  withoutExactNumbers,
} from "./exact-number.ts";

test.each([
  "12345678901234567890",
  "-12345678901234567890.5",
  "1e400",
  "0.1000000000000000055511151231257827",
  "9007199254740993",
  "1E-400",
])("%s keeps its digits, and is a double where numbers are worked with", (text) => {
  const value = parseExactNumbers(`{"a": [${text}]}`);
  expect(value).toEqual({ a: [new ExactNumber(text)] });
  expect(JSON.stringify(value)).toBe(`{"a":[${text}]}`);
  expect(withoutExactNumbers(value)).toEqual({ a: [Number(text) === Infinity ? Infinity : Number(text)] });
});

test.each([
  "0",
  "-1",
  "1.0",
  "1e3",
  "1.50",
  "9007199254740992",
  "0.1",
  "1e22",
  "100000000000000000000",
  "0.0000000000000000",
])("%s is the number that it is", (text) => {
  expect(parseExactNumbers(`[${text}, "1234567890123456789012"]`)).toEqual([
    Number(text),
    "1234567890123456789012",
  ]);
});

test("what is no JSON is refused as ever, and how long a number is when it is written out is known", () => {
  expect(() => parseExactNumbers("[12345678901234567890")).toThrow(SyntaxError);
  expect(measureExpanded(new ExactNumber("1e400"))).toBe(405);
  expect(measureExpanded(new ExactNumber("12"))).toBe(2);
  expect(["1e400", "1.25e-3", "1.25e1", "7"].map((text) => countDecimals(new ExactNumber(text)))).toEqual([
    0, 5, 1, 0,
  ]);
});
