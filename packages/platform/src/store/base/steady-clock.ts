import { SECOND } from "@platform/engine/base/time";

/*
 * Leases are counted on the clock of the database's host. When that is set ahead, or its machine wakes up, all leases look as if they were over
 * though every worker and builder lives and renews them. So an expired lease counts only as far as our own clock, which nobody sets, agrees: for one more
 * lease after a jump the database's time is taken to be what it was before, plus what has passed here.
 */

/** Apart from a jump, the two clocks are asked at moments that differ by so much. */
const TOLERANCE_MS = 2 * SECOND;

/** The time of another clock, without its jumps ahead for as long as `holdMs`. Everything in milliseconds. */
export interface SteadyClock {
  /** What it shows at most, at `at` of our own clock; null: not known yet. */
  readonly latest: (at: number) => number | null;
  readonly note: (shown: number, at: number) => void;
}

export function createSteadyClock(holdMs: number): SteadyClock {
  let last: { readonly shown: number; readonly at: number } | null = null;
  let jumpedAt: number | null = null;
  const latest = (at: number) => (last === null ? null : last.shown + (at - last.at) + TOLERANCE_MS);
  return {
    latest,
    note: (shown, at) => {
      if (shown > (latest(at) ?? Infinity)) {
        jumpedAt ??= at;
        if (at - jumpedAt < holdMs) return;
      }
      last = { shown, at };
      jumpedAt = null;
    },
  };
}
