import { expect, test } from "vitest";
import { KEPT, listPlanChoices } from "./plan-choices.ts";

const PRICES = { currency: "EUR", perExecution: "0", perCpuSecond: "0" };
const TEAM = { ...PRICES, id: "team", name: "Team", revision: 2, monthly: "25" };
const FREE = { ...PRICES, id: "free", name: "Free", revision: 1, monthly: "0" };
const NO_CHANGE = { value: KEPT, label: "Team: 25 EUR a month" };

test("a plan stays as it is, or becomes another one", () => {
  expect(listPlanChoices(TEAM, [FREE, TEAM])).toEqual([NO_CHANGE, { value: "free", label: "Free" }]);
});

test("other terms of the same plan are a choice of their own", () => {
  expect(listPlanChoices(TEAM, [{ ...TEAM, revision: 3, monthly: "30" }])).toEqual([
    { value: KEPT, label: "Team: 25 EUR a month (the terms so far)" },
    { value: "team", label: "Team: 30 EUR a month (the terms of today)" },
  ]);
});

test("a plan that is not offered any more stays nevertheless", () => {
  expect(listPlanChoices(TEAM, [FREE])[0]).toEqual({
    value: KEPT,
    label: "Team: 25 EUR a month (no longer offered)",
  });
});
