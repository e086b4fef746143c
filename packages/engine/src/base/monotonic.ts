import { hrtime } from "node:process";

/**
 * Milliseconds on a clock that is never set: the same in all threads of this process, meaningless outside it. It advances while the process
 * is stopped, but not while the whole machine is suspended (CLOCK_MONOTONIC, clock_gettime(2)).
 */
export function readMonotonic(): number {
  return Number(hrtime.bigint()) / 1e6;
}
