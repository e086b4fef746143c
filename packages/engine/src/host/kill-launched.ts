import { readdirSync, readFileSync } from "node:fs";
import type { ChildProcess } from "./processes.ts";

/**
 * Kills a program that this process has started, its process group and its children.
 *
 * Killing bubblewrap alone is not enough: its child sets its parent-death signal only once the sandbox is set up. Killed before (20 ms, seconds on a
 * busy machine), it left a sandbox that kept running and held the pipes: 244 of 300 that were killed in their first 20 ms, 40 with their group
 * (2 cores, bubblewrap 0.8, 2026-11-22). A stopped parent creates no more children (fork(2) restarts while a signal is pending) and reaps none,
 * so the children that are found are its own; killing the first process of a pid namespace kills all others in it.
 */
export function killLaunched(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  send(pid, "SIGSTOP");
  const children = listChildren(pid);
  // Its process group, if it has one of its own.
  send(-pid, "SIGKILL");
  for (const own of children) send(own, "SIGKILL");
  send(pid, "SIGKILL");
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has already ended, or has no group.
  }
}

function listChildren(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return searchChildren(pid);
  }
}

/** For kernels without CONFIG_PROC_CHILDREN; systems without /proc have no bubblewrap either. */
function searchChildren(parent: number): readonly number[] {
  try {
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return pids.filter((pid) => readParent(pid) === parent).map(Number);
  } catch {
    return [];
  }
}

/** Field 4 of /proc/<pid>/stat (proc(5)); the name before it may contain anything. */
function readParent(pid: string): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return null;
  }
}
