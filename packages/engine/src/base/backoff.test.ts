import { expect, test } from "vitest";
import { computePause } from "./backoff.ts";

test.each([
  [0, 100],
  [1, 200],
  [3, 800],
  [4, 1_000],
  [5_000, 1_000],
])(
  "after %i failures before, the pause is %i ms or up to half of it less, and not the same for all",
  (failures, expected) => {
    const pauses = Array.from({ length: 200 }, () =>
      computePause({ firstMs: 100, ceilingMs: 1_000 }, failures),
    );
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(expected * 0.5);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(expected);
    expect(new Set(pauses).size).toBeGreaterThan(1);
  },
);
