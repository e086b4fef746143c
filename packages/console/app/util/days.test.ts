import { expect, test } from "vitest";
import { addDays, choosePeriod, explainPeriod, listDays, listPeriods } from "./days.ts";

const NOW = Date.parse("2026-03-01T23:59:59Z");

test("without days it is the month so far, and with a last day alone the month of that day", () => {
  expect(choosePeriod({}, NOW)).toEqual({ from: "2026-03-01", to: "2026-03-01" });
  expect(choosePeriod({ to: "2026-02-10" }, NOW)).toEqual({ from: "2026-02-01", to: "2026-02-10" });
});

test("all days of a period are listed, also over the turn of a leap year's February", () => {
  expect(listDays({ from: "2028-02-28", to: "2028-03-01" })).toEqual([
    "2028-02-28",
    "2028-02-29",
    "2028-03-01",
  ]);
  expect(addDays("2027-01-01", -1)).toBe("2026-12-31");
});

test("a period that the platform would refuse is explained", () => {
  expect(explainPeriod({ from: "2026-03-01", to: "2026-03-01" })).toBeNull();
  expect(explainPeriod({ from: "2026-03-02", to: "2026-03-01" })).toContain("after the last");
  expect(explainPeriod({ from: "2025-03-01", to: "2026-03-01" })).toBeNull();
  expect(explainPeriod({ from: "2025-02-28", to: "2026-03-01" })).toContain("366");
});

test("every period that is offered is one that the platform takes", () => {
  for (const period of listPeriods(NOW)) expect(explainPeriod(period)).toBeNull();
  expect(listPeriods(NOW)[1]).toMatchObject({ from: "2026-02-01", to: "2026-02-28" });
});
