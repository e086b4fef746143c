/**
 * Python: `lowest_share(pids, seconds)` sleeps for so long, and gives how many processors these processes had together, on average since it began:
 * the lowest average of the second half. Where a limit is enforced by looking, a run is ahead between two looks, by more on a busy machine, and pays
 * for it before it goes on: the average is what the limit says at the end of each pause, whenever the looks came.
 */
export const LOWEST_SHARE = `
import time

def lowest_share(pids, seconds):
    # The clock of a process's own CPU time (clock_getcpuclockid(3)).
    def use(): return sum(time.clock_gettime(~pid << 3 | 2) for pid in pids)
    begun, used = time.monotonic(), use()
    lowest = float("inf")
    while (passed := time.monotonic() - begun) < seconds:
        if passed > seconds / 2: lowest = min(lowest, (use() - used) / passed)
        time.sleep(0.005)
    return min(lowest, (use() - used) / passed)
`;
