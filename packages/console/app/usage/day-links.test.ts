import { expect, test } from "vitest";
import { listDayLinks } from "./day-links.ts";

const DAY = { after: "2026-02-28 00:00:00", before: "2026-03-01 00:00:00" };

test("a day of what was used leads to jobs and outgoing executions, and to no incoming ones", () => {
  expect(listDayLinks("2026-02-28", "consumer")).toEqual([
    { label: "Jobs", search: { kind: "job", ...DAY } },
    { label: "Outgoing", search: { kind: "outgoing", ...DAY } },
  ]);
});

test("a day of what others have used leads to incoming executions alone", () => {
  expect(listDayLinks("2026-02-28", "provider")).toEqual([
    { label: "Incoming", search: { kind: "incoming", ...DAY } },
  ]);
});
