import { SECOND } from "@platform/engine/base/time";

/*
 * Leases are compared with the clock of the database's host. When that clock is set ahead, or its machine was suspended,
 * all leases seem to be over although their workers and builders are alive and renew them. An expired lease therefore
 * counts only if this process's monotonic clock, which cannot be set, agrees: for the length of a lease after a jump, the
 * database's time is taken to be what it was before, plus what has passed on the monotonic clock.
 */

/** The two clocks are read at different moments; a larger difference is a jump. */
const TOLERANCE_MS = 2 * SECOND;

/** The time of another clock, which ignores its jumps ahead for `holdMs`. All values are milliseconds. */
export interface SteadyClock {
  /** The latest time that the other clock may show at time `at` of the monotonic clock; null: it was never read. */
  readonly latest: (at: number) => number | null;
  /** Records that the other clock showed `shown` at time `at` of the monotonic clock. */
  readonly note: (shown: number, at: number) => void;
}

/** `holdMs`: for how long a jump ahead is ignored; then the new time is accepted. */
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
