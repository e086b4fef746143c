import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** What `postmaster.pid` says (PostgreSQL's src/include/utils/pidfile.h). */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  readonly socketDirectory: string;
}

/** Reads `postmaster.pid` of a data directory; null when there is none or it is not completely written. */
export async function readPostmaster(dataDirectory: string): Promise<Postmaster | null> {
  const text = await readFile(join(dataDirectory, "postmaster.pid"), "utf8").catch(() => "");
  const [pid, , , port, socketDirectory] = text.split("\n");
  if (!pid || !Number.isInteger(Number(pid)) || Number(pid) <= 0) return null;
  return { pid: Number(pid), port: Number(port ?? 0), socketDirectory: (socketDirectory ?? "").trim() };
}

export async function removePostmasterFile(dataDirectory: string): Promise<void> {
  await rm(join(dataDirectory, "postmaster.pid"), { force: true });
}

/** `zombie`: killed, but its parent has not yet asked for its exit status; it still answers to signal 0. */
export type ProcessState = "gone" | "zombie" | "postgres" | "other";

export async function inspectProcess(pid: number): Promise<ProcessState> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return "gone";
  }
  const { state, command } = process.platform === "linux" ? await readProc(pid) : await askPs(pid);
  if (state === "") return "gone";
  if (state.startsWith("Z") || state.startsWith("X")) return "zombie";
  return command.includes("postgres") ? "postgres" : "other";
}

interface ProcessInfo {
  readonly state: string;
  readonly command: string;
}

const NO_PROCESS: ProcessInfo = { state: "", command: "" };

async function readProc(pid: number): Promise<ProcessInfo> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    const command = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
    return { state: stat.slice(stat.lastIndexOf(")") + 2), command };
  } catch {
    return NO_PROCESS;
  }
}

async function askPs(pid: number): Promise<ProcessInfo> {
  try {
    const { stdout } = await execute("ps", ["-o", "stat=,comm=", "-p", String(pid)]);
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
