import { expect, test } from "vitest";
import { isTailCut } from "./is-tail-cut.ts";

test("fewer lines than were asked for are all there are, unless they fill a page", () => {
  expect(isTailCut([{ message: "one" }], 2)).toBe(false);
  expect(isTailCut([{ message: "one" }, { message: "two" }], 2)).toBe(true);
  expect(isTailCut([{ message: "ü".repeat(600_000) }], 2)).toBe(true);
  expect(isTailCut([], 1)).toBe(false);
});
