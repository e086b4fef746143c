import { expect, test } from "vitest";
import { toCsv } from "./csv.ts";

test("commas, quotes and line breaks stay within their cell", () => {
  expect(toCsv(["a", "b"], [['say "x", y', "two\nlines"]])).toBe('a,b\r\n"say ""x"", y","two\nlines"\r\n');
});

test("a text that a spreadsheet would run is only a text, and numbers stay numbers", () => {
  expect(toCsv(["name"], [["=1+1"], ["@SUM(A1)"], ["-2.5"], [7]])).toBe(
    "name\r\n'=1+1\r\n'@SUM(A1)\r\n-2.5\r\n7\r\n",
  );
});
