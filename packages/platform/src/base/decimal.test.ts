import { describe, expect, test } from "vitest";
import { formatDecimal, parseAmount, parseDecimal } from "./decimal.ts";

const write = (given: string | number): string | null => {
  const value = parseDecimal(given);
  return value === null ? null : formatDecimal(value);
};

describe("a decimal number", () => {
  test.each<readonly [string | number, string | null]>([
    ["0", "0"],
    ["0.30", "0.3"],
    [0.1, "0.1"],
    [1e-9, "0.000000001"],
    [1.5e-7, "0.00000015"],
    [1e21, "1000000000000000000000"],
    ["12345678901234567890.000000000001", "12345678901234567890.000000000001"],
    ["0.0000000000001", null],
    [Number.NaN, null],
    [-1, null],
    ["1.", null],
    ["", null],
  ])("%s is %s, and nothing is lost", (given, text) => {
    expect(write(given)).toBe(text);
  });

  test("sums are exact where those of doubles are not", () => {
    const [a = 0n, b = 0n] = [parseDecimal("0.1"), parseDecimal("0.2")].map((value) => value ?? 0n);
    expect(formatDecimal(a + b)).toBe("0.3");
  });

  test("an amount has nine digits behind the point at most", () => {
    expect(parseAmount("0.000000001")).toBe(1000n);
    expect(parseAmount("0.0000000001")).toBeNull();
  });
});
