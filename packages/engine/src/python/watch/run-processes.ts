import { setImmediate as pause } from "node:timers/promises";
import {
  listChildren,
  listDescriptors,
  readFileSystemUse,
  readMemoryFile,
  readPageTables,
  readProportional,
  readStat,
} from "./process-files.ts";
import type { Leader } from "./family.ts";
import type { ProcessStat, ProportionalMemory } from "./process-files.ts";

/** Many more than a run may have: 256. */
const MAX_PROCESSES = 1024;
/** Processes that are read in one turn of the event loop: 1 ms. */
const PER_TURN = 32;
const MAX_DESCRIPTORS = 16_384;
const DESCRIPTORS_PER_TURN = 256;
const OWN_FILE_SYSTEMS = ["/tmp", "/dev/shm"];

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
    if (stat === null || !isOfRun(stat, leader, { starts, found })) continue;
    found.set(pid, stat);
    queue.push(...listChildren(pid));
  }
  return [...found.values()];
}

/** What is known of a run's processes: their times of start, and those that were found in this look. */
interface Found {
  readonly starts: ReadonlyMap<number, string>;
  readonly found: ReadonlyMap<number, ProcessStat>;
}

/**
 * Whether a process that was listed belongs to the run. Turns of the event loop pass between the listing and the look, in which a process of the
 * run may end and its number be given to any process of the host, which must not be signalled: a run can use up all numbers in seconds.
 */
export function isOfRun(
  stat: ProcessStat,
  { stat: leader, isApart }: Leader,
  { starts, found }: Found,
): boolean {
  const start = starts.get(stat.pid);
  if (start !== undefined) return start === stat.start;
  return found.has(stat.parent) || (!isApart && stat.session === leader.pid);
}

function listAdopted({ stat, zygote, isApart }: Leader): readonly number[] {
  if (isApart) return [];
  return listChildren(zygote).filter((pid) => readStat(pid)?.session === stat.pid);
}

/** Files in the memory of the machine that the run alone can have: those of its own file systems, and memfds. */
export async function measureFiles(leader: Leader, processes: readonly ProcessStat[]): Promise<number> {
  const memoryFiles = await readMemoryFiles(processes);
  return [...memoryFiles.values()].reduce((sum, bytes) => sum + bytes, measureFileSystems(leader));
}

/** By inode. Not all where there are very many descriptors: 256 processes with 4,096 each would take seconds. */
async function readMemoryFiles(processes: readonly ProcessStat[]): Promise<ReadonlyMap<number, number>> {
  const files = new Map<number, number>();
  let count = 0;
  for (const { pid } of processes)
    for (const path of listDescriptors(pid)) {
      if ((count += 1) > MAX_DESCRIPTORS) return files;
      if (count % DESCRIPTORS_PER_TURN === 0) await pause();
      const file = readMemoryFile(path);
      if (file !== null) files.set(...file);
    }
  return files;
}

/** The files of its own file systems, which are in memory. */
export function measureFileSystems({ stat, isApart }: Leader): number {
  const own = isApart ? OWN_FILE_SYSTEMS : [];
  return own.reduce((sum, path) => sum + readFileSystemUse(stat.pid, path), 0);
}

/** The page tables of all processes, which are part of no other figure. */
export async function measurePageTables(processes: readonly ProcessStat[]): Promise<number> {
  let bytes = 0;
  for (const [index, { pid }] of processes.entries()) {
    if (index % PER_TURN === PER_TURN - 1) await pause();
    bytes += readPageTables(pid);
  }
  return bytes;
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
  const base = await readProportional(zygote);
  const memories: ProportionalMemory[] = [];
  // One at a time: each may take a second of a thread, of which this process has four for all its files.
  for (const { pid } of processes) {
    const memory = await readProportional(pid);
    if (memory !== null) memories.push(memory);
  }
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
