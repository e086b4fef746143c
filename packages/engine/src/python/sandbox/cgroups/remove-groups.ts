import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { getCode } from "../../../base/thrown.ts";
import { killProcesses, removeGroup } from "./group-files.ts";
import { isLeftOver } from "./names.ts";

const ATTEMPTS = 100;
const PAUSE_MS = 20;

/** As `removeGroups`, with the groups directly below them. */
export function removeTrees(paths: readonly string[]): Promise<boolean> {
  return removeGroups(paths.flatMap((path) => [...listGroups(path).map((name) => join(path, name)), path]));
}

/** Removes the groups that dead workers left in a folder, with all processes in them. What cannot be removed is left for the next start. */
export async function sweepLeftOvers(folder: string): Promise<void> {
  const names = listGroups(folder).filter(isLeftOver);
  await Promise.all(names.map((name) => removeTrees([join(folder, name)])));
}

/** Kills what is in these groups, and removes them in this order. False: some of it did not end in 2 seconds, or may not be removed. Never rejects. */
export async function removeGroups(paths: readonly string[]): Promise<boolean> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (attempt > 0) await delay(PAUSE_MS);
    if (paths.filter((path) => !tryToRemove(path)).length === 0) return true;
  }
  return false;
}

/** The kernel forgets a process a moment after its end was reported; until then the group is busy. Another worker may remove it as well. */
function tryToRemove(path: string): boolean {
  try {
    removeGroup(path);
    return true;
  } catch {
    tryToKill(path);
    return false;
  }
}

function tryToKill(path: string): void {
  try {
    killProcesses(path);
  } catch {
    // It is gone, or not this user's.
  }
}

/** Names of the groups directly below a group; empty when it is missing. */
function listGroups(path: string): readonly string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name);
  } catch (error) {
    if (getCode(error) === "ENOENT") return [];
    throw error;
  }
}
