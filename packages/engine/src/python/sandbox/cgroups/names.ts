import { randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";

/** The group below its own one into which a worker moves all that was there (version 2). Workers share it, it is never killed, and it stays. */
export const REST = "platform-rest";

const PREFIX = "platform";
const PATTERN = /^platform-(\d+)-(\d+)-(\d+)(?:-[0-9a-f]+)?$/u;

/**
 * The name of the group that the runs of this worker are below. It holds the worker's pid namespace, its process id and the time of its
 * start, so that another worker can tell whether it lives. Each call gives another one: they may be closed one by one.
 */
export function nameWorker(): string {
  const start = readStartTime(process.pid) ?? 0;
  return `${PREFIX}-${readPidNamespace()}-${process.pid}-${start}-${randomBytes(4).toString("hex")}`;
}

/** The text without what tells names of workers apart: all that run on one host give the same reason for the same fault. */
export function hideNames(text: string): string {
  return text.replaceAll(/\bplatform-\d+-\d+-\d+(?:-[0-9a-f]+)?/gu, `${PREFIX}-*`);
}

/**
 * Whether a group was left by a worker that has ended. Groups of another pid namespace (of a container that shares the hierarchy) are
 * never taken for such: whether their worker lives cannot be seen from here.
 */
export function isLeftOver(name: string): boolean {
  const [, namespace, pid, start] = PATTERN.exec(name) ?? [];
  if (namespace === undefined || namespace !== readPidNamespace()) return false;
  return readStartTime(Number(pid)) !== start;
}

function readPidNamespace(): string {
  return /\d+/u.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
}

/** Clock ticks since the boot; null when there is no such process. The name before it may contain spaces and parentheses. */
export function readStartTime(pid: number): string | null {
  try {
    // As UTF-8, though the name may be none: Node.js reads that in one step, for half of the time.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}
