import { rename, stat } from "node:fs/promises";
import { removeTree } from "./remove-tree.ts";

/*
 * Who relies on a file that is there already sets its modification time to now first. The collector sees that time twice:
 * before it decides, and after it has moved the file away, when nobody can find it any more. What was touched in between
 * goes back to its place. Whoever looks in the moment between finds nothing and makes it anew.
 */

/** Milliseconds since the epoch of the last use; null when there is nothing. */
async function readLastUse(path: string): Promise<number | null> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => null,
  );
}

/**
 * Removes what looked as if it was used last before `cutoff`; `aside` is a free name on the same disk. False when it stays, for it
 * was used meanwhile.
 */
export async function removeUnused(path: string, aside: string, cutoff: number): Promise<boolean> {
  try {
    await rename(path, aside);
  } catch {
    // Another collector was faster.
    return false;
  }
  const used = await readLastUse(aside);
  const isUnused = used === null || used < cutoff;
  // It may have been made anew meanwhile; then this one is not needed any more.
  if (!isUnused) await rename(aside, path).catch(() => undefined);
  await removeTree(aside);
  return isUnused;
}

/** Whether something is there that was used last before `cutoff`. */
export async function looksUnused(path: string, cutoff: number): Promise<boolean> {
  const used = await readLastUse(path);
  return used !== null && used < cutoff;
}
