import { setImmediate } from "node:timers/promises";
import { Problem } from "@platform/contract/problems";
import { MEGABYTE } from "@platform/engine/base/bytes";

/** Of one answer, in characters: 100,000 outcomes of 64 bits each. */
const MOST_CHARACTERS = 8_000_000;
const MOST_OUTCOMES = 100_000;
const MOST_SHOTS = 2_000_000;
/** Of all shots together, unpacked. */
const MOST_BYTES = 32 * MEGABYTE;
/** As many as arrays of NumPy have at most. */
export const MOST_AXES = 64;
/** Shots of a register that are counted before others are answered. */
const STEP = 20_000;

/** What one result may take. */
export interface Budget {
  /** An entry of the answer, with so many characters. @throws Problem NO_NORMAL_FORM */
  readonly spend: (count: number, characters?: number) => void;
  /** How many bytes of shots may still be unpacked. */
  readonly bytesLeft: () => number;
  /** Bytes of shots that were unpacked. */
  readonly spendBytes: (count: number) => void;
  /** Shots that are to be counted. @throws Problem NO_NORMAL_FORM */
  readonly spendShots: (count: number) => void;
  /** So many shots were counted: now and then, it lets others be answered. */
  readonly breathe: (count: number) => Promise<void> | undefined;
}

/** A new one for each answer. */
export function createBudget(): Budget {
  let [entries, characters, shots, bytes, counted] = [0, 0, 0, 0, 0];
  return {
    spend: (count, length = 0) => {
      entries += count;
      characters += count * length;
      if (entries > MOST_OUTCOMES || characters > MOST_CHARACTERS)
        throw refuseLarge(`more than ${MOST_OUTCOMES} outcomes, or many with many bits`);
    },
    bytesLeft: () => MOST_BYTES - bytes,
    spendBytes: (count) => {
      bytes += count;
    },
    spendShots: (count) => {
      shots += count;
      if (shots > MOST_SHOTS) throw refuseLarge(`more than ${MOST_SHOTS} shots`);
    },
    breathe: (count) => {
      counted += count;
      if (counted < STEP) return undefined;
      counted = 0;
      return setImmediate();
    },
  };
}

/** @param what it has, in words */
export function refuseLarge(what: string): Problem {
  return new Problem("NO_NORMAL_FORM", `The result has ${what}: read it as it is, and count there.`);
}
