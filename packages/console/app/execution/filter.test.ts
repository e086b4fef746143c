import { expect, test } from "vitest";
import { executionsSearch, isFiltered, toCommand, toFilter } from "./filter.ts";

test("what the platform would refuse is left out of the filter, and the rest stays", () => {
  const search = executionsSearch({
    service: "not-a-key",
    version: "1.2",
    application: "4b0d5ee4-58b5-4a4c-9dbb-0f5f6c7f3a10",
    min: 60_000,
    status: ["FAILED", "UNKNOWN"],
  });
  expect(toFilter(search)).toEqual({
    applicationId: "4b0d5ee4-58b5-4a4c-9dbb-0f5f6c7f3a10",
    minRanMs: 60_000,
    status: ["FAILED", "UNKNOWN"],
  });
});

test("a tab alone is not called a filter", () => {
  expect(isFiltered({ kind: "job" })).toBe(false);
  expect(isFiltered({ kind: "job", q: "x" })).toBe(true);
});

test("the command has the filter as its options, and no key of a terminal", () => {
  expect(toCommand({})).toBe("platform executions ls");
  expect(
    toCommand({
      kind: "job",
      status: ["FAILED", "UNKNOWN"],
      createdAfter: "2026-11-24 00:00:00",
      minRanMs: 1_500,
      q: "it's\u0015\u202E --json\n",
    }),
  ).toBe(
    String.raw`platform executions ls --kind=job --after='2026-11-24 00:00:00' --search='it'\''s --json' --status=FAILED,UNKNOWN --min-ran=1.5`,
  );
});
