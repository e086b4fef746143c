import { expect, test } from "vitest";
import type { Usage } from "@platform/contract/platform-api/usage";
import { formatRoundedUsage, formatUsage, sumUsage } from "./sum.ts";

function line(cpuSeconds: number, amount: string): Usage {
  const numbers = { executions: 2, succeeded: 1, failed: 1, unknown: 0, notCharged: 1, gbSeconds: 0.1 };
  return { key: amount, label: amount, ...numbers, cpuSeconds, cost: [{ currency: "EUR", amount }] };
}

test("lines are added up without the errors of binary fractions", () => {
  expect(sumUsage([line(0.1, "0.1"), line(0.2, "0.2"), line(0.000001, "0.0000001")])).toEqual({
    executions: 6,
    succeeded: 3,
    failed: 3,
    unknown: 0,
    notCharged: 3,
    cpuSeconds: 0.300001,
    gbSeconds: 0.3,
    cost: [{ currency: "EUR", amount: "0.3000001" }],
  });
});

test("of nothing the sum is nothing", () => {
  expect(sumUsage([])).toMatchObject({ executions: 0, cpuSeconds: 0, cost: [] });
});

test("a number has all of its digits, and rounded it is never nothing where there is something", () => {
  const numbers = [0, 3, 0.010064, 0.009999, 0.000001, 12.346];
  expect(numbers.map(formatUsage)).toEqual(["0", "3", "0.010064", "0.009999", "0.000001", "12.346"]);
  expect(numbers.map(formatRoundedUsage)).toEqual(["0", "3", "0.01", "< 0.01", "< 0.01", "12.35"]);
});
