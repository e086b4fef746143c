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
  /** Aborted: what is being removed is, and nothing else. */
  readonly signal?: AbortSignal;
}

/** Of what builders make, in all three folders: by a hash. In a folder that a user has chosen there may be anything else. */
const MADE_NAME = /^(?:v\d+-)?(?:[0-9a-f]{32}){1,2}(?:[-.][^/]*)?$/u;

/** Removes environments of any format from the directory of an environment builder; old downloads, and what was prepared; returns the number of folders and logs. */
export async function collectEnvironments(directory: string, cutoffs: EnvironmentCutoffs): Promise<number> {
  const environments = await collectBuilt(join(directory, "environments"), cutoffs);
  const caches = await collectCaches(join(directory, CACHES_FOLDER), cutoffs);
  return environments + caches + (await collectPrepared(join(directory, PREPARED_FOLDER), cutoffs));
}

/** Environments that nobody uses any more, and what builds have left that ended before they had one. */
async function collectBuilt(root: string, cutoffs: EnvironmentCutoffs): Promise<number> {
  const names = await listMade(root);
  const links = new Map<string, string>();
  for (const name of names) {
    const target = await readlink(join(root, name)).catch(() => null);
    if (target !== null && MADE_NAME.test(target)) links.set(name, target);
  }
  const unused = await removeEach(links, cutoffs, ([link, target]) =>
    removeEnvironment(root, link, target, cutoffs.unusedSince),
  );
  const published = new Set([...links.values()].flatMap((target) => [target, `${target}.log`]));
  const others = names.filter((name) => !links.has(name) && !published.has(name));
  const abandoned = await removeEach(others, cutoffs, (name) =>
    removeOld(join(root, name), cutoffs.abandonedSince),
  );
  return unused + abandoned;
}

/** Of owners that build nothing any more; and those that became too large, whose names have a second part. */
async function collectCaches(root: string, cutoffs: EnvironmentCutoffs): Promise<number> {
  return removeEach(await listMade(root), cutoffs, (name) =>
    removeOld(join(root, name), name.includes("-") ? cutoffs.abandonedSince : cutoffs.unusedSince),
  );
}

/** For interpreters that build nothing any more, or of a former month; and what was not finished, whose names have a dot. */
async function collectPrepared(root: string, cutoffs: EnvironmentCutoffs): Promise<number> {
  const { unusedSince, abandonedSince } = cutoffs;
  return removeEach(await listMade(root), cutoffs, async (name) => {
    const path = join(root, name);
    if (name.includes(".")) return removeOld(path, abandonedSince);
    // A build that has found it just now copies it.
    return (await looksUnused(path, unusedSince)) && removeUnused(path, `${path}.unused`, unusedSince);
  });
}

async function listMade(root: string): Promise<readonly string[]> {
  return (await readdir(root).catch(() => [])).filter((name) => MADE_NAME.test(name));
}

/** How many were removed. @param remove whether it has removed this one */
async function removeEach<T>(
  entries: Iterable<T>,
  { signal }: EnvironmentCutoffs,
  remove: (entry: T) => Promise<boolean>,
): Promise<number> {
  let removed = 0;
  for (const entry of entries) {
    if (signal?.aborted === true) break;
    if (await remove(entry)) removed += 1;
  }
  return removed;
}

async function removeOld(path: string, cutoff: number): Promise<boolean> {
  if (!(await looksUnused(path, cutoff))) return false;
  await removeTree(path);
  return true;
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
