import { expect, test } from "vitest";
import { choosePeriod, toBuckets } from "./buckets.ts";

const NOW = Date.UTC(2026, 10, 28, 10, 30);

test("the last day is counted by hour, and long periods by day", () => {
  expect(choosePeriod({}, NOW)).toMatchObject({ by: "hour", from: Date.UTC(2026, 10, 27, 10) });
  expect(choosePeriod({ createdAfter: "2026-11-01 00:00:00" }, NOW)).toMatchObject({
    by: "day",
    from: Date.UTC(2026, 10, 1),
    to: Date.UTC(2026, 10, 29),
  });
});

test("a period that is longer than the platform counts begins later", () => {
  const { filter } = choosePeriod({ createdAfter: "2020-01-01 00:00:00", q: "x" }, NOW);
  expect(filter).toEqual({ createdAfter: "2025-11-28 00:00:00", q: "x" });
});

test.each(["0001-01-01 00:00:00", "1970-01-01 00:00:00", "1969-12-31 23:30:00"])(
  "what is counted before %s is a day as any other",
  (createdBefore) => {
    const period = choosePeriod({ createdBefore }, NOW);
    expect(toBuckets(period, []).length).toBeLessThanOrEqual(25);
    const both = choosePeriod({ createdAfter: createdBefore, createdBefore }, NOW);
    expect(toBuckets(both, [])).toHaveLength(1);
  },
);

test("hours without an execution are there, and those with some have their states", () => {
  const period = choosePeriod({ createdAfter: "2026-11-28 08:10:00" }, NOW);
  const buckets = toBuckets(period, [
    { key: "2026-11-28 09:00:00", status: "FAILED", count: 2 },
    { key: "2026-11-28 09:00:00", status: "SUCCEEDED", count: 3 },
  ]);
  expect(buckets.map(({ from, total }) => [from, total])).toEqual([
    ["2026-11-28 08:00:00", 0],
    ["2026-11-28 09:00:00", 5],
    ["2026-11-28 10:00:00", 0],
  ]);
  expect(buckets[1]?.counts).toEqual({ FAILED: 2, SUCCEEDED: 3 });
});
