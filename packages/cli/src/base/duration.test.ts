import { expect, test } from "vitest";
import { parseStartWithin } from "./duration.ts";

test.each([
  ["90", 90],
  ["90s", 90],
  ["10m", 600],
  ["2h", 7_200],
  ["1d", 86_400],
  [" 7d ", 604_800],
  ["0", 0],
])("%j are so many seconds: %i", (text, seconds) => {
  expect(parseStartWithin(text)).toBe(seconds);
});

test.each([
  "",
  "m",
  "-1",
  "1.5h",
  "10 m",
  "10min",
  "1w",
  "8d",
  "604801",
  "99999999999",
  "1e3",
  "0x10",
  "toString",
])("%j is refused, with what can be given", (text) => {
  expect(() => parseStartWithin(text)).toThrow(
    expect.objectContaining({
      code: "USAGE",
      message: "--start-within is not a time of at most 7 days.",
      hint: expect.stringContaining("90s, 10m, 2h, 1d"),
    }),
  );
});
