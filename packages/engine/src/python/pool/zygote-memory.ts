import { readFile } from "node:fs/promises";
import { KILOBYTE } from "../../base/bytes.ts";
import type { ZygoteProcesses } from "./zygote.ts";
import { listChildren, PAGE_BYTES } from "../watch/process-files.ts";

/** Memory of one zygote with its idle children, in bytes. */
export interface ZygoteMemory {
  /** Of all its processes, with the launcher and its slirp4netns. */
  readonly totalBytes: number;
  /** What ending its idle children would free: 0 when it has none. */
  readonly idleBytes: number;
}

/** The memory of one process, in bytes. */
interface ProcessMemory {
  /** Proportional set size: pages that several processes share count in equal parts. */
  readonly proportional: number;
  /** Pages that no other process has. */
  readonly own: number;
}

/** A zygote that nothing of runs has few processes: more would have been started by user code. */
const MAX_PROCESSES = 256;

/**
 * Measures the processes of a zygote from outside: what it says itself may come from user code. To be called while nothing of it
 * runs, since runs would be counted as well. Null: it has ended, or the system has no such files.
 *
 * @param processes the zygote descends from the process that was started for it, and its children from the zygote
 * @param hasIdle whether it has idle children: they are its last generation
 */
export async function measureZygote(
  { pid, listHelpers }: ZygoteProcesses,
  hasIdle: boolean,
): Promise<ZygoteMemory | null> {
  const [zygote, ...helpers] = await Promise.all([pid, ...listHelpers()].map(measureTree));
  if (zygote === undefined || zygote.totalBytes === 0) return null;
  const totalBytes = helpers.reduce((sum, helper) => sum + helper.totalBytes, zygote.totalBytes);
  return { totalBytes, idleBytes: hasIdle ? zygote.youngestBytes : 0 };
}

/** Memory of a process and its descendants, in bytes; of the last generation only what no other process has. */
async function measureTree(
  root: number,
): Promise<{ readonly totalBytes: number; readonly youngestBytes: number }> {
  let generation: readonly number[] = [root];
  let measured: readonly ProcessMemory[] = [];
  let [count, totalBytes] = [0, 0];
  while (generation.length > 0 && count < MAX_PROCESSES) {
    measured = (await Promise.all(generation.map(measureProcess))).filter((memory) => memory !== null);
    totalBytes += measured.reduce((sum, { proportional }) => sum + proportional, 0);
    count += generation.length;
    generation = generation.flatMap(listChildren);
  }
  return { totalBytes, youngestBytes: measured.reduce((sum, { own }) => sum + own, 0) };
}

/** proc_pid_smaps(5), proc_pid_statm(5). Reading the first needs the right to trace the process, the second does not. */
async function measureProcess(pid: number): Promise<ProcessMemory | null> {
  const rollup = await readText(`/proc/${pid}/smaps_rollup`);
  if (rollup !== "") {
    const own = readField(rollup, "Private_Clean") + readField(rollup, "Private_Dirty");
    return { proportional: readField(rollup, "Pss"), own };
  }
  const [, resident = 0, shared = 0] = (await readText(`/proc/${pid}/statm`)).split(" ").map(Number);
  const own = (resident - shared) * PAGE_BYTES;
  return own > 0 ? { proportional: own, own } : null;
}

/** @returns bytes; 0 when the file has no such line */
function readField(text: string, name: string): number {
  const start = text.indexOf(`\n${name}:`);
  return start < 0 ? 0 : Number.parseInt(text.slice(start + name.length + 2), 10) * KILOBYTE;
}

/** Empty when the process has ended, or may not be looked at. */
async function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}
