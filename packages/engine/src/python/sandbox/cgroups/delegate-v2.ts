import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { getCode } from "../../../base/thrown.ts";
import { enableControllers, V2_CONTROLLERS, weighAsProcessors } from "./cgroups-v2.ts";
import { listProcesses } from "./group-files.ts";
import type { OwnGroups } from "./locate.ts";
import { REST } from "./names.ts";

/** Each time, processes may have been started while others were moved. */
const ATTEMPTS = 100;

/**
 * Prepares that groups with limits can be created below a folder, and returns that folder: the worker's own group, or the root of the
 * whole hierarchy, where only root may create groups and which no service manager withholds controllers from.
 *
 * Version 2 gives controllers only to the children of a group without processes of its own ("no internal processes", admin-guide/cgroup-v2),
 * except for the root of the whole hierarchy. So the worker first moves all processes of its group, itself, who started it (npm, a shell)
 * and what it started so far, into a group beside those of its runs.
 *
 * @throws Error which says what is missing
 */
export function delegateV2(
  { folder, top }: Pick<Extract<OwnGroups, { version: 2 }>, "folder" | "top">,
  controllers: readonly string[] = V2_CONTROLLERS,
): string {
  // What was started from a group that a worker prepared is in the one for the rest.
  const own = basename(folder) === REST ? dirname(folder) : folder;
  try {
    prepare(own, controllers);
    return own;
  } catch (error) {
    if (top === own || !isRootOfAll(top)) throw error;
    try {
      prepare(top, controllers);
    } catch {
      throw error; // that of the group which can be delegated
    }
    return top;
  }
}

function prepare(base: string, controllers: readonly string[]): void {
  const available = readWords(join(base, "cgroup.controllers"));
  const missing = controllers.filter((name) => !available.includes(name));
  if (missing.length > 0)
    throw new Error(`the controllers ${missing.join(", ")} are not available in ${base}`);
  const enabled = readWords(join(base, "cgroup.subtree_control"));
  if (controllers.every((name) => enabled.includes(name))) return;
  if (isRootOfAll(base)) enableControllers(base, controllers);
  else enableBelow(base, controllers);
}

function enableBelow(base: string, controllers: readonly string[]): void {
  const rest = join(base, REST);
  mkdirSync(rest, { recursive: true });
  for (let attempt = 0; !tryToEnable(base, controllers); attempt += 1) {
    const others = listProcesses(base);
    if (attempt === ATTEMPTS) throw new Error(`processes stay in ${base} (${others.slice(0, 5).join(", ")})`);
    for (const id of others) moveProcess(id, rest);
  }
  // Else the worker, the database and all others here have the weight of one process.
  weighAsProcessors(rest);
}

/** False: there are processes in the group. */
function tryToEnable(group: string, controllers: readonly string[]): boolean {
  try {
    enableControllers(group, controllers);
    return true;
  } catch (error) {
    if (getCode(error) === "EBUSY") return false;
    throw error;
  }
}

function moveProcess(id: number, group: string): void {
  try {
    writeFileSync(join(group, "cgroup.procs"), String(id));
  } catch (error) {
    if (getCode(error) !== "ESRCH") throw error; // it has ended
  }
}

/** Every other group has a type. */
function isRootOfAll(group: string): boolean {
  return !existsSync(join(group, "cgroup.type"));
}

function readWords(path: string): readonly string[] {
  return readFileSync(path, "latin1").trim().split(" ");
}
