import { expect, test } from "vitest";
import { selectLines } from "./select-lines.ts";

const line = (severity: string, message: string) => ({ timestamp: "2026-11-28 00:00:00", severity, message });
const LINES = [line("DEBUG", "a"), line("INFO", "Loading B"), line("ERROR", "b failed"), line("OWN", "b")];

test("a severity takes out what is less severe, and words what does not contain them", () => {
  expect(selectLines(LINES, "", "")).toBe(LINES);
  expect(selectLines(LINES, "WARNING", "")).toEqual([LINES[2]]);
  expect(selectLines(LINES, "", " B ")).toEqual([LINES[1], LINES[2], LINES[3]]);
});
