import { ExactNumber } from "@platform/contract/exact-number";

/** Whether a JSON value is an object: neither null nor an array, nor a number whose digits are kept. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return isContainer(value) && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** Whether a JSON value is nested deeper than `levels`; a flat object has one level. Iterative, so that no value overflows the stack. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  let level: readonly object[] = isContainer(value) ? [value] : [];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((container) => Object.values(container).filter(isContainer));
  }
  return false;
}

/** Whether a JSON value is an object or an array. */
export function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
/** `{` and `}`, `[` and `]`, once this bit is set. */
const [OPEN, CLOSE, CURLY] = [0x7b, 0x7d, 0x20];

/**
 * Whether a JSON text is nested deeper than `levels`, before it is parsed: `JSON.parse` takes half a second for 4 MB of brackets, ten times as long
 * as for anything else. Of a text that is no JSON the answer means nothing.
 */
export function isTextDeeperThan(text: string, levels: number): boolean {
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) isQuoted = !isQuoted;
    else if (unit === BACKSLASH) at += 1;
    else if (isQuoted || unit > CLOSE) continue;
    else if ((unit | CURLY) === OPEN) depth += 1;
    else if ((unit | CURLY) === CLOSE) depth -= 1;
    if (depth > levels) return true;
  }
  return false;
}
