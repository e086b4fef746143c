import { expect, test } from "vitest";
import { containsRange, formatRange, parseRange, parseRanges } from "./address-range.ts";

test.each([
  ["203.0.113.7", "203.0.113.7/32"],
  ["10.1.2.3/8", "10.0.0.0/8"],
  ["255.255.255.255/31", "255.255.255.254/31"],
  ["0.0.0.0/0", "0.0.0.0/0"],
])("%s is the range %s", (text, range) => {
  const parsed = parseRange(text);
  expect(parsed === null ? null : formatRange(parsed)).toBe(range);
});

test.each(["", "10.0.0", "10.0.0.256", "10.0.0.0/33", "10.0.0.0/", "::1", "example.org", " 10.0.0.1"])(
  "'%s' is no range",
  (text) => {
    expect(parseRange(text)).toBeNull();
    expect(() => parseRanges([text])).toThrow(TypeError);
  },
);

test.each([
  ["10.0.0.0/8", "10.1.0.0/16", true],
  ["10.0.0.0/8", "10.0.0.0/8", true],
  ["10.1.0.0/16", "10.0.0.0/8", false],
  ["10.1.0.0/16", "10.2.0.1", false],
  ["0.0.0.0/0", "255.255.255.255", true],
  ["128.0.0.0/1", "127.255.255.255", false],
])("%s contains %s: %s", (outer, inner, expected) => {
  const [first, second] = [parseRange(outer), parseRange(inner)];
  expect(first !== null && second !== null && containsRange(first, second)).toBe(expected);
});
