/** One line of a requirements file without its comment, continued lines joined. */
export interface LogicalLine {
  /** Number of its first physical line, from 1. */
  readonly number: number;
  /** Words separated by one space; never empty. */
  readonly text: string;
}

/** Why a line is refused, without a final period: what is wrong and what to do. */
export class LineError extends Error {
  override readonly name = "LineError";
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

// pip splits lines with str.splitlines, which also splits at VT, FF, FS, GS, RS, NEL, LS and PS; uv does not. Editors do not show them.
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const FORBIDDEN = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028\u2029\uFEFF]/;
// PEP 263: pip decodes the file by such a comment, and some encodings can hide lines.
const CODING = /coding[:=][ \t]*([-\w.]+)/i;
const CODING_LINES = 2;

/**
 * Splits a requirements file as pip and uv both do, and refuses what they read differently.
 *
 * @throws LineError
 */
export function splitLogicalLines(text: string): readonly LogicalLine[] {
  const lines: LogicalLine[] = [];
  let begun: { readonly number: number; words: string } | null = null;
  for (const [index, raw] of text.replaceAll("\r\n", "\n").split("\n").entries()) {
    const number = index + 1;
    checkCharacters(raw, number);
    const { body, hasComment } = stripComment(raw);
    if (begun !== null && body === "")
      throw new LineError(
        number,
        hasComment
          ? "a comment is inside a continued line; move it above"
          : "the line before is continued by '\\', but nothing follows; remove the '\\'",
      );
    const isContinued = checkBackslashes(raw, body, hasComment, number);
    const words = (isContinued ? body.slice(0, -1) : body).replace(/[ \t]+/g, " ").trim();
    begun =
      begun === null ? { number, words } : { number: begun.number, words: `${begun.words} ${words}`.trim() };
    if (isContinued) continue;
    if (begun.words !== "") lines.push({ number: begun.number, text: begun.words });
    begun = null;
  }
  if (begun !== null)
    throw new LineError(
      begun.number,
      "the last line is continued by '\\', but nothing follows; remove the '\\'",
    );
  return lines;
}

function checkCharacters(raw: string, number: number): void {
  const found = FORBIDDEN.exec(raw)?.[0];
  if (found !== undefined) {
    const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    throw new LineError(number, `it contains the invisible character U+${code}; remove it`);
  }
  const coding = number <= CODING_LINES && raw.startsWith("#") ? CODING.exec(raw)?.[1] : undefined;
  if (coding !== undefined && !/^utf-?8$/i.test(coding))
    throw new LineError(number, `it declares the encoding '${coding}'; save the file as UTF-8`);
}

/** A `#` begins a comment at the start of a line or after a blank. */
function stripComment(raw: string): { readonly body: string; readonly hasComment: boolean } {
  for (let at = raw.indexOf("#"); at !== -1; at = raw.indexOf("#", at + 1)) {
    const before = raw[at - 1];
    if (at === 0 || before === " " || before === "\t")
      return { body: trimBlanks(raw.slice(0, at)), hasComment: true };
  }
  return { body: trimBlanks(raw), hasComment: false };
}

/** Removes blanks only: `trim` also removes characters that pip or uv may keep. */
function trimBlanks(text: string): string {
  let [start, end] = [0, text.length];
  while (text[start] === " " || text[start] === "\t") start += 1;
  while (end > start && (text[end - 1] === " " || text[end - 1] === "\t")) end -= 1;
  return text.slice(start, end);
}

/** Whether the line is continued. pip continues a comment that ends in a backslash, uv does not; pip joins words, uv parts them. */
function checkBackslashes(raw: string, body: string, hasComment: boolean, number: number): boolean {
  if (hasComment && raw.endsWith("\\"))
    throw new LineError(number, "a comment cannot be continued; remove the '\\' at its end");
  const first = body.indexOf("\\");
  if (first === -1) return false;
  const before = body[first - 1];
  const stands = first === 0 || before === " " || before === "\t";
  if (first === body.length - 1 && raw.endsWith("\\") && stands) return true;
  throw new LineError(number, "a '\\' may only stand at the end of a line, after a space, to continue it");
}
