/** Rows as lines of RFC 4180, but for the ends of lines. Null: an empty cell. */
export function formatCsv(rows: readonly (readonly (string | null)[])[]): readonly string[] {
  return rows.map((cells) => cells.map((cell) => quoteCell(cell ?? "")).join(","));
}

/** What a spreadsheet would compute gets an apostrophe in front: names of users and resources are anybody's. */
function quoteCell(text: string): string {
  const inert = /^[\s]*[=+\-@\t\r]/u.test(text) ? `'${text}` : text;
  return /[",\r\n]/u.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
