import { expect, test } from "vitest";
import { parseListFilter, readTime } from "./paging.ts";

test("of several faults of a list's query, the first in the order of its parameters is named", () => {
  expect(() => parseListFilter({ cursor: ["a", "b"], createdAfter: "yesterday" })).toThrow(
    '"cursor" is given more than once',
  );
  expect(() => parseListFilter({ limit: "0", cursor: ["a", "b"] })).toThrow('"limit" must be');
});

test.each(["2026-02-30 00:00:00", "2026-11-29 24:00:00", "2026-13-01 00:00:00", "2026-11-29"])(
  "%s is no time",
  (text) => expect(() => readTime("createdAfter", text)).toThrow('"createdAfter"'),
);

test("a time is one in UTC", () => expect(readTime("start", "1970-01-02 00:00:01")).toBe(86_401_000));
