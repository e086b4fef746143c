import { readFileSync, readdirSync, readlinkSync, statSync, statfsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { KILOBYTE } from "../../base/bytes.ts";

/*
 * What the kernel tells about a process (proc(5)). A process that has ended, or may not be looked at, gives null, nothing, or 0. Only what
 * can make the kernel walk a whole address space is read asynchronously; the rest costs about 10 microseconds a file.
 */

/** One process. `pid` may be given to another process once it has ended; together with `start` it is unique. */
export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** Time of its start, in ticks since the boot of the machine. */
  readonly start: string;
  /** Of the process and of those of its children that it has waited for. */
  readonly cpuSeconds: number;
  /** All pages in memory, also those that it shares with others. */
  readonly residentBytes: number;
}

/** The memory of one process that no file could give back, in bytes. Pages of several processes count in equal parts. */
export interface ProportionalMemory {
  /** Private pages, also those that were copied by a fork and not written since, and those that were swapped out. */
  readonly anonymous: number;
  /** Mapped shared memory, with the mapped files of a tmpfs. */
  readonly shared: number;
  /** Pages of `anonymous` that no other process has. */
  readonly own: number;
  /** `anonymous`, with the pages of several processes in full. */
  readonly mapped: number;
}

/** User space always sees 100 ticks a second. */
const TICKS = 100;
/** Of memory, as this machine has it. */
export const PAGE_BYTES = readPageSize();
const STATS_BLOCK_BYTES = 512;
const NANO = 1e9;
const PARENT = 1;
const SESSION = 3;
const TIMES = [11, 12, 13, 14] as const;
const START = 19;
const RESIDENT = 21;

/** Null: it has ended. */
export function readStat(pid: number): ProcessStat | null {
  const text = readText(`/proc/${pid}/stat`);
  // The name of the process stands before, in brackets, and may contain anything.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const start = fields[START];
  if (start === undefined) return null;
  const ticks = TIMES.reduce((sum, index) => sum + Number(fields[index]), 0);
  return {
    pid,
    parent: Number(fields[PARENT]),
    session: Number(fields[SESSION]),
    start,
    cpuSeconds: ticks / TICKS,
    residentBytes: Number(fields[RESIDENT]) * PAGE_BYTES,
  };
}

/** Whether it has ended, also while the process that waits for it has not been told. */
export function isOver(pid: number): boolean {
  const text = readText(`/proc/${pid}/stat`);
  return text === "" || /^[ZX]/u.test(text.slice(text.lastIndexOf(")") + 2));
}

/** Whether a thread of it has not ended; the first may have, before the others. */
export function hasThreads(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).some((task) => !isOver(Number(task)));
  } catch {
    return false;
  }
}

/** The processes that the first thread of this one has started, and most of those that it adopted. */
export function listChildrenOfFirst(pid: number): readonly number[] {
  return readText(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
}

/** The processes that any thread of this one has started, or adopted. */
export function listChildren(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readText(`/proc/${pid}/task/${task}/children`).split(" ").filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

/** Its numbers in the pid namespaces that it is in: from that of the reader to its own. */
export function readNumbers(pid: number): readonly number[] {
  return (/^NSpid:(.*)$/mu.exec(readText(`/proc/${pid}/status`))?.[1] ?? "")
    .split("\t")
    .filter(Boolean)
    .map(Number);
}

/** The most memory that it ever had, counted like `residentBytes`. */
export function readPeak(pid: number): number {
  return Number(/^VmHWM:\s*(\d+) kB$/mu.exec(readText(`/proc/${pid}/status`))?.[1] ?? 0) * KILOBYTE;
}

/** What the kernel keeps to find its pages: 8 bytes for each that it has touched, also of those that are nobody's memory, and more for the first in 2 MB. */
export function readPageTables(pid: number): number {
  return Number(/^VmPTE:\s*(\d+) kB$/mu.exec(readText(`/proc/${pid}/status`))?.[1] ?? 0) * KILOBYTE;
}

/** What its first thread alone has used, to the nanosecond; 0 where the kernel does not tell. */
export function readThreadSeconds(pid: number): number {
  return Number(readText(`/proc/${pid}/schedstat`).split(" ")[0]) / NANO;
}

/** Null also where this process has not the right to trace it. */
export async function readProportional(pid: number): Promise<ProportionalMemory | null> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
  return text === "" ? null : parseRollup(text);
}

/** @param text of /proc/<pid>/smaps_rollup */
export function parseRollup(text: string): ProportionalMemory {
  const read = (name: string): number =>
    Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, "mu").exec(text)?.[1] ?? 0) * KILOBYTE;
  return {
    anonymous: read("Pss_Anon") + read("SwapPss"),
    shared: read("Pss_Shmem"),
    own: read("Private_Dirty"),
    mapped: read("Anonymous"),
  };
}

/** What the files of a file system take, as the process sees it at this path. */
export function readFileSystemUse(pid: number, path: string): number {
  try {
    const { blocks, bfree, bsize } = statfsSync(`/proc/${pid}/root${path}`);
    return (blocks - bfree) * bsize;
  } catch {
    return 0;
  }
}

/** Paths that lead to what it has open. */
export function listDescriptors(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((name) => `/proc/${pid}/fd/${name}`);
  } catch {
    return []; // It has ended.
  }
}

/** Inode and size of a memory file (memfd_create(2)), from the path of a descriptor; null: it is something else, or was closed. */
export function readMemoryFile(path: string): readonly [number, number] | null {
  try {
    if (!readlinkSync(path).startsWith("/memfd:")) return null;
    const { ino, blocks } = statSync(path);
    return [ino, blocks * STATS_BLOCK_BYTES];
  } catch {
    return null;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** From the auxiliary vector (getauxval(3)): pairs of a kind and a value. */
function readPageSize(): number {
  const [kind, usual] = [6n, 4096];
  try {
    const vector = readFileSync("/proc/self/auxv");
    for (let at = 0; at + 16 <= vector.length; at += 16)
      if (vector.readBigUInt64LE(at) === kind) return Number(vector.readBigUInt64LE(at + 8));
  } catch {
    // Not Linux.
  }
  return usual;
}
