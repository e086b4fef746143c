import type { Usage } from "@platform/contract/platform-api/usage";
import { addMoney } from "../util/money.ts";
import type { Money } from "../util/money.ts";

const MICRO = 1e6;
/** Behind the point, of numbers that are looked at. */
export const ROUNDED_DIGITS = 2;

/** The numbers of a line of usage, in the order of its table. */
export const USAGE_NUMBERS = [
  "executions",
  "succeeded",
  "failed",
  "unknown",
  "notCharged",
  "cpuSeconds",
  "gbSeconds",
] as const satisfies readonly (keyof Usage)[];
/** One of them. */
export type UsageNumber = (typeof USAGE_NUMBERS)[number];

/** The same in words. */
export const NUMBER_WORDS: Readonly<Record<UsageNumber, string>> = {
  executions: "Executions",
  succeeded: "Succeeded",
  failed: "Failed",
  unknown: "Unknown",
  notCharged: "Not charged",
  cpuSeconds: "CPU-seconds",
  gbSeconds: "GB-seconds",
};

/** What lines add up to. */
export type UsageSum = Readonly<Record<UsageNumber, number>> & { readonly cost: readonly Money[] };

/** Adds lines up. Times are kept in millionths of a second: as such, their sum is exact. */
export function sumUsage(lines: readonly Usage[]): UsageSum {
  const sums = USAGE_NUMBERS.map((name) => [
    name,
    lines.reduce((sum, line) => sum + Math.round(line[name] * MICRO), 0) / MICRO,
  ]);
  return {
    ...(Object.fromEntries(sums) as Record<UsageNumber, number>),
    cost: addMoney(lines.flatMap(({ cost }) => cost)),
  };
}

/** A number of a line with all of its digits. */
export function formatUsage(value: number): string {
  return new Intl.NumberFormat(undefined, { maximumFractionDigits: 6 }).format(value);
}

/** The number rounded, "< 0.01" where it would be nothing. It is not negative. */
export function formatRoundedUsage(value: number): string {
  const numbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: ROUNDED_DIGITS });
  const least = 10 ** -ROUNDED_DIGITS;
  return value > 0 && value < least ? `< ${numbers.format(least)}` : numbers.format(value);
}
