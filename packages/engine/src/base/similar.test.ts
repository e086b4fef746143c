import { expect, test } from "vitest";
import { findSimilar } from "./similar.ts";

const KNOWN = ["name", "description", "expiresInDays"];

test.each([
  ["a letter is missing", "nme", "name"],
  ["two letters are swapped", "nmae", "name"],
  ["upper and lower case differ", "expiresindays", "expiresInDays"],
  ["several letters differ in a long name", "descritpoin", "description"],
])("a misspelt name means the known one: %s", (_what, name, meant) => {
  expect(findSimilar(name, KNOWN)).toBe(meant);
});

test.each(["role", "", "x".repeat(51)])("'%s' means none of them", (name) => {
  expect(findSimilar(name, [...KNOWN, "y".repeat(51)])).toBeNull();
});
