import { readdir, readlink, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import { removeTree } from "../files/remove-tree.ts";
import { CACHES_FOLDER } from "./environment-folders.ts";
import { PREPARED_FOLDER } from "./prepared-packages.ts";
import { looksUnused, removeUnused } from "../files/remove-unused.ts";

/** Milliseconds since the epoch. */
export interface EnvironmentCutoffs {
  /** Environments that were last used before this time are removed, and built again when they are needed. */
  readonly unusedSince: number;
  /** Remains of builds whose process died before this time are removed. */
  readonly abandonedSince: number;
}

/** Removes environments of any format from the directory of an environment builder; old downloads, and what was prepared; returns the number of folders and logs. */
export async function collectEnvironments(directory: string, cutoffs: EnvironmentCutoffs): Promise<number> {
  const root = join(directory, "environments");
  const names = await readdir(root).catch(() => []);
  const links = new Map<string, string>();
  for (const name of names) {
    const target = await readlink(join(root, name)).catch(() => null);
    if (target !== null) links.set(name, target);
  }
  let removed = 0;
  for (const [link, target] of links) {
    if (await removeEnvironment(root, link, target, cutoffs.unusedSince)) removed += 1;
  }
  const published = new Set([...links.values()].flatMap((target) => [target, `${target}.log`]));
  for (const name of names) {
    if (links.has(name) || published.has(name)) continue;
    if (!(await looksUnused(join(root, name), cutoffs.abandonedSince))) continue;
    await removeTree(join(root, name));
    removed += 1;
  }
  removed += await collectCaches(join(directory, CACHES_FOLDER), cutoffs);
  return removed + (await collectPrepared(join(directory, PREPARED_FOLDER), cutoffs));
}

/** Of owners that build nothing any more; and those that became too large, whose names have a second part. */
function collectCaches(root: string, { unusedSince, abandonedSince }: EnvironmentCutoffs): Promise<number> {
  return removeEach(root, async (path, name) => {
    if (!(await looksUnused(path, name.includes("-") ? abandonedSince : unusedSince))) return false;
    await removeTree(path);
    return true;
  });
}

/** For interpreters that build nothing any more, or of a former month; and what was not finished, whose names have a dot. */
function collectPrepared(root: string, { unusedSince, abandonedSince }: EnvironmentCutoffs): Promise<number> {
  return removeEach(root, async (path, name) => {
    const isUnfinished = name.includes(".");
    if (!(await looksUnused(path, isUnfinished ? abandonedSince : unusedSince))) return false;
    // A build that has found it just now copies it.
    if (!isUnfinished) return removeUnused(path, `${path}.unused`, unusedSince);
    await removeTree(path);
    return true;
  });
}

/** @param remove whether it has removed an entry */
async function removeEach(
  root: string,
  remove: (path: string, name: string) => Promise<boolean>,
): Promise<number> {
  let removed = 0;
  for (const name of await readdir(root).catch(() => []))
    if (await remove(join(root, name), name)) removed += 1;
  return removed;
}

async function removeEnvironment(
  root: string,
  link: string,
  target: string,
  cutoff: number,
): Promise<boolean> {
  if (!(await looksUnused(join(root, target), cutoff))) return false;
  if (!(await removeUnused(join(root, target), join(root, `${target}.unused`), cutoff))) return false;
  await rm(join(root, `${target}.log`), { force: true });
  // Another process may have published a new build under the key meanwhile.
  const now = await readlink(join(root, link)).catch(() => null);
  if (now === target) await unlink(join(root, link)).catch(() => undefined);
  return true;
}
