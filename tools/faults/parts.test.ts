import { expect, test } from "vitest";
import { split } from "./parts.ts";
import { readWish, toArguments } from "./wish.ts";

const splitOf = (...args: string[]) =>
  split(readWish(["--seed", "1", ...args])).map(({ first, schedules }) => [first, schedules]);

test("a campaign is split into parts of which a stop loses little", () => {
  expect(splitOf("--fleets", "2", "--schedules", "120")).toEqual([
    [0, 50],
    [50, 50],
    [100, 20],
  ]);
});

test("a small campaign has a part for each platform", () => {
  expect(splitOf("--fleets", "2", "--schedules", "21", "--first", "7")).toEqual([
    [7, 11],
    [18, 10],
  ]);
  expect(splitOf("--fleets", "2", "--schedules", "1")).toEqual([[0, 1]]);
});

test("a part is asked for by arguments that say the same", () => {
  const wish = readWish([
    "--seed",
    "3",
    "--first",
    "4",
    "--schedules",
    "5",
    "--within",
    "6",
    "--keep",
    "--plain",
  ]);
  expect(readWish(toArguments(wish))).toEqual(wish);
});

test.for([["--seed", "x"], ["--schedules", "0"], ["--fleets", "0"], ["--within", "1.5"], ["--first=-1"]])(
  "%s is refused",
  (args) => {
    expect(() => readWish(args)).toThrow(TypeError);
  },
);
