import { findTestFault } from "./guarantees.ts";
import type { Page } from "./pages.ts";

/** Pages with a table whose last column names tests, by the head of its first column. */
const TEST_TABLES: Readonly<Record<string, string>> = {
  "docs/security.md": "attack",
  "docs/architecture/11-quantum.md": "no.",
};

/** Every row of the table of a page has all of its cells, and in the last one tests that exist. */
export function findTableFaults({ path, text }: Page, files: readonly string[]): readonly string[] {
  const first = TEST_TABLES[path];
  if (first === undefined) return [];
  const lines = text.split("\n");
  const head = lines.findIndex((line) => line.startsWith(`| ${first} |`));
  if (head === -1) return [`no table of '${first}' was found`];
  const columns = readCells(lines[head] ?? "").length;
  const following = lines.slice(head + 2);
  const end = following.findIndex((line) => !line.startsWith("| "));
  return following.slice(0, end === -1 ? following.length : end).flatMap((row) => {
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
