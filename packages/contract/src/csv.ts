/** Rows as lines of RFC 4180, but for the ends of lines. Null: an empty cell. */
export function formatCsv(rows: readonly (readonly (string | number | null)[])[]): readonly string[] {
  return rows.map((cells) => cells.map((cell) => quoteCell(String(cell ?? ""))).join(","));
}

/** A sign that begins a formula at the beginning, or behind what separates cells where a comma is in numbers; also as wide as a letter of Chinese. */
const FORMULA = /(^|[;\t\r\n])(?=\s*[=+\-@\t\r＝＋－＠])/gu;
const NUMBER = /^-?\d+(?:\.\d+)?$/u;

/** What a spreadsheet would compute gets an apostrophe in front: names of users and resources are anybody's. */
function quoteCell(text: string): string {
  const inert = NUMBER.test(text) ? text : text.replaceAll(FORMULA, "$1'");
  return /[",\r\n]/u.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
