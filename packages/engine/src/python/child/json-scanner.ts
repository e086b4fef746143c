/*
 * Judges JSON text of user code without making values of it: `JSON.parse` takes half a second for a megabyte of brackets. It takes
 * what the runner writes: RFC 8259 in ASCII, without space between the tokens.
 *
 * Each function is told where a part begins and returns where it has ended, or `NO_JSON`.
 */

const NO_JSON = -1;

const [QUOTE, COMMA, MINUS, DOT, COLON, BACKSLASH] = [0x22, 0x2c, 0x2d, 0x2e, 0x3a, 0x5c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const [ZERO, NINE, EXPONENT, PLUS, LOWER, UNICODE] = [0x30, 0x39, 0x65, 0x2b, 0x20, 0x75];
const [FIRST_PRINTABLE, LAST_ASCII] = [0x20, 0x7f];
const WORDS = ["true", "false", "null"].map((word) => Buffer.from(word));
const SIMPLE_ESCAPES: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));
const HEX_DIGITS = 4;
const ESCAPE_LENGTH = 6;
const [HIGH, LOW, BEYOND] = [0xd800, 0xdc00, 0xe000];
const REPLACEMENT = Buffer.from("fffd");

/** What a text may contain. */
interface Bounds {
  /** Nested objects and arrays; a flat object has one level. */
  readonly levels: number;
  /** Names that the outermost object must not have. */
  readonly reserved: readonly string[];
}

/**
 * Whether bytes are the text of one object within the bounds. Escapes of half a surrogate pair, which is no character and which parsers of
 * many languages refuse, are replaced in it by U+FFFD.
 */
export function scanObject(bytes: Buffer, bounds: Bounds): boolean {
  return bytes[0] === OPEN_OBJECT && skipObject(bytes, 0, bounds, bounds.levels - 1) === bytes.length;
}

/** @param levels how many more there may be below this value */
function skipValue(bytes: Buffer, at: number, bounds: Bounds, levels: number): number {
  const first = bytes[at];
  if (first === QUOTE) return skipText(bytes, at);
  if (first === OPEN_OBJECT) return levels < 1 ? NO_JSON : skipObject(bytes, at, bounds, levels - 1);
  if (first === OPEN_ARRAY) return levels < 1 ? NO_JSON : skipArray(bytes, at, bounds, levels - 1);
  return isDigit(first) || first === MINUS ? skipNumber(bytes, at) : skipWord(bytes, at);
}

function skipArray(bytes: Buffer, start: number, bounds: Bounds, levels: number): number {
  if (bytes[start + 1] === CLOSE_ARRAY) return start + 2;
  let at = start;
  do {
    at = skipValue(bytes, at + 1, bounds, levels);
  } while (at !== NO_JSON && bytes[at] === COMMA);
  return at !== NO_JSON && bytes[at] === CLOSE_ARRAY ? at + 1 : NO_JSON;
}

function skipObject(bytes: Buffer, start: number, bounds: Bounds, levels: number): number {
  if (bytes[start + 1] === CLOSE_OBJECT) return start + 2;
  const isOutermost = start === 0;
  let at = start;
  do {
    const name = at + 1;
    at = bytes[name] === QUOTE ? skipText(bytes, name) : NO_JSON;
    if (at === NO_JSON || bytes[at] !== COLON) return NO_JSON;
    if (isOutermost && isReserved(bytes, name, at, bounds)) return NO_JSON;
    at = skipValue(bytes, at + 1, bounds, levels);
  } while (at !== NO_JSON && bytes[at] === COMMA);
  return at !== NO_JSON && bytes[at] === CLOSE_OBJECT ? at + 1 : NO_JSON;
}

function isReserved(bytes: Buffer, start: number, end: number, { reserved }: Bounds): boolean {
  return reserved.some((name) => isName(bytes, start, end, name));
}

/** Whether the text between these places, with its quotes, is the name in any spelling. */
function isName(bytes: Buffer, start: number, end: number, name: string): boolean {
  const length = end - start - 2;
  if (length < name.length || length > name.length * ESCAPE_LENGTH) return false;
  return JSON.parse(bytes.toString("latin1", start, end)) === name;
}

function skipText(bytes: Buffer, start: number): number {
  let at = start + 1;
  for (let byte = bytes[at]; byte !== undefined && byte !== QUOTE; byte = bytes[at]) {
    if (byte < FIRST_PRINTABLE || byte > LAST_ASCII) return NO_JSON;
    at = byte === BACKSLASH ? skipEscape(bytes, at) : at + 1;
    if (at === NO_JSON) return NO_JSON;
  }
  return at < bytes.length ? at + 1 : NO_JSON;
}

function skipEscape(bytes: Buffer, start: number): number {
  if (bytes[start + 1] !== UNICODE) return SIMPLE_ESCAPES.has(bytes[start + 1] ?? 0) ? start + 2 : NO_JSON;
  const unit = readUnit(bytes, start);
  const end = start + ESCAPE_LENGTH;
  if (unit < HIGH || unit >= BEYOND) return unit === NO_JSON ? NO_JSON : end;
  const next = unit < LOW && bytes[end] === BACKSLASH ? readUnit(bytes, end) : NO_JSON;
  if (next >= LOW && next < BEYOND) return end + ESCAPE_LENGTH;
  REPLACEMENT.copy(bytes, start + 2);
  return end;
}

/** The number of the escape that begins here. */
function readUnit(bytes: Buffer, start: number): number {
  if (bytes[start + 1] !== UNICODE) return NO_JSON;
  let unit = 0;
  for (let at = start + 2; at < start + 2 + HEX_DIGITS; at += 1) {
    const digit = readHexDigit(bytes[at]);
    if (digit === NO_JSON) return NO_JSON;
    unit = unit * 16 + digit;
  }
  return unit;
}

function readHexDigit(byte: number | undefined): number {
  if (byte === undefined) return NO_JSON;
  if (isDigit(byte)) return byte - ZERO;
  const letter = byte | LOWER;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : NO_JSON;
}

function skipNumber(bytes: Buffer, start: number): number {
  const first = bytes[start] === MINUS ? start + 1 : start;
  let at = bytes[first] === ZERO ? first + 1 : skipDigits(bytes, first);
  if (at !== NO_JSON && bytes[at] === DOT) at = skipDigits(bytes, at + 1);
  if (at === NO_JSON || ((bytes[at] ?? 0) | LOWER) !== EXPONENT) return at;
  const sign = bytes[at + 1];
  return skipDigits(bytes, sign === PLUS || sign === MINUS ? at + 2 : at + 1);
}

/** One digit at least. */
function skipDigits(bytes: Buffer, start: number): number {
  let at = start;
  while (isDigit(bytes[at])) at += 1;
  return at === start ? NO_JSON : at;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

function skipWord(bytes: Buffer, start: number): number {
  for (const word of WORDS) {
    const end = start + word.length;
    if (end <= bytes.length && word.compare(bytes, start, end) === 0) return end;
  }
  return NO_JSON;
}
