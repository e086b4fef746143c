import { randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";

const PREFIX = "platform";
const PATTERN = /^platform(?:-self)?-(\d+)-(\d+)-(\d+)(?:-[0-9a-f]+)?$/u;

/**
 * The names of a worker's groups: of the one that its runs are below, and of the one that a v2 worker puts itself into. They hold its
 * pid namespace, its process id and the time of its start, so that another worker can tell whether it lives.
 */
export interface WorkerNames {
  readonly runs: string;
  readonly self: string;
}

/** Of this process. Each call gives another name for the runs: they may be closed one by one. */
export function nameWorker(): WorkerNames {
  const suffix = `${readPidNamespace()}-${process.pid}-${readStartTime(process.pid) ?? 0}`;
  return { runs: `${PREFIX}-${suffix}-${randomBytes(4).toString("hex")}`, self: `${PREFIX}-self-${suffix}` };
}

/**
 * Whether a group was left by a worker that has ended. Groups of another pid namespace (of a container that shares the hierarchy) are
 * never taken for such: whether their worker lives cannot be seen from here.
 */
export function isLeftOver(name: string): boolean {
  const [, namespace, pid, start] = PATTERN.exec(name) ?? [];
  if (namespace === undefined || namespace !== readPidNamespace()) return false;
  return String(readStartTime(Number(pid)) ?? "none") !== start;
}

/** Whether it is the group that a worker has put itself into. */
export function isSelf(name: string): boolean {
  return PATTERN.test(name) && name.startsWith(`${PREFIX}-self-`);
}

function readPidNamespace(): string {
  return /\d+/u.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
}

/** Clock ticks since the boot; null when there is no such process. The name before it may contain spaces and parentheses. */
function readStartTime(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
  } catch {
    return null;
  }
}
