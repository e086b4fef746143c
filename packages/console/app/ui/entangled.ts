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

/** What an address can end with, and does not: after each of these it is looked whether only such follow, so each is looked at again. */
const MARKS_OF_ADDRESS = /[!"&'()*,.:;<?\]_~]/gu;
/** Marks and entities at a stretch. */
const ENDS_OF_ADDRESS = /(?:[!"'()*,.:;<?\]_~]|&[A-Za-z]*)+/gu;
const MOST_MARKS_OF_ADDRESS = 500;
const ADDRESS = /https?:\/\/|www\./iu;
/**
 * Lines of the text, for each quote and item of a list that begins: after quotes and lists, all that stands before is gone through again.
 * For a heading that is underlined, this takes three times as long.
 */
const MOST_LINES_AGAIN = 10_000_000;
const UNDERLINED = 3;
/** A line that divides, and begins no list though it looks so. */
const RULE = /^[ \t]*(?:-(?:[ \t]*-){2}[- \t]*|\*(?:[ \t]*\*){2}[* \t]*)$/u;
const UNDERLINE = /^ {0,3}(?:=+|-+)[ \t]*$/u;

/** What begins a quote or an item of a list, in a line that begins several. */
const NESTED = /[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$))/uy;

/** Whether a text is better shown as it stands than parsed as Markdown. Takes a time that only its length decides. */
export function isEntangled(text: string): boolean {
  const lines = text.split(/\r\n?|\n/u);
  const columns = lines.reduce((most, line) => Math.max(most, count(line, "|")), 0);
  return (
    columns * lines.length > MOST_CELLS ||
    count(text, "[") > MOST_BRACKETS ||
    count(text, "www.") > MOST_ADDRESSES ||
    text.split(/\n[ \t]*\r?\n/u).some((block) => countMarks(block) > MOST_MARKS) ||
    countReturns(lines) * lines.length > MOST_LINES_AGAIN ||
    text.split(/\s+/u).some(isLongAddress) ||
    lines.some((line) => isNested(line) || (LONG_MARKS.test(line) && /[^*_~\s]/u.test(line)))
  );
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

function countMarks(block: string): number {
  return /[^*_~\s]/u.test(block) ? count(block, "*") + count(block, "_") + count(block, "~") : 0;
}

/** How often what stands before is gone through again. */
function countReturns(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + countBegun(line) + (UNDERLINE.test(line) ? UNDERLINED : 0), 0);
}

function countBegun(line: string): number {
  if (RULE.test(line)) return 0;
  NESTED.lastIndex = 0;
  let found = 0;
  while (found <= MOST_NESTED && NESTED.test(line)) found += 1;
  return found;
}

function isLongAddress(word: string): boolean {
  if (word.length <= MOST_MARKS_OF_ADDRESS || !ADDRESS.test(word)) return false;
  const ends = word.match(ENDS_OF_ADDRESS) ?? [];
  return ends.some((end) => (end.match(MARKS_OF_ADDRESS)?.length ?? 0) > MOST_MARKS_OF_ADDRESS);
}

function isNested(line: string): boolean {
  NESTED.lastIndex = 0;
  for (let found = 0; found <= MOST_NESTED; found += 1) if (!NESTED.test(line)) return false;
  return true;
}
