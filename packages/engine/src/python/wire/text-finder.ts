/** What stands in a text at one place, as lengths in UTF-16 units. */
interface Match {
  /** Of the longest of the wanted texts, or of a shared beginning of `LONG` or more; 0: none. */
  readonly found: number;
  /** How far the text goes like the beginning of one of them. */
  readonly reached: number;
}

/** Looks at one place of a text, before `end`. */
type Find = (text: string, at: number, end: number) => Match;

/**
 * So long a beginning counts as the whole. It bounds the work for a place where nothing is found, so that the time depends on the length
 * of the text alone: user code chooses both the wanted texts and the text.
 */
const LONG = 32;
const NOTHING: Match = { found: 0, reached: 0 };
/** Number of bits by which most places are passed over. A power of 2. */
const BUCKETS = 65_536;

/** Looks for any of several texts, each of two units or more. They are kept sorted, so those that begin alike are neighbours. */
export function createTextFinder(wanted: readonly string[]): Find {
  // By UTF-16 units, as `charCodeAt` compares.
  const sorted = [...wanted].sort((a, b) => (a < b ? -1 : Number(a > b)));
  const begun = new Uint8Array(BUCKETS);
  for (const text of sorted) begun[hashBeginning(text, 0)] = 1;

  /** The first index in the range whose unit at `depth` is `unit` or more. */
  function findFrom(range: Range, depth: number, unit: number): number {
    let { low, high } = range;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (readUnit(sorted, middle, depth) < unit) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function narrow(range: Range, depth: number, unit: number): Range {
    const first = readUnit(sorted, range.low, depth);
    if (first === unit && readUnit(sorted, range.high - 1, depth) === unit) return range;
    return { low: findFrom(range, depth, unit), high: findFrom(range, depth, unit + 1) };
  }

  return (text, at, end) => {
    if (begun[hashBeginning(text, at)] === 0) return NOTHING;
    let range: Range = { low: 0, high: sorted.length };
    let found = 0;
    let depth = 0;
    for (; at + depth < end; depth++) {
      const next = narrow(range, depth, text.charCodeAt(at + depth));
      if (next.low === next.high) break;
      range = next;
      if (sorted[range.low]?.length === depth + 1) found = depth + 1;
    }
    return { found: depth >= LONG ? depth : found, reached: depth };
  };
}

/** Indexes of sorted texts, `high` excluded. */
interface Range {
  readonly low: number;
  readonly high: number;
}

/** -1 beyond the end, which sorts before every unit. */
function readUnit(sorted: readonly string[], index: number, depth: number): number {
  const text = sorted[index] ?? "";
  return depth < text.length ? text.charCodeAt(depth) : -1;
}

function hashBeginning(text: string, at: number): number {
  return (text.charCodeAt(at) * 257 + text.charCodeAt(at + 1)) & (BUCKETS - 1);
}
