/*
 * Lengths of time in classes, four for each doubling: their counts can be added up, and a quantile is at most a tenth off.
 */

const PER_DOUBLING = 4;
/** 2^32 ms: 50 days. */
const LAST_CLASS = 32 * PER_DOUBLING;

/** SQL: the number of the class of so many milliseconds. */
export function selectClass(milliseconds: string): string {
  return `least(${LAST_CLASS}, floor(${PER_DOUBLING} * ln(greatest(1, ${milliseconds})) / ln(2)))::int`;
}

/** Counts of lengths, by the number of their class. */
export type LengthCounts = Readonly<Record<string, number>>;

/** Adds counts up. */
export function addLengths(all: readonly LengthCounts[]): ReadonlyMap<number, number> {
  const sums = new Map<number, number>();
  for (const counts of all)
    for (const [name, count] of Object.entries(counts))
      sums.set(Number(name), (sums.get(Number(name)) ?? 0) + count);
  return sums;
}

/** The length in milliseconds that `part` of all do not exceed, such as 0.95; null: there are none. The middle of its class. */
export function findLength(sums: ReadonlyMap<number, number>, part: number): number | null {
  const classes = [...sums].toSorted(([one], [other]) => one - other);
  const total = classes.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  for (const [number, count] of classes) {
    seen += count;
    if (seen >= part * total) return number === 0 ? 1 : Math.round(2 ** ((number + 0.5) / PER_DOUBLING));
  }
  return null;
}
