import { createTextFinder } from "./text-finder.ts";

/** Stands where a secret was. */
const REPLACEMENT = "[secret]";
/** Shorter parts of a value are left: they would be found everywhere. */
const LEAST_LENGTH = 6;
/**
 * Who sets the values chooses how long it takes to make them ready: with a million spellings 2 s, in which nothing else goes on. So only so many
 * lines are looked for, the longest (a value as long as may be has 130 of 64 characters), and so many characters, of the shortest texts, in other
 * spellings than their own.
 */
const MOST_LINES = 2_000;
const MOST_SPELLED = 200_000;

/** Replaces each secret in a text. `limit`: a text of so many UTF-16 units was cut there, maybe within a secret. */
export type Redact = (text: string, limit?: number) => string;

/** How the end of a line that was too long is written (child/log-splitter.ts), behind what is left of a character. */
const CUT = /\uFFFD* \[line cut: \d+ bytes\]$/u;
/** Behind what was shortened: failures are, by the runner, and Python shortens values in messages. */
const SHORTENED = ["\u2026", "..."];
// oxlint-disable-next-line no-control-regex -- a log has none of them, so a value is looked for between them
const CONTROLS = /[\u0000-\u001F\u007F-\u009F]+/u;

/**
 * Finds the values as they are, piece by piece where a value has several lines (a log has one at a time), and as JSON, `repr` and
 * addresses write them. What a program encodes otherwise, or prints in several lines, is not found.
 */
export function createRedaction(values: readonly string[]): Redact {
  const wanted = new Set(listForms(values));
  if (wanted.size === 0) return (text) => text;
  const find = createTextFinder([...wanted]);
  return (text, limit = Infinity) => {
    const note = CUT.exec(text)?.[0] ?? "";
    const isCut = note !== "" || text.length >= limit;
    const end = text.length - note.length;
    /** Whether what stands before this place may be the beginning of a value whose rest was cut off. */
    const endsWithin = (place: number) =>
      (isCut && place === end) || SHORTENED.some((mark) => text.startsWith(mark, place));
    let redacted = "";
    let from = 0;
    for (let at = 0; at <= end - LEAST_LENGTH; at++) {
      const { found, reached } = find(text, at, end);
      const length = reached >= LEAST_LENGTH && endsWithin(at + reached) ? reached : found;
      if (length === 0) continue;
      redacted += text.slice(from, at) + REPLACEMENT;
      from = at + length;
      at = from - 1;
    }
    return redacted + text.slice(from);
  };
}

/** By the list of values, which all runs share until a value changes. */
const made = new WeakMap<readonly string[], Redact>();

/** `createRedaction`, once for each list: of large values it takes milliseconds. */
export function redactionOf(values: readonly string[]): Redact {
  const known = made.get(values);
  if (known !== undefined) return known;
  const redact = createRedaction(values);
  made.set(values, redact);
  return redact;
}

/** The values and their lines, each as it looks in a log. */
function listForms(values: readonly string[]): readonly string[] {
  const lines = trimAll(values.flatMap((value) => value.split(CONTROLS)));
  const most = [...lines].sort((a, b) => b.length - a.length).slice(0, MOST_LINES);
  const texts = [...new Set([...trimAll(values), ...most])].sort((a, b) => a.length - b.length);
  let spelled = 0;
  return texts.flatMap((text) => {
    spelled += text.length;
    return spelled <= MOST_SPELLED ? listSpellings(text) : [text];
  });
}

function trimAll(texts: readonly string[]): readonly string[] {
  return texts.map((text) => text.trim()).filter(({ length }) => length >= LEAST_LENGTH);
}

function listSpellings(text: string): readonly string[] {
  const json = JSON.stringify(text).slice(1, -1);
  // Python's json writes only ASCII, its quote leaves slashes, and quote_plus writes spaces as plus signs.
  const ascii = json.replaceAll(/[^ -~]/gu, (character) => toUnicodeEscapes(character));
  const address = encodeURIComponent(text).replaceAll(
    /[!'()*]/gu,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const repr = text.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\n", "\\n");
  return [text, json, ascii, repr, address, address.replaceAll("%2F", "/"), address.replaceAll("%20", "+")];
}

function toUnicodeEscapes(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}
