import { rename, stat } from "node:fs/promises";
import { removeTree } from "./remove-tree.ts";

/*
 * A process that relies on an existing file sets its modification time to now first. The collector reads that time twice:
 * before it decides, and after it has moved the file away, when other processes can no longer find it. A file that was touched in between
 * is moved back. A process that looks for it between the two moves does not find it and creates it again.
 */

/** Milliseconds since the epoch of the last use; null when there is nothing. */
async function readLastUse(path: string): Promise<number | null> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => null,
  );
}

/**
 * Removes a file or folder that was last used before `cutoff`; `aside` is a free path on the same file system. False when it is kept,
 * because it was used meanwhile.
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
  if (!isUnused && (await putBack(aside, path))) return false;
  await removeTree(aside);
  return isUnused;
}

/** Whether it could be: it may have been created again meanwhile; then this one is not needed any more. */
async function putBack(aside: string, path: string): Promise<boolean> {
  return rename(aside, path).then(
    () => true,
    () => false,
  );
}

/** Whether the path exists and was last used before `cutoff` (milliseconds since the epoch). */
export async function looksUnused(path: string, cutoff: number): Promise<boolean> {
  const used = await readLastUse(path);
  return used !== null && used < cutoff;
}
