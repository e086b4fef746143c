import { formatCsv } from "@platform/contract/csv";

/** A file of RFC 4180, the names first. A text that a spreadsheet would run as a formula gets an apostrophe before it. */
export function toCsv(names: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return formatCsv([names, ...rows])
    .map((line) => `${line}\r\n`)
    .join("");
}
