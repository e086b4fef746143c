/** A number from 0 to 1 at each call; the same ones for the same seed (mulberry32). */
export type Random = () => number;

/** See `Random`. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What may be done to a file, in place: sizes and counts of QPY have two, four or eight bytes. */
const CHANGES: readonly ((content: Buffer, random: Random) => Buffer)[] = [
  (content, random) => {
    for (let count = 1 + pick(8, random); count > 0; count--)
      content[pick(content.length, random)] = pick(256, random);
    return content;
  },
  (content, random) => content.subarray(0, pick(content.length, random)),
  (content, random) => {
    const at = pick(content.length, random);
    return content.fill(0xff, at, Math.min(content.length, at + 2 ** pick(4, random)));
  },
  (content, random) => {
    const at = pick(content.length, random);
    return content.fill(0, at, Math.min(content.length, pick(content.length, random) + 8));
  },
  (content, random) => {
    const at = pick(content.length, random);
    return Buffer.concat([content.subarray(0, at), content.subarray(pick(content.length, random))]);
  },
];

/** A file that differs from this one by what the numbers say; its first bytes, which every reader looks at, seldom do. */
export function mutate(content: Buffer, random: Random): Buffer {
  const kept = random() < 0.9 ? 16 : 0;
  const change = CHANGES[pick(CHANGES.length, random)];
  const rest = Buffer.from(content.subarray(kept));
  return Buffer.concat([content.subarray(0, kept), change === undefined ? rest : change(rest, random)]);
}

function pick(count: number, random: Random): number {
  return Math.floor(random() * count);
}
