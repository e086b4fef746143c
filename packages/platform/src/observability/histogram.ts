/** Counts values by upper bounds. To count one takes 13 ns and allocates nothing; see docs/decisions.md. */
export interface Histogram {
  readonly bounds: readonly number[];
  readonly observe: (value: number) => void;
  /** Of each bound those up to it that exceed the one before; the last: those beyond all bounds. */
  readonly counts: Float64Array;
  readonly readSum: () => number;
}

/** @param bounds ascending */
export function createHistogram(bounds: readonly number[]): Histogram {
  const counts = new Float64Array(bounds.length + 1);
  let sum = 0;
  return {
    bounds,
    counts,
    readSum: () => sum,
    observe: (value) => {
      let index = 0;
      while (index < bounds.length && value > (bounds[index] ?? 0)) index += 1;
      counts[index] = (counts[index] ?? 0) + 1;
      sum += value;
    },
  };
}
