import { stdout } from "node:process";
import { round } from "./load.ts";

/** What a figure has to be. */
export type Target = { readonly atMost: number } | { readonly atLeast: number };

/** A figure beside its target. */
export interface Result {
  readonly name: string;
  readonly value: number;
  readonly target: string;
  readonly isMet: boolean;
}

/** Prints a figure with its target, and whether it is met. */
export function report(name: string, value: number, target: Target): Result {
  const isMet = "atMost" in target ? value <= target.atMost : value >= target.atLeast;
  const text = "atMost" in target ? `<= ${target.atMost}` : `>= ${target.atLeast}`;
  stdout.write(
    `${isMet ? "  met" : "UNMET"}  ${name.padEnd(72)} ${String(round(value)).padStart(10)}  (${text})\n`,
  );
  return { name, value: round(value), target: text, isMet };
}

/** The middle one; of two middle ones the larger. */
export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}
