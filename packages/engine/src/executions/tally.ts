/** Counts by owner; owners with a count of zero are removed. */
export interface Tally {
  readonly of: (ownerId: string) => number;
  readonly total: () => number;
  /** Number of owners with a count above zero. */
  readonly owners: () => number;
  /** `count` may be negative. */
  readonly add: (ownerId: string, count: number) => void;
}

/** Counts on from `initial`, which is copied and must not contain zeros. */
export function createTally(initial: ReadonlyMap<string, number> = new Map()): Tally {
  const counts = new Map(initial);
  let total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const add = (ownerId: string, count: number) => {
    const next = (counts.get(ownerId) ?? 0) + count;
    total += count;
    if (next === 0) counts.delete(ownerId);
    else counts.set(ownerId, next);
  };
  return {
    of: (ownerId) => counts.get(ownerId) ?? 0,
    total: () => total,
    owners: () => counts.size,
    add,
  };
}
