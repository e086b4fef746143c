/** Spreadsheets take a cell that begins so for a formula. A tab and a carriage return would hide one. */
const FORMULA = /^[=+\-@\t\r]/u;
const NUMBER = /^-?\d+(?:\.\d+)?$/u;

/** Rows as RFC 4180 has them, the names first. A text that a spreadsheet would run as a formula gets an apostrophe before it. */
export function toCsv(names: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [names, ...rows].map((row) => `${row.map(toCell).join(",")}\r\n`).join("");
}

function toCell(value: string | number): string {
  const text = String(value);
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
