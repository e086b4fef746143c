import { expect, test } from "vitest";
import { formatCsv } from "./csv.ts";

test.each([
  ["=1+1", "'=1+1"],
  [" @SUM(A1)", "' @SUM(A1)"],
  // Where a comma is in numbers, spreadsheets end cells at semicolons, and know no quotes within a cell.
  ["shop;=1+1;", "shop;'=1+1;"],
  ["shop; +1", "shop;' +1"],
  ["a\t-1", "a\t'-1"],
  ["a\n=1", `"a\n'=1"`],
  ["＝1+1", "'＝1+1"],
])("of %j a spreadsheet computes nothing", (text, cell) => {
  expect(formatCsv([[text, null]])).toEqual([`${cell},`]);
});

test.each(["shop", "a=b", "ada+lab@example.org", "a; b", "2026-11-22", "-2.5", 7])(
  "%j stays as it is",
  (cell) => {
    expect(formatCsv([[cell]])).toEqual([String(cell)]);
  },
);
