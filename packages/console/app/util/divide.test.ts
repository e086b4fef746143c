import { expect, test } from "vitest";
import { divide } from "./divide.ts";

test.each([
  [[], []],
  [[1, 2, 3], [[1, 2, 3]]],
  [
    [1, 2, 3, 4, 5, 6, 7],
    [[1, 2, 3], [4, 5, 6], [7]],
  ],
])("%j is divided into %j", (items, parts) => {
  expect(divide(items, 3)).toEqual(parts);
});
