import { expect, onTestFinished, test, vi } from "vitest";
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

test("identifiers and times are no numbers: an answer without long ones is read without looking at each value", () => {
  const parse = vi.spyOn(JSON, "parse");
  onTestFinished(() => parse.mockRestore());
  const answer =
    '{"id":"0198c1de-7a53-7000-8000-4e5e6e7e8e90","hash":"12345678901234567890","at":"2026-11-28T09:30:00.123456Z","n":1.25}';
  parseExactNumbers(answer);
  parseExactNumbers(JSON.stringify(JSON.parse(answer), null, 2));
  expect(parse.mock.calls.map(({ length }) => length)).toEqual([1, 1, 1]);
});

test.each(["12345678901234567890", '{"a" :\n1e400}', "[0,-12345678901234567890]", "[ 1.0E-400 ]"])(
  "%s is looked at, wherever its number begins",
  (text) => {
    expect(JSON.stringify(parseExactNumbers(text))).toBe(text.replaceAll(/\s/gu, ""));
  },
);

test("what is no JSON is refused as ever, and how long a number is when it is written out is known", () => {
  expect(() => parseExactNumbers("[12345678901234567890")).toThrow(SyntaxError);
  expect(measureExpanded(new ExactNumber("1e400"))).toBe(405);
  expect(measureExpanded(new ExactNumber("12"))).toBe(2);
  expect(["1e400", "1.25e-3", "1.25e1", "7"].map((text) => countDecimals(new ExactNumber(text)))).toEqual([
    0, 5, 1, 0,
  ]);
});
