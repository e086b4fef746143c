import { expect, test } from "vitest";
import type { PutPlan } from "@platform/contract/platform-api/plans";
import { readTerms } from "./plan-terms.ts";

type Limits = NonNullable<PutPlan["limits"]>;

const CASES: readonly (readonly [string, "execution" | "cpu-second", Limits, number | null])[] = [
  ["CPU-seconds without a number", "cpu-second", { perMonth: 100 }, 8],
  ["CPU-seconds and null", "cpu-second", { perMonth: 100, concurrent: null }, 8],
  ["CPU-seconds and a number", "cpu-second", { perMonth: 100, concurrent: 200 }, 200],
  ["executions", "execution", { perMonth: 100 }, null],
];

test.each(CASES)(
  "a plan with a cap of %s has this many executions at one time",
  (_, unit, limits, expected) => {
    expect(readTerms({ name: "Plan", unit, limits }).concurrent).toBe(expected);
  },
);

test("a plan of CPU-seconds without a cap has any number of executions at one time", () => {
  expect(readTerms({ name: "Plan", unit: "cpu-second", included: 5 }).concurrent).toBeNull();
});
