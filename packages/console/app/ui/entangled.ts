/*
 * Markdown is its author's, and who opens the page waits for its parser: a table of six kilobytes may have a million cells, and quotes
 * within quotes exhaust the stack after seconds. What nobody writes for people is not parsed.
 */
const MOST_CELLS = 50_000;
const MOST_NESTED = 50;
const MOST_BRACKETS = 5_000;
/** Addresses without a scheme. */
const MOST_ADDRESSES = 500;
/** Marks of emphasis at a stretch; a line of nothing else is a rule. */
const LONG_MARKS = /[*_~]{100}/u;
/** Of emphasis in what no empty line divides. */
const MOST_MARKS = 3_000;

/** What begins a quote or an item of a list, in a line that begins several. */
const NESTED = /[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))/uy;

/** Whether a text is better shown as it stands than parsed as Markdown. Takes a time that only its length decides. */
export function isEntangled(text: string): boolean {
  const lines = text.split(/\r\n?|\n/u);
  const columns = lines.reduce((most, line) => Math.max(most, count(line, "|")), 0);
  return (
    columns * lines.length > MOST_CELLS ||
    count(text, "[") > MOST_BRACKETS ||
    count(text, "www.") > MOST_ADDRESSES ||
    text.split(/\n[ \t]*\r?\n/u).some((block) => countMarks(block) > MOST_MARKS) ||
    lines.some((line) => isNested(line) || (LONG_MARKS.test(line) && /[^*_~\s]/u.test(line)))
  );
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

function countMarks(block: string): number {
  return /[^*_~\s]/u.test(block) ? count(block, "*") + count(block, "_") + count(block, "~") : 0;
}

function isNested(line: string): boolean {
  NESTED.lastIndex = 0;
  for (let found = 0; found <= MOST_NESTED; found += 1) if (!NESTED.test(line)) return false;
  return true;
}
