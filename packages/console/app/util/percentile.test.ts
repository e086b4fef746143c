import { expect, test } from "vitest";
import { findPercentile } from "./percentile.ts";

test("a percentile is one of the values, by the nearest rank", () => {
  const values = [9, 1, 3, 2, 10, 8, 7, 5, 4, 6];
  expect(findPercentile(values, 0.5)).toBe(5);
  expect(findPercentile(values, 0.95)).toBe(10);
  expect(findPercentile([7], 0.5)).toBe(7);
  expect(findPercentile([], 0.5)).toBeUndefined();
});
