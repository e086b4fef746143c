import { expect, test } from "vitest";
import { toCsv } from "./csv.ts";

test("commas, quotes and line breaks stay within their cell", () => {
  expect(toCsv(["a", "b"], [['say "x", y', "two\nlines"]])).toBe('a,b\r\n"say ""x"", y","two\nlines"\r\n');
});

test("a name that a spreadsheet would run is only a text", () => {
  expect(toCsv(["name"], [["x;=cmd|'/C calc'!A0"], [7]])).toBe("name\r\nx;'=cmd|'/C calc'!A0\r\n7\r\n");
});
