import { expect, test } from "vitest";
import { findLargest } from "./capacity.ts";

const toResources = ([cpu = 0, memory = 0]: readonly number[]) => ({ cpu, memory });

test.each([
  ["none", [], []],
  [
    "equal ones once",
    [
      [2, 4],
      [2, 4],
    ],
    [[2, 4]],
  ],
  [
    "the one that exceeds the others",
    [
      [1, 2],
      [4, 8],
      [4, 2],
    ],
    [[4, 8]],
  ],
  [
    "each that has more of something",
    [
      [16, 4],
      [2, 64],
      [2, 4],
    ],
    [
      [16, 4],
      [2, 64],
    ],
  ],
])("the largest workers are %s", (_what, given, expected) => {
  expect(findLargest(given.map(toResources))).toEqual(expected.map(toResources));
});
