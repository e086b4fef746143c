import { readFileSync, readdirSync } from "node:fs";
import type { RunnableVersion } from "../python/port/runtime.ts";

/** Host pid of the zygote of a version: the one process below those that name the project (bubblewrap, the launcher of level C) which does not. */
export function findZygote(version: Pick<RunnableVersion, "projectDirectory">): number {
  const [zygote] = findZygotes(version);
  if (zygote === undefined) throw new Error(`no zygote of ${version.projectDirectory} runs`);
  return zygote;
}

/** Of each tenant of the version that has one. */
export function findZygotes({ projectDirectory }: Pick<RunnableVersion, "projectDirectory">): number[] {
  const launchers = readdirSync("/proc").filter(
    (name) => /^\d+$/u.test(name) && names(name, projectDirectory),
  );
  return launchers
    .flatMap(listChildren)
    .filter((pid) => !names(pid, projectDirectory))
    .map(Number);
}

function names(pid: string, directory: string): boolean {
  const args = read(`/proc/${pid}/cmdline`).split("\0");
  return args.some((text) => text === directory || text.includes(`"${directory}"`));
}

/** Host pids of the direct children of a process. */
export function listChildren(pid: number | string): string[] {
  return read(`/proc/${pid}/task/${pid}/children`)
    .split(" ")
    .filter((child) => child !== "");
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return ""; // it has ended
  }
}
