/**
 * A number of a JSON text that a double would change, such as 12345678901234567890 or 1e400, as it is written there. `JSON.stringify` writes
 * it as it was.
 */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): unknown {
    return writeRaw?.(this.text) ?? Number(this.text);
  }

  toString(): string {
    return this.text;
  }
}

type WriteRaw = (text: string) => unknown;

/** Not in Node.js 18 and in browsers of before 2025, which read doubles as they always did. */
const writeRaw = (JSON as { readonly rawJSON?: WriteRaw }).rawJSON;

/**
 * Only such a text can have a number that a double would change: most have none, and are read without looking at each value, which takes
 * seven times as long. Where a number can begin only: the digits of identifiers in strings would match in every answer.
 */
const MAY_LOSE = /(?:^|[:,[\s])-?\d(?:[\d.]{15}|[\d.]*[eE])/u;

/** Like `JSON.parse`, but numbers that a double would change are `ExactNumber`, where they can be told. */
export function parseExactNumbers(text: string): unknown {
  return writeRaw !== undefined && MAY_LOSE.test(text) ? JSON.parse(text, keepNumber) : JSON.parse(text);
}

/** A value as `JSON.parse` would have made it: what works with numbers gets numbers. */
export function withoutExactNumbers<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

function keepNumber(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== "number" || source === undefined) return value;
  return String(value) === source || toCanonical(String(value)) === toCanonical(source)
    ? value
    : new ExactNumber(source);
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/iu;

/** Equal texts for equal numbers: its digits without zeros around them, and their power of ten. */
function toCanonical(text: string): string {
  const [, sign, whole = "", fraction = "", power = "0"] = NUMBER.exec(text) ?? [];
  const written = (whole + fraction).replace(/^0+/u, "");
  const digits = trimZeros(written);
  if (digits === "") return sign === "-" ? "-0" : "0";
  return `${sign}${digits}e${Number(power) - fraction.length + written.length - digits.length}`;
}

/** A loop: the pattern for it would look at each run of zeros as often as it is long. */
function trimZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  return digits.slice(0, end);
}

/** How many characters the number has when it is written without a power of ten, at most. */
export function measureExpanded({ text }: ExactNumber): number {
  return text.length + Math.abs(Number(NUMBER.exec(text)?.[4] ?? 0));
}

/** How many digits stand behind its point then. */
export function countDecimals({ text }: ExactNumber): number {
  const [, , , fraction = "", power = "0"] = NUMBER.exec(text) ?? [];
  return Math.max(0, fraction.length - Number(power));
}
