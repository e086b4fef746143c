import { expect, test } from "vitest";
import { formatDuration, formatExact, formatRelative, formatSortable, parseTimestamp } from "./times.ts";
import { formatBytes } from "./units.ts";

const NOW = Date.UTC(2026, 10, 20, 12, 0, 0);

test("a time of the wire is UTC, whatever the zone of the browser", () => {
  expect(parseTimestamp("2026-11-20 21:17:00")).toBe(Date.UTC(2026, 10, 20, 21, 17, 0));
});

test.each([
  [0, "now"],
  [-5_000, "5 seconds ago"],
  [-59_900, "59 seconds ago"],
  [-60_000, "1 minute ago"],
  [-7_300_000, "2 hours ago"],
  [3 * 86_400_000, "in 3 days"],
  [7 * 86_400_000 - 5_000, "in 7 days"],
  [5_400_000 - 1, "in 1 hour"],
  [-100 * 86_400_000, "3 months ago"],
  [-800 * 86_400_000, "2 years ago"],
])("%i ms from now is %s", (distance, words) => {
  expect(formatRelative(NOW + distance, NOW, "en")).toBe(words);
});

test("an exact time names its zone", () => {
  expect(formatExact(NOW, "utc", "en-GB")).toBe("20 Nov 2026, 12:00:00 UTC");
});

test("the time of a log's line is that of the chosen zone", () => {
  const offset = new Date(NOW).getTimezoneOffset() * 60_000;
  expect(formatSortable(NOW, "utc")).toBe("2026-11-20 12:00:00");
  expect(formatSortable(NOW + offset, "local")).toBe("2026-11-20 12:00:00");
});

test.each([
  [80, "80 ms"],
  [1_400, "1.40 s"],
  [999.6, "1.00 s"],
  [12_340, "12.3 s"],
  [59_980, "1 min"],
  [200_000, "3 min 20 s"],
  [900_000, "15 min"],
  [86_400_000, "1 d"],
  [7_500_000, "2 h 5 min"],
  [90_000_000, "1 d 1 h"],
])("%i ms are written as %s", (milliseconds, words) => {
  expect(formatDuration(milliseconds)).toBe(words);
});

test.each([
  [812, "812 B"],
  [1_258_291, "1.2 MB"],
  [5_368_709_120, "5 GB"],
  [5_368_709_119, "5.0 GB"],
  [268_435_456, "256 MB"],
])("%i bytes are written as %s", (bytes, words) => {
  expect(formatBytes(bytes)).toBe(words);
});
