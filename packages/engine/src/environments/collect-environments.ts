import { readdir, readlink, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import { getMessage } from "../base/thrown.ts";
import { removeTree } from "../files/remove-tree.ts";
import { BUILD_NAME, CACHES_FOLDER, CACHE_NAME, LINK_NAME } from "./environment-folders.ts";
import { PREPARED_FOLDER, PREPARED_NAME } from "./prepared-packages.ts";
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

/** Of builds that are being removed, and of what was prepared. */
const ASIDE = ".unused";

/**
 * Removes environments of any format from the directory of an environment builder; old downloads, and what was prepared; returns the number of
 * folders and logs. What no builder has named is left alone: in a folder that a user has chosen there may be anything.
 *
 * @throws Error the first failure, after all else was removed
 */
export async function collectEnvironments(directory: string, cutoffs: EnvironmentCutoffs): Promise<number> {
  const removal = createRemoval(cutoffs.signal);
  await collectBuilds(join(directory, "environments"), cutoffs, removal);
  await collectCaches(join(directory, CACHES_FOLDER), cutoffs, removal);
  await collectPrepared(join(directory, PREPARED_FOLDER), cutoffs, removal);
  return removal.finish();
}

/** Environments that nobody uses any more, and what builds have left that ended before they had one. */
async function collectBuilds(root: string, cutoffs: EnvironmentCutoffs, removal: Removal): Promise<void> {
  const names = await list(root);
  const links = new Map<string, string>();
  for (const name of names.filter((one) => LINK_NAME.test(one))) {
    const target = await readlink(join(root, name)).catch(() => null);
    if (target !== null && BUILD_NAME.test(target)) links.set(name, target);
  }
  for (const [link, target] of links)
    await removal.try(join(root, target), () => removeEnvironment(root, link, target, cutoffs.unusedSince));
  const published = new Set([...links.values()].flatMap((target) => [target, `${target}.log`]));
  for (const name of names) {
    if (published.has(name) || !BUILD_NAME.test(name.replace(ASIDE, ""))) continue;
    await removal.try(join(root, name), (path) => removeOld(path, cutoffs.abandonedSince));
  }
}

/** Of owners that build nothing any more; and those that became too large, whose names have a second part. */
async function collectCaches(root: string, cutoffs: EnvironmentCutoffs, removal: Removal): Promise<void> {
  const { unusedSince, abandonedSince } = cutoffs;
  for (const name of await list(root)) {
    if (!CACHE_NAME.test(name)) continue;
    await removal.try(join(root, name), (path) =>
      removeOld(path, name.includes("-") ? abandonedSince : unusedSince),
    );
  }
}

/** For interpreters that build nothing any more, or of a former month; and what was not finished, whose names have a dot. */
async function collectPrepared(root: string, cutoffs: EnvironmentCutoffs, removal: Removal): Promise<void> {
  const { unusedSince, abandonedSince } = cutoffs;
  for (const name of await list(root)) {
    if (!PREPARED_NAME.test(name)) continue;
    await removal.try(join(root, name), async (path) => {
      if (name.includes(".")) return removeOld(path, abandonedSince);
      // A build that has found it just now copies it.
      return (await looksUnused(path, unusedSince)) && removeUnused(path, `${path}${ASIDE}`, unusedSince);
    });
  }
}

/** One pass of the collector: what cannot be removed keeps nothing else from it. */
interface Removal {
  /** @param remove whether it has removed it */
  readonly try: (path: string, remove: (path: string) => Promise<boolean>) => Promise<void>;
  /** How many were removed. @throws Error the first failure */
  readonly finish: () => number;
}

function createRemoval(signal?: AbortSignal): Removal {
  let removed = 0;
  const failures: Error[] = [];
  return {
    try: async (path, remove) => {
      if (signal?.aborted === true) return;
      try {
        if (await remove(path)) removed += 1;
      } catch (error) {
        failures.push(new Error(`${path}: ${getMessage(error)}`, { cause: error }));
      }
    },
    finish: () => {
      const [failure] = failures;
      if (failure !== undefined) throw failure;
      return removed;
    },
  };
}

async function list(root: string): Promise<readonly string[]> {
  return readdir(root).catch(() => []);
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
  if (!(await removeUnused(join(root, target), join(root, `${target}${ASIDE}`), cutoff))) return false;
  await rm(join(root, `${target}.log`), { force: true });
  // Another process may have published a new build under the key meanwhile.
  const now = await readlink(join(root, link)).catch(() => null);
  if (now === target) await unlink(join(root, link)).catch(() => undefined);
  return true;
}
