import { expect, test } from "vitest";
import { chooseOutcomes, describeShare } from "./choose-outcomes.ts";

const OUTCOMES = [
  ["11", 50],
  ["00", 40],
  ["01", 7],
  ["10", 3],
] as const;

test("what is not shown is counted together, and nothing is left out of the sum", () => {
  expect(chooseOutcomes(OUTCOMES, "count", 2)).toEqual({
    shown: OUTCOMES.slice(0, 2),
    rest: { outcomes: 2, count: 10 },
    total: 100,
    largest: 50,
  });
});

test("by outcome, the same ones are in the order of their bits", () => {
  expect(chooseOutcomes(OUTCOMES, "bits", 3).shown.map(([bits]) => bits)).toEqual(["00", "01", "11"]);
});

test("a share has one decimal, and what is hardly there is not said to be none", () => {
  expect([describeShare(1, 8), describeShare(1, 100_000), describeShare(0, 5), describeShare(0, 0)]).toEqual([
    "12.5 %",
    "< 0.1 %",
    "0.0 %",
    "-",
  ]);
});
