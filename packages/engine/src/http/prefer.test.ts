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
  const began = performance.now();
  expect(prefersDryRun({ headers: { prefer } })).toBe(false);
  expect(performance.now() - began).toBeLessThan(1_000);
});
