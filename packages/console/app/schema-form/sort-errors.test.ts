import { expect, test } from "vitest";
import { sortErrors, toPointer } from "./sort-errors.ts";

const POINTERS = new Set(["/data", "/data/counts", "/data/a~1b"]);
const sort = (...errors: readonly (readonly [path: string, message: string])[]) =>
  Object.fromEntries(
    sortErrors(
      errors.map(([path, message]) => ({ path, message })),
      POINTERS,
    ),
  );

test("what is wrong with a part stands at its field, and what no field has is not lost", () => {
  expect(sort(["/data/counts", "is not an object."])).toEqual({ "/data/counts": "is not an object." });
  expect(sort(["/data/counts/x/0", "is not a number."], ["/data/counts/y", "is missing."])).toEqual({
    "/data/counts": "/data/counts/x/0 is not a number. /data/counts/y is missing.",
  });
  expect(sort(["/params/n", "is missing."], ["", "It is too deep."])).toEqual({
    "": "/params/n is missing. It is too deep.",
  });
});

test("names are pointers as the platform writes them", () => {
  expect(toPointer(["data", "a/b"])).toBe("/data/a~1b");
  expect(sort(["#/data/a~1b", "is not a text."])).toEqual({ "/data/a~1b": "is not a text." });
});
