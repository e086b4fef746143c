import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { locateGroups } from "./cgroups/locate.ts";

const NAMESPACES = "/proc/sys/user/max_user_namespaces";
const PER_HOST = ["/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max"];

/** What the user of this process may have, at most: what is left of it is not known. */
export interface UserRoom {
  readonly namespaces: number;
  /**
   * Processes and threads. The least of the limit of this process (`ulimit -u`), those of its control groups (TasksMax= of systemd, --pids-limit of
   * a container), and that of the host.
   */
  readonly processes: number;
}

/** @param read the text of a file; throws where there is none */
export function readUserRoom(read = readText): UserRoom {
  return { namespaces: readNumber(NAMESPACES, read), processes: readProcesses(read) };
}

function readProcesses(read: typeof readText): number {
  const limits = [...PER_HOST, ...listGroupLimits(read)].map((path) => readNumber(path, read));
  const own = /^Max processes +(\d+)/mu.exec(read("/proc/self/limits"))?.[1];
  return Math.min(...limits, own === undefined ? Infinity : Number(own));
}

function readText(path: string): string {
  return readFileSync(path, "latin1");
}

/** Of the group that this process is in, and of those above it: of a folder that is none, nothing can be read. */
function listGroupLimits(read: typeof readText): readonly string[] {
  const own = locateGroups(read("/proc/self/mountinfo"), read("/proc/self/cgroup"));
  if (own === null) return [];
  const folders = [own.version === 1 ? own.folders.pids : own.folder];
  for (const folder of folders) if (dirname(folder) !== folder) folders.push(dirname(folder));
  return folders.map((folder) => join(folder, "pids.max"));
}

/** Infinity where it has no limit ("max") or does not exist. */
function readNumber(path: string, read: typeof readText): number {
  try {
    return Number.parseInt(read(path), 10) || Infinity;
  } catch {
    return Infinity;
  }
}
