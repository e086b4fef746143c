import { readFileSync } from "node:fs";
import { locateGroups } from "../python/sandbox/cgroups/locate.ts";

/**
 * The v2 hierarchy of control groups, also where v1 has the controllers that runs need: groups can be made, joined, moved and killed there.
 * Null where there is none, or this process may not change it.
 */
export function findUnified(): { readonly folder: string; readonly top: string } | null {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return null;
  const own = locateGroups(
    readFileSync("/proc/self/mountinfo", "latin1").replaceAll(" - cgroup ", " - other "),
    readFileSync("/proc/self/cgroup", "latin1"),
  );
  return own?.version === 2 ? own : null;
}
