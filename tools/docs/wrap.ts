/** Columns of a line of prose. Tables, code, links and headings may be longer: they cannot be broken. */
export const WIDTH = 100;

/** At the beginning of a line these would be a list, a heading, a quotation or a table. */
const NEVER_FIRST = /^(?:[-*+]|-{2,}|=+|#{1,6}|\d+[.)])$|^[>|]/;
/** A line that is not prose, whatever surrounds it. */
const VERBATIM = /^\s*(?:$|[|<]|#+ |-{3,}$|\[[^\]]+\]: )/;
const ITEM = /^(\s*(?:[-*+]|\d+\.) +)\S/;
const FENCE = /^\s*(?:```|~~~)/;
/** Code spans are not broken, so that they can be searched for; so are links without a space in their text. */
const WORD = /(?:`[^`]+`|\S)+/gu;

interface Block {
  readonly isProse: boolean;
  readonly lines: string[];
}

/** The page with its prose in lines of at most WIDTH; paragraphs whose lines all fit stay as they are. */
export function wrapPage(text: string): string {
  return splitBlocks(text.split("\n")).flatMap(wrapBlock).join("\n");
}

/** Paragraphs and items of lists, and between them the lines that are no prose. */
function splitBlocks(lines: readonly string[]): readonly Block[] {
  const blocks: Block[] = [];
  let isCode = false;
  let isInList = false;
  let current: Block | null = null;
  for (const line of lines) {
    const isFence = FENCE.test(line);
    if (isCode || isFence || isVerbatim(line, current !== null || isInList)) {
      if (isFence) isCode = !isCode;
      current = null;
      blocks.push({ isProse: false, lines: [line] });
      continue;
    }
    const isItem = ITEM.test(line);
    isInList = isItem || (isInList && (/^\s/.test(line) || current !== null));
    if (isItem || current === null) blocks.push((current = { isProse: true, lines: [] }));
    current.lines.push(line);
  }
  return blocks;
}

/** Four spaces are code, unless they go on with a paragraph or an item. */
function isVerbatim(line: string, goesOn: boolean): boolean {
  return VERBATIM.test(line) || (!goesOn && /^ {4}/.test(line));
}

function wrapBlock({ isProse, lines }: Block): readonly string[] {
  if (!isProse || lines.every((line) => line.length <= WIDTH)) return lines;
  const [first = ""] = lines;
  const prefix = ITEM.exec(first)?.[1] ?? /^[\s>]*/.exec(first)?.[0] ?? "";
  const hanging = prefix.includes(">") ? prefix : " ".repeat(prefix.length);
  const words = lines
    .map((line, index) => line.slice(index === 0 ? prefix.length : 0).replace(/^[\s>]+/, ""))
    .join(" ")
    .match(WORD);
  return fill(words ?? [], prefix, hanging);
}

function fill(words: readonly string[], prefix: string, hanging: string): readonly string[] {
  const wrapped: string[] = [];
  let line = prefix;
  let isEmpty = true;
  for (const word of words) {
    const fits = line.length + 1 + word.length <= WIDTH;
    if (!isEmpty && !fits && !NEVER_FIRST.test(word)) {
      wrapped.push(line);
      line = hanging;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...wrapped, line];
}
