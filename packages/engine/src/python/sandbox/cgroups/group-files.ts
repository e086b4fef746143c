import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmdirSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { getCode } from "../../../base/thrown.ts";

const SIGKILL = 9;
const MAX_TEXT_BYTES = 4096;

/** Reads one file of a group again and again; opened at the first use: three system calls fewer each time. */
export interface GroupFile {
  readonly read: () => string;
  readonly write: (text: string) => void;
  readonly close: () => void;
}

/** @param flags as of open(2) in Node.js: "r", or "r+" where it is written too */
export function createGroupFile(path: string, flags: "r" | "r+" = "r"): GroupFile {
  const buffer = Buffer.alloc(MAX_TEXT_BYTES);
  let opened: number | null = null;
  const open = (): number => (opened ??= openSync(path, flags));
  return {
    read: () => buffer.toString("latin1", 0, readSync(open(), buffer, 0, MAX_TEXT_BYTES, 0)),
    write: (text) => void writeSync(open(), text, 0),
    close: () => {
      if (opened !== null) closeSync(opened);
      opened = null;
    },
  };
}

/** The number in a file like `memory.events`, which has a line `name number` for each count; 0 when it has no such line. */
export function readCount(text: string, name: string): number {
  const line = text.split("\n").find((candidate) => candidate.startsWith(`${name} `));
  return line === undefined ? 0 : Number(line.slice(name.length + 1));
}

/** Less memory than this in total is little: it is not looked at what it consists of. */
const LITTLE_BYTES = 4 * 1024 ** 2;
/** What the kernel gives back by itself; the last one is in version 2 only. */
const RECLAIMABLE = ["inactive_file", "active_file", "slab_reclaimable"];

/** A group's memory without what the kernel gives back; 0 when the total, which is cheaper to read, is little. */
export function readHeld(total: GroupFile, parts: GroupFile): number {
  const bytes = Number(total.read());
  if (bytes < LITTLE_BYTES) return 0;
  const text = parts.read();
  return RECLAIMABLE.reduce((left, name) => left - readCount(text, name), bytes);
}

/** Ids of the processes in a group, as this process sees them. */
export function listProcesses(folder: string): readonly number[] {
  const ids = readFileSync(`${folder}/cgroup.procs`, "latin1").split("\n").map(Number);
  return ids.filter((id) => id > 0); // 0: a process of another pid namespace
}

/** SIGKILL to each process of the group. */
export function killProcesses(folder: string): void {
  for (const id of listProcesses(folder)) {
    try {
      process.kill(id, SIGKILL);
    } catch (error) {
      if (getCode(error) !== "ESRCH") throw error;
    }
  }
}

/** Writes, unless the kernel does not have the file. */
export function writeIfPresent(path: string, text: string): void {
  if (existsSync(path)) writeFileSync(path, text);
}

/** Creates a group in each hierarchy; when one is refused, none is left. @throws the system's error */
export function makeGroups(folders: readonly string[]): void {
  const made: string[] = [];
  try {
    for (const folder of folders) {
      mkdirSync(folder, { recursive: true });
      made.push(folder);
    }
  } catch (error) {
    for (const folder of made) removeGroup(folder);
    throw error;
  }
}

/** Descriptors for writing to these files; when one cannot be opened, none stays open. @throws the system's error */
export function openAll(paths: readonly string[]): number[] {
  const opened: number[] = [];
  try {
    for (const path of paths) opened.push(openSync(path, "w"));
    return opened;
  } catch (error) {
    opened.forEach((descriptor) => closeSync(descriptor));
    throw error;
  }
}

/** Removes a group; one that is missing is fine. */
export function removeGroup(folder: string): void {
  ignoreMissing(() => rmdirSync(folder));
}

function ignoreMissing(act: () => void): void {
  try {
    act();
  } catch (error) {
    if (getCode(error) !== "ENOENT") throw error;
  }
}
