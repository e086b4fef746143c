import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { locateGroups } from "./locate.ts";

/**
 * Makes the kernel wait now for what it would wait for when the next process enters a group (see `Mover`): this process is moved to the
 * group that it is in, which changes nothing. What enters 10 to 20 ms later does so in 0.3 ms instead of 10; earlier, it waits for the rest.
 * Never throws, and does not keep the event loop waiting.
 */
export function createForerunner(): () => void {
  let known: { readonly membership: string; readonly door: string | null } = { membership: "", door: null };
  return () => {
    try {
      // Operators may move this process: it must stay where it is now.
      const membership = readFileSync("/proc/self/cgroup", "latin1");
      if (membership !== known.membership) known = { membership, door: findDoor(membership) };
    } catch {
      return; // what enters next waits itself
    }
    if (known.door !== null) void writeFile(known.door, "0").catch(() => undefined);
  };
}

/** One hierarchy is enough: the kernel waits for the same in all of them. */
function findDoor(membership: string): string | null {
  const own = locateGroups(readFileSync("/proc/self/mountinfo", "latin1"), membership);
  if (own === null) return null;
  return join(own.version === 1 ? own.folders.cpu : own.folder, "cgroup.procs");
}
