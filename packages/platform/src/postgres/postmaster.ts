import { readFileSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { findExecutables, SYSTEM_FOLDERS } from "@platform/engine/host/find-executables";
import { runTrusted } from "@platform/engine/host/processes";

/** What `postmaster.pid` says (PostgreSQL's src/include/utils/pidfile.h). */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  readonly socketDirectory: string;
}

const FILE = "postmaster.pid";

/** Reads `postmaster.pid` of a data directory; null when there is none or it is not completely written. */
export async function readPostmaster(dataDirectory: string): Promise<Postmaster | null> {
  return parsePostmaster(await readFile(join(dataDirectory, FILE), "utf8").catch(() => ""));
}

/** The same for where nothing can be awaited any more. */
export function readPostmasterSync(dataDirectory: string): Postmaster | null {
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

export async function removePostmasterFile(dataDirectory: string): Promise<void> {
  await rm(join(dataDirectory, FILE), { force: true });
}

/** `zombie`: killed, but its parent has not yet asked for its exit status; it still answers to signal 0. */
export type ProcessState = "gone" | "zombie" | "postgres" | "other";

export async function inspectProcess(pid: number): Promise<ProcessState> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return "gone";
  }
  return judge(process.platform === "linux" ? readProc(pid) : await askPs(pid));
}

/** The same for where nothing can be awaited any more; without /proc, everything that answers is taken for PostgreSQL. */
export function inspectProcessSync(pid: number): ProcessState {
  try {
    process.kill(pid, 0);
  } catch {
    return "gone";
  }
  return process.platform === "linux" ? judge(readProc(pid)) : "postgres";
}

function judge({ state, command }: ProcessInfo): ProcessState {
  if (state === "") return "gone";
  if (state.startsWith("Z") || state.startsWith("X")) return "zombie";
  return command.includes("postgres") ? "postgres" : "other";
}

interface ProcessInfo {
  readonly state: string;
  readonly command: string;
}

const NO_PROCESS: ProcessInfo = { state: "", command: "" };

function readProc(pid: number): ProcessInfo {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const command = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
    return { state: stat.slice(stat.lastIndexOf(")") + 2), command };
  } catch {
    return NO_PROCESS;
  }
}

const PS_TIMEOUT_MS = 10_000;

async function askPs(pid: number): Promise<ProcessInfo> {
  try {
    const [ps] = await findExecutables("ps", SYSTEM_FOLDERS);
    if (ps === undefined) return NO_PROCESS;
    const stdout = await runTrusted(ps, ["-o", "stat=,comm=", "-p", String(pid)], {
      env: {},
      timeout: PS_TIMEOUT_MS,
    });
    const [state = "", ...command] = stdout.trim().split(/\s+/u);
    return { state, command: command.join(" ") };
  } catch {
    return NO_PROCESS;
  }
}

const POLL_MILLISECONDS = 10;

/** Waits until the process is gone, or at least a zombie where `zombieCounts`; false when `milliseconds` did not suffice. */
export async function waitUntilGone(
  pid: number,
  milliseconds: number,
  zombieCounts: boolean,
): Promise<boolean> {
  const deadline = performance.now() + milliseconds;
  for (;;) {
    const state = await inspectProcess(pid);
    if (state === "gone" || state === "other" || (zombieCounts && state === "zombie")) return true;
    if (performance.now() >= deadline) return false;
    await delay(POLL_MILLISECONDS);
  }
}

/** Blocks until the process is gone or a zombie; false when `milliseconds` did not suffice. */
export function waitUntilGoneSync(pid: number, milliseconds: number): boolean {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  const deadline = performance.now() + milliseconds;
  while (inspectProcessSync(pid) === "postgres") {
    if (performance.now() >= deadline) return false;
    Atomics.wait(clock, 0, 0, POLL_MILLISECONDS);
  }
  return true;
}
