import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile, readdir } from "node:fs/promises";
import { execPath } from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface Helper {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Starts one of the servers of this folder; its first line is its port. */
export async function startHelper(file: string, ...args: readonly string[]): Promise<Helper> {
  const child = spawn(execPath, [fileURLToPath(new URL(file, import.meta.url)), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit").then(() => {
    throw new Error(`${file} ended before it listened`);
  });
  const [port] = (await Promise.race([once(createInterface(child.stdout), "line"), ended])) as [string];
  return { url: `http://127.0.0.1:${port}/`, close: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  await gone;
}

/** Proportional set size of a process and all that descend from it or carry its session, in MB, by name of the program. */
export async function readMemory(root: number): Promise<Readonly<Record<string, number>>> {
  const parents = new Map<number, number>();
  for (const name of await readdir("/proc")) {
    if (/^\d+$/.test(name)) parents.set(Number(name), await readParent(Number(name)));
  }
  const memory: Record<string, number> = {};
  for (const pid of parents.keys()) {
    if (!descendsFrom(pid, root, parents)) continue;
    const program = (await readText(`/proc/${pid}/comm`)).trim();
    const pss =
      Number(/^Pss:\s+(\d+) kB/m.exec(await readText(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) / 1024;
    memory[program] = Math.round(((memory[program] ?? 0) + pss) * 10) / 10;
  }
  return memory;
}

function descendsFrom(pid: number, root: number, parents: ReadonlyMap<number, number>): boolean {
  for (let current = pid; current > 1; current = parents.get(current) ?? 0) if (current === root) return true;
  return false;
}

async function readParent(pid: number): Promise<number> {
  return Number(/\) \S (\d+)/.exec(await readText(`/proc/${pid}/stat`))?.[1] ?? 0);
}

/** A process may end while it is looked at. */
async function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}
