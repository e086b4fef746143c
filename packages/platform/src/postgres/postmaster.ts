import { readFileSync, readlinkSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { findExecutables, SYSTEM_FOLDERS } from "@platform/engine/host/find-executables";
import { runTrusted } from "@platform/engine/host/processes";
import { getCode } from "@platform/engine/base/thrown";

/** The content of `postmaster.pid` (PostgreSQL's src/include/utils/pidfile.h). */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  readonly socketDirectory: string;
}

const FILE = "postmaster.pid";

/** Reads `postmaster.pid` of a data directory; null when there is none or it is incomplete. Also for the "exit" event of this process. */
export function readPostmaster(dataDirectory: string): Postmaster | null {
  try {
    return parsePostmaster(readFileSync(join(dataDirectory, FILE), "utf8"));
  } catch {
    return null;
  }
}

function parsePostmaster(text: string): Postmaster | null {
  const [pid, , , port, socketDirectory] = text.split("\n");
  if (!pid || !Number.isInteger(Number(pid)) || Number(pid) <= 0) return null;
  return { pid: Number(pid), port: Number(port ?? 0), socketDirectory: (socketDirectory ?? "").trim() };
}

/** Removes a stale `postmaster.pid`. */
export async function removePostmasterFile(dataDirectory: string): Promise<void> {
  await rm(join(dataDirectory, FILE), { force: true });
}

/**
 * Removes the lock file of the server's socket when it names this process. PostgreSQL does not start beside one whose
 * process can be signalled, whichever program that is (src/backend/utils/init/miscinit.c, CreateLockFile).
 */
export async function removeSocketLock(socketDirectory: string, port: number, pid: number): Promise<void> {
  const file = join(socketDirectory, `.s.PGSQL.${port}.lock`);
  const [owner] = (await readFile(file, "utf8").catch(() => "")).split("\n");
  if (owner === String(pid)) await rm(file, { force: true });
}

/** `zombie`: ended, but its parent has not read its exit status yet; signal 0 still reaches it. */
export type ProcessState = "gone" | "zombie" | "postgres" | "other";

/**
 * `postgres`: the server of this data directory. Process ids are reused, so the process that a stale `postmaster.pid` names
 * may be another server, which must neither be waited for nor stopped.
 */
export async function inspectProcess(pid: number, dataDirectory: string): Promise<ProcessState> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (getCode(error) === "ESRCH") return "gone";
  }
  return judge(process.platform === "linux" ? readProc(pid, dataDirectory) : await askPs(pid, dataDirectory));
}

/** The same, synchronously; without /proc, every process with this id counts as PostgreSQL. */
export function inspectProcessSync(pid: number, dataDirectory: string): ProcessState {
  try {
    process.kill(pid, 0);
  } catch {
    return "gone";
  }
  return process.platform === "linux" ? judge(readProc(pid, dataDirectory)) : "postgres";
}

function judge({ state, isServer }: ProcessInfo): ProcessState {
  if (state === "") return "gone";
  if (state.startsWith("Z") || state.startsWith("X")) return "zombie";
  return isServer ? "postgres" : "other";
}

interface ProcessInfo {
  readonly state: string;
  readonly isServer: boolean;
}

const NO_PROCESS: ProcessInfo = { state: "", isServer: false };

function readProc(pid: number, dataDirectory: string): ProcessInfo {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const command = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
    const state = stat.slice(stat.lastIndexOf(")") + 2);
    return { state, isServer: command.includes("postgres") && isServerOf(pid, dataDirectory) };
  } catch {
    return NO_PROCESS;
  }
}

/** Recognises the server by its arguments, or by its working directory (not readable without CAP_SYS_PTRACE). */
function isServerOf(pid: number, dataDirectory: string): boolean {
  const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  if (words[words.indexOf("-D") + 1] === dataDirectory) return true;
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === dataDirectory;
  } catch {
    return false;
  }
}

const PS_TIMEOUT_MS = 10_000;

async function askPs(pid: number, dataDirectory: string): Promise<ProcessInfo> {
  try {
    const [ps] = await findExecutables("ps", SYSTEM_FOLDERS);
    if (ps === undefined) return NO_PROCESS;
    const stdout = await runTrusted(ps, ["-ww", "-o", "stat=,command=", "-p", String(pid)], {
      env: {},
      timeout: PS_TIMEOUT_MS,
    });
    const [state = ""] = stdout.trim().split(/\s+/u, 1);
    return { state, isServer: `${stdout.trim()} `.includes(` -D ${dataDirectory} `) };
  } catch {
    return NO_PROCESS;
  }
}

const POLL_MILLISECONDS = 10;

/** Waits until the process is gone, or a zombie if `zombieCounts`; false when that takes longer than `milliseconds`. */
export async function waitUntilGone(
  pid: number,
  dataDirectory: string,
  milliseconds: number,
  zombieCounts: boolean,
): Promise<boolean> {
  const deadline = readMonotonic() + milliseconds;
  for (;;) {
    const state = await inspectProcess(pid, dataDirectory);
    if (state === "gone" || state === "other" || (zombieCounts && state === "zombie")) return true;
    if (readMonotonic() >= deadline) return false;
    await delay(POLL_MILLISECONDS);
  }
}

/** Blocks until the process is gone or a zombie; false when that takes longer than `milliseconds`. */
export function waitUntilGoneSync(pid: number, dataDirectory: string, milliseconds: number): boolean {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  const deadline = readMonotonic() + milliseconds;
  while (inspectProcessSync(pid, dataDirectory) === "postgres") {
    if (readMonotonic() >= deadline) return false;
    Atomics.wait(clock, 0, 0, POLL_MILLISECONDS);
  }
  return true;
}
