import { expect, test } from "vitest";
import { parseListFilter } from "./paging.ts";

test("of several faults of a list's query, the first in the order of its parameters is named", () => {
  expect(() => parseListFilter({ cursor: ["a", "b"], createdAfter: "yesterday" })).toThrow(
    '"cursor" is given more than once',
  );
  expect(() => parseListFilter({ limit: "0", cursor: ["a", "b"] })).toThrow('"limit" must be');
});
