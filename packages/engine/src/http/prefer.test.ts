import { threadCpuUsage } from "node:process";
import { expect, test } from "vitest";
import { prefersDryRun } from "./prefer.ts";

test.each([
  "dry-run",
  "Dry-Run",
  " dry-run ",
  "wait=10, dry-run",
  "dry-run;a=b",
  "a,\tdry-run=true",
  "dry-run, wait=3",
])("Prefer: %j is a rehearsal", (prefer) => expect(prefersDryRun({ headers: { prefer } })).toBe(true));

test.each([undefined, "", "wait=10", "dry-runs", "no-dry-run", "dry", "dry-run2, wait=1"])(
  "Prefer: %j is none",
  (prefer) => expect(prefersDryRun({ headers: { prefer } })).toBe(false),
);

test("a long header is read in linear time", () => {
  const prefer = `${", \t".repeat(300_000)}x`;
  const before = threadCpuUsage();
  expect(prefersDryRun({ headers: { prefer } })).toBe(false);
  // Microseconds of processor time: other work of the machine is no matter.
  expect(threadCpuUsage(before).user).toBeLessThan(1_000_000);
});
