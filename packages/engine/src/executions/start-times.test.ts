import { expect, test } from "vitest";
import { Problem } from "@platform/contract/problems";
import { DAY } from "../base/time.ts";
import { requireNear } from "./start-times.ts";

const NOW = Date.parse("2026-11-24T17:00:00Z");

function describeRefusal(startAt: number | undefined, keptDays: number): string | null {
  try {
    requireNear(startAt, { now: NOW, keptDays });
    return null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return `${error.code} ${error.errors?.[0]?.path ?? ""} ${error.message}`;
  }
}

test("a start can be at most seven days ahead, and no longer than executions are kept", () => {
  expect(describeRefusal(undefined, 30)).toBe(null);
  expect(describeRefusal(NOW - 1_000 * DAY, 30)).toBe(null);
  expect(describeRefusal(NOW + 7 * DAY, Infinity)).toBe(null);
  expect(describeRefusal(NOW + 7 * DAY + 1, Infinity)).toMatch(
    /^INVALID_INPUT \/startAt .*at most 7 days from now/,
  );
  expect(describeRefusal(NOW + 1 * DAY, 1)).toBe(null);
  expect(describeRefusal(NOW + 1 * DAY + 1, 1)).toContain("at most 1 day from now");
  expect(describeRefusal(NOW + 8 * DAY, 30)).toContain("at most 7 days from now");
});
