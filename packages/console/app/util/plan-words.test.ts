import { expect, test } from "vitest";
import {
  describePrice,
  describePriceBeside,
  describePriceFrom,
  listLimits,
  sortByPrice,
} from "./plan-words.ts";

const FREE = { currency: null, monthly: "0", perExecution: "0.00", perCpuSecond: "0" };
const NO_LIMITS = { perMonth: null, perMinute: null, concurrent: null, applications: null };

test("a plan without any price is free", () => {
  expect(describePrice(FREE)).toBe("Free");
});

test("a plan that is called Free says it once", () => {
  expect(describePriceBeside({ ...FREE, name: "Free" })).toBeNull();
  expect(describePriceBeside({ ...FREE, name: "Team" })).toBe("Free");
});

test("prices are shown digit by digit, those that are zero are left out", () => {
  const paid = { ...FREE, currency: "EUR", monthly: "10", perCpuSecond: "0.000001" };
  expect(describePrice(paid)).toBe("10 EUR a month + 0.000001 EUR a CPU-second");
});

test("the cheapest plan is the first, whatever it is called", () => {
  const paid = { ...FREE, currency: "EUR" };
  const plans = [
    { ...paid, name: "Annual", monthly: "100" },
    { ...paid, name: "Big", monthly: "49" },
    { ...paid, name: "Pay as you go", perExecution: "0.002" },
    { ...FREE, name: "Trial" },
    { ...paid, name: "Dollars", currency: "USD", monthly: "0.5" },
  ];
  const sorted = ["Trial", "Pay as you go", "Big", "Annual", "Dollars"];
  expect(sortByPrice(plans).map(({ name }) => name)).toEqual(sorted);
});

test("of a service, what its cheapest plan costs is said as the least only where another costs something else", () => {
  const paid = { ...FREE, currency: "EUR", monthly: "5" };
  expect(describePriceFrom(paid, false)).toBe("5 EUR a month");
  expect(describePriceFrom(paid, true)).toBe("from 5 EUR a month");
  expect(describePriceFrom(FREE, false)).toBe("Free");
  expect(describePriceFrom(FREE, true)).toBe("Free, or paid plans");
});

test("each limit is a line, in the unit of the plan", () => {
  const limits = { ...NO_LIMITS, perMonth: 5, concurrent: 2 };
  expect(listLimits({ unit: "cpu-second", included: 3, limits })).toEqual([
    "3 CPU-seconds a month included",
    "At most 5 CPU-seconds a month",
    "At most 2 executions at one time",
  ]);
  expect(listLimits({ unit: "execution", included: 0, limits: NO_LIMITS })).toEqual([]);
});

test("one of something is said as one", () => {
  const limits = { perMonth: 1, perMinute: 1, concurrent: 1, applications: 1 };
  expect(listLimits({ unit: "execution", included: 1, limits })).toEqual([
    "1 execution a month included",
    "At most 1 execution a month",
    "At most 1 start a minute",
    "At most 1 execution at one time",
    "For at most one of your applications",
  ]);
});
