import { createHash } from "node:crypto";

/** Chance that follows from a text: the same numbers on every machine. */
export interface Random {
  /** From 0 to below 1. */
  readonly next: () => number;
  /** A whole number; both ends are included. */
  readonly between: (lowest: number, highest: number) => number;
  readonly pick: <T>(items: readonly [T, ...T[]]) => T;
  /** One of the names, in proportion to the weights. */
  readonly weigh: <T extends string>(weights: Readonly<Record<T, number>>) => T;
}

/** Mulberry32, which is enough to choose by. */
export function createRandom(seed: string): Random {
  let state = createHash("sha256").update(seed).digest().readUInt32LE(0);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (lowest, highest) => lowest + Math.floor(next() * (highest - lowest + 1)),
    pick: (items) => items[Math.floor(next() * items.length)] ?? items[0],
    weigh: (weights) => {
      const names = Object.keys(weights) as (keyof typeof weights)[];
      let left = next() * names.reduce((sum, name) => sum + weights[name], 0);
      const found = names.find((name) => (left -= weights[name]) < 0) ?? names.at(-1);
      if (found === undefined) throw new Error("There is nothing to choose from.");
      return found;
    },
  };
}
