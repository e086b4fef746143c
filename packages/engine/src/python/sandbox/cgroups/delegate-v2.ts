import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { enableControllers, V2_CONTROLLERS } from "./cgroups-v2.ts";
import { listProcesses, removeGroup } from "./group-files.ts";
import { isSelf } from "./names.ts";
import type { WorkerNames } from "./names.ts";

/**
 * Prepares that groups with limits can be created below a folder, and returns the path of that folder, which does not exist yet.
 *
 * Version 2 gives controllers only to the children of a group without processes of its own ("no internal processes", admin-guide/cgroup-v2),
 * except for the root of the whole hierarchy. So the worker first moves itself into a group beside those of its runs.
 *
 * @throws Error which says what is missing
 */
export function delegateV2(own: string, names: WorkerNames): string {
  // A worker that another one started is in that one's group already.
  const base = isSelf(basename(own)) ? dirname(own) : own;
  const missing = V2_CONTROLLERS.filter(
    (name) => !readWords(join(base, "cgroup.controllers")).includes(name),
  );
  if (missing.length > 0)
    throw new Error(`the controllers ${missing.join(", ")} are not available in ${base}`);
  if (!isEnabled(base)) enableBelow(base, join(base, names.self));
  return join(base, names.runs);
}

function enableBelow(base: string, self: string): void {
  const isRoot = !existsSync(join(base, "cgroup.type"));
  if (isRoot) return enableControllers(base, V2_CONTROLLERS);
  mkdirSync(self, { recursive: true });
  writeFileSync(join(self, "cgroup.procs"), String(process.pid));
  try {
    const others = listProcesses(base);
    if (others.length > 0)
      throw new Error(`other processes are in ${base} (${others.slice(0, 5).join(", ")})`);
    enableControllers(base, V2_CONTROLLERS);
  } catch (error) {
    writeFileSync(join(base, "cgroup.procs"), String(process.pid));
    removeGroup(self);
    throw error;
  }
}

function isEnabled(group: string): boolean {
  const enabled = readWords(join(group, "cgroup.subtree_control"));
  return V2_CONTROLLERS.every((name) => enabled.includes(name));
}

function readWords(path: string): readonly string[] {
  return readFileSync(path, "latin1").trim().split(" ");
}
