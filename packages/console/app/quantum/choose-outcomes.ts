import type { Outcome } from "./read-result.ts";

/** What of many outcomes is shown. */
export interface ChosenOutcomes {
  readonly shown: readonly Outcome[];
  /** How many are not, and what they count together. */
  readonly rest: { readonly outcomes: number; readonly count: number };
  /** Of all of them. */
  readonly total: number;
  /** The count of the most frequent one. */
  readonly largest: number;
}

const sum = (outcomes: readonly Outcome[]): number => outcomes.reduce((all, [, count]) => all + count, 0);

/** The most frequent outcomes, in this order; `outcomes` has the most frequent first. */
export function chooseOutcomes(
  outcomes: readonly Outcome[],
  order: "count" | "bits",
  most: number,
): ChosenOutcomes {
  const chosen = outcomes.slice(0, most);
  const others = outcomes.slice(most);
  return {
    shown:
      order === "count" ? chosen : chosen.toSorted(([a], [b]) => a.length - b.length || (a < b ? -1 : 1)),
    rest: { outcomes: others.length, count: sum(others) },
    total: sum(outcomes),
    largest: outcomes[0]?.[1] ?? 0,
  };
}

/** "12.5 %"; "< 0.1 %" of what is hardly there. */
export function describeShare(count: number, total: number): string {
  if (total === 0) return "-";
  const share = (count / total) * 100;
  return share > 0 && share < 0.1 ? "< 0.1 %" : `${share.toFixed(1)} %`;
}
