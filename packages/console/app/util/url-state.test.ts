import { expect, test } from "vitest";
import {
  address,
  day,
  exact,
  many,
  oneOf,
  parseSearch,
  search,
  stringifySearch,
  text,
  time,
  whole,
} from "./url-state.ts";

const parse = search({
  tab: oneOf("keys", "token"),
  status: many("PENDING", "RUNNING", "FAILED"),
  min: whole(500),
  after: time(),
  q: text(),
});

test("what was written to a URL is read from it as it was", () => {
  const wanted = {
    tab: "token",
    status: ["PENDING", "FAILED"],
    min: 12,
    after: "2026-11-20 21:17:00",
    q: "a&b=ä #1",
  };
  expect(parse(parseSearch(stringifySearch(wanted)))).toEqual(wanted);
});

test("what is unknown or broken is dropped", () => {
  const query = "?tab=nonsense&status=BROKEN&status=RUNNING&min=-1&after=2026-99-99+99:99:99&q=+&other=1";
  expect(parse(parseSearch(query))).toEqual({ status: ["RUNNING"] });
  // The router merges what is found into the parameters as they stand in the URL.
  expect({ ...parseSearch(query), ...parse(parseSearch(query)) }).toEqual({ status: ["RUNNING"] });
});

test("numbers are bounded, and a name of JavaScript's own is a parameter like any other", () => {
  expect(parse(parseSearch("?min=999999"))).toEqual({ min: 500 });
  expect(parseSearch("?__proto__=1&constructor=2")).toMatchObject({ constructor: "2" });
  expect(parse(parseSearch("?__proto__=1&constructor=2"))).toEqual({});
});

test("a text is cut at its limit and not within a character, and one with U+0000 is dropped", () => {
  const parseWords = search({ q: text(3), tag: text() });
  expect(parseWords(parseSearch("?q=a%F0%9F%98%80bc"))).toEqual({ q: "a😀b" });
  expect(parseWords(parseSearch(`?q=${"a".repeat(3_000)}&tag=x%00`))).toEqual({ q: "aaa" });
});

test("a tag keeps its spaces, and an address is not cut within a letter that was escaped", () => {
  const next = `/o/x/executions?q=${encodeURIComponent("ж".repeat(200))}&min=5000`;
  const parseLinks = search({ tag: exact(64), next: address() });
  expect(parseLinks(parseSearch(stringifySearch({ tag: " x ", next })))).toEqual({ tag: " x ", next });
});

test("a parameter that is undefined is taken out of the URL", () => {
  expect(stringifySearch({ tab: undefined, q: "x" })).toBe("?q=x");
  expect(stringifySearch({})).toBe("");
});

test("a day is one that the calendar has, and so is the day of a time", () => {
  const parseDays = search({ from: day(), to: day() });
  expect(parseDays(parseSearch("?from=2028-02-29&to=2026-02-29"))).toEqual({ from: "2028-02-29" });
  expect(parseDays(parseSearch("?from=0000-01-01&to=2026-1-1"))).toEqual({});
  for (const at of [
    "0000-01-01 00:00:00",
    "2026-02-29 10:00:00",
    "2026-04-31 00:00:00",
    "2026-01-01 24:00:00",
  ])
    expect(parse(parseSearch(stringifySearch({ after: at })))).toEqual({});
  expect(parse({ after: "2028-02-29 23:59:59" })).toEqual({ after: "2028-02-29 23:59:59" });
});
