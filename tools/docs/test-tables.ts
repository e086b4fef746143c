import { findTestFault } from "./guarantees.ts";
import type { Page } from "./pages.ts";

export const ATTACKS = "docs/security.md";

/** Every row of the table of attacks has what stops it at each level, and in the last column tests that exist. */
export function findAttackFaults({ text }: Page, files: readonly string[]): readonly string[] {
  const lines = text.split("\n");
  const head = lines.findIndex((line) => line.startsWith("| attack |"));
  if (head === -1) return ["no table of attacks was found"];
  const columns = readCells(lines[head] ?? "").length;
  const rows = lines.slice(head + 2).filter((line) => line.startsWith("| "));
  return rows.flatMap((row) => {
    const cells = readCells(row);
    if (cells.length !== columns || cells.includes(""))
      return [`a cell is missing or empty: ${row.slice(0, 60)}`];
    return (cells.at(-1) ?? "").split("<br>").flatMap((test) => findTestFault(test, files));
  });
}

function readCells(row: string): readonly string[] {
  return row
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}
