import { hrtime } from "node:process";

/**
 * Milliseconds on a clock that nobody sets: the same in all threads of this process, meaningless outside it. It goes on while the process
 * is stopped, but stands still while the whole machine is suspended (CLOCK_MONOTONIC, clock_gettime(2)).
 */
export function readMonotonic(): number {
  return Number(hrtime.bigint()) / 1e6;
}
