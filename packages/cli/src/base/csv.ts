/** Rows as lines of RFC 4180, but for the ends of lines. Null: an empty cell. */
export function formatCsv(rows: readonly (readonly (string | null)[])[]): readonly string[] {
  return rows.map((cells) => cells.map((cell) => quoteCell(cell ?? "")).join(","));
}

/** A sign that begins a formula at the beginning, or behind what separates cells where a comma is in numbers; also as wide as a letter of Chinese. */
const FORMULA = /(^|[;\t\r\n])(?=\s*[=+\-@\t\r＝＋－＠])/gu;

/** What a spreadsheet would compute gets an apostrophe in front: names of users and resources are anybody's. */
function quoteCell(text: string): string {
  const inert = text.replaceAll(FORMULA, "$1'");
  return /[",\r\n]/u.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
