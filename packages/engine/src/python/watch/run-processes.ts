import { setImmediate as pause } from "node:timers/promises";
import {
  listChildren,
  readFileSystemUse,
  readMemoryFiles,
  readNumbers,
  readProportional,
  readStat,
} from "./process-files.ts";
import type { ProcessStat, ProportionalMemory } from "./process-files.ts";

/** Many more than a run may have: 256. */
const MAX_PROCESSES = 1024;
/** Processes that are read in one turn of the event loop: 1 ms. */
const PER_TURN = 32;
const OWN_FILE_SYSTEMS = ["/tmp", "/dev/shm"];

/** The process that runs the code of one execution, and its zygote, as this process numbers them. */
export interface Leader {
  readonly stat: ProcessStat;
  readonly zygote: number;
  /** Memory that it had from the zygote when it was forked. */
  readonly inheritedBytes: number;
  /** Whether it is pid 1 of processes of its own, with file systems of its own. */
  readonly isApart: boolean;
}

/**
 * The process of this number as the zygote numbers its children; null: the zygote has no such child. What a zygote says is not
 * believed: it may run user code, and this process may have the right to signal everybody.
 */
export function findLeader(zygote: number, number: number): Leader | null {
  const depth = readNumbers(zygote).length;
  for (const pid of listChildren(zygote)) {
    const numbers = readNumbers(pid);
    const stat = numbers[depth - 1] === number ? readStat(pid) : null;
    if (stat === null) continue;
    const inheritedBytes = Math.min(stat.residentBytes, readStat(zygote)?.residentBytes ?? 0);
    return { stat, zygote, inheritedBytes, isApart: numbers.length > depth };
  }
  return null;
}

/** The zygote, below the process that was started for it, by its number in its own pid namespace; null: it has ended. */
export function findZygote(launched: number, number: number): number | null {
  const queue = [launched];
  for (const pid of queue) {
    if (readNumbers(pid).at(-1) === number && pid !== launched) return pid;
    if (queue.length < PER_TURN) queue.push(...listChildren(pid));
  }
  return readNumbers(launched).at(-1) === number ? launched : null;
}

/**
 * All processes of a run that can be found: what its leader has started, and what was found before (`known`) or is in its session, though the
 * zygote has adopted it.
 */
export async function listProcesses(
  leader: Leader,
  known: readonly ProcessStat[],
): Promise<readonly ProcessStat[]> {
  const found = new Map<number, ProcessStat>();
  const queue = [leader.stat.pid, ...known.map(({ pid }) => pid), ...listAdopted(leader)];
  const starts = new Map([leader.stat, ...known].map(({ pid, start }) => [pid, start]));
  let count = 0;
  for (const pid of queue) {
    if (found.has(pid) || found.size >= MAX_PROCESSES) continue;
    if ((count += 1) % PER_TURN === 0) await pause();
    const stat = readStat(pid);
    if (stat === null || (starts.get(pid) ?? stat.start) !== stat.start) continue;
    found.set(pid, stat);
    queue.push(...listChildren(pid));
  }
  return [...found.values()];
}

function listAdopted({ stat, zygote, isApart }: Leader): readonly number[] {
  if (isApart) return [];
  return listChildren(zygote).filter((pid) => readStat(pid)?.session === stat.pid);
}

/** Files in the memory of the machine that the run alone can have: those of its own file systems, and memfds. */
export async function measureFiles(leader: Leader, processes: readonly ProcessStat[]): Promise<number> {
  const memoryFiles = new Map<number, number>();
  for (const [index, { pid }] of processes.entries()) {
    if (index % PER_TURN === PER_TURN - 1) await pause();
    for (const [inode, bytes] of readMemoryFiles(pid)) memoryFiles.set(inode, bytes);
  }
  return [...memoryFiles.values()].reduce((sum, bytes) => sum + bytes, measureFileSystems(leader));
}

/** The files of its own file systems, which are in memory. */
export function measureFileSystems({ stat, isApart }: Leader): number {
  const own = isApart ? OWN_FILE_SYSTEMS : [];
  return own.reduce((sum, path) => sum + readFileSystemUse(stat.pid, path), 0);
}

/**
 * What the run has taken, without its part of what the zygote holds. Mapped files of a tmpfs are in `files` as well, and count once.
 *
 * @returns null where this process may not look at their memory
 */
export async function measureExactly(
  { zygote }: Leader,
  processes: readonly ProcessStat[],
  files: number,
): Promise<number | null> {
  const readings = await Promise.all([zygote, ...processes.map(({ pid }) => pid)].map(readProportional));
  const [base = null, ...own] = readings;
  const memories = own.filter((memory) => memory !== null);
  return memories.length === 0 ? null : sumMemory(base, memories, files);
}

/**
 * A process that was forked from the zygote has as large a part of its pages as the zygote itself. Processes that were executed have none: what
 * is subtracted never exceeds what the zygote shares with all.
 */
export function sumMemory(
  zygote: ProportionalMemory | null,
  processes: readonly ProportionalMemory[],
  files: number,
): number {
  const anonymous = processes.reduce((sum, memory) => sum + memory.anonymous, 0);
  const shared = processes.reduce((sum, memory) => sum + memory.shared, 0);
  const inherited =
    zygote === null
      ? 0
      : Math.min(
          processes.length * Math.max(0, zygote.anonymous - zygote.own),
          Math.max(0, zygote.mapped - zygote.anonymous),
        );
  return Math.max(0, anonymous - inherited) + Math.max(shared, files);
}

/** Sends a signal to each that has not ended. A number that was given to another process meanwhile is left alone. */
export function signalProcesses(processes: readonly ProcessStat[], signal: NodeJS.Signals): void {
  for (const { pid, start } of processes) {
    if (readStat(pid)?.start !== start) continue;
    try {
      process.kill(pid, signal);
    } catch {
      // It has just ended.
    }
  }
}
