import type { Fault as BrokenPromise } from "./check-history.ts";
import { explainExit } from "./exits.ts";
import type { Exit } from "./exits.ts";

/** What came out of schedules. */
export interface Report {
  readonly schedules: number;
  /** By what was done, such as `kill worker-1`. */
  readonly faults: Readonly<Record<string, number>>;
  /** What clients have seen: starts, answers, ends by state, events, messages. */
  readonly seen: Readonly<Record<string, number>>;
  readonly broken: readonly (BrokenPromise & { readonly schedule: number })[];
  /** Processes that ended by themselves, and were started again. */
  readonly exits: readonly (Exit & { readonly schedule: number })[];
}

/** All of them as one. */
export function addUp(reports: readonly Report[]): Report {
  return {
    schedules: reports.reduce((sum, { schedules }) => sum + schedules, 0),
    faults: addCounts(reports.map(({ faults }) => faults)),
    seen: addCounts(reports.map(({ seen }) => seen)),
    broken: reports.flatMap(({ broken }) => broken),
    exits: reports.flatMap(({ exits }) => exits),
  };
}

/** How many processes ended by themselves, by name and reason. */
export function countExits({ exits }: Pick<Report, "exits">): Readonly<Record<string, number>> {
  return addCounts(exits.map((exit) => ({ [`${exit.name}: ${explainExit(exit).why}`]: 1 })));
}

function addCounts(parts: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const [name, count] of parts.flatMap((part) => Object.entries(part)))
    sums[name] = (sums[name] ?? 0) + count;
  return Object.fromEntries(Object.entries(sums).toSorted(([left], [right]) => left.localeCompare(right)));
}
