import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { removeTree } from "@platform/engine/files/remove-tree";
import { HOUR } from "@platform/engine/base/time";

/** No upload and no unpacking takes so long; what is older was left behind by a process that was killed. */
const STALE_AFTER = 24 * HOUR;

/** Removes what begins with `prefix` in a folder and has not changed for a day; says how many. A folder that is not there is empty. */
export async function removeStale(directory: string, prefix: string, now = Date.now()): Promise<number> {
  const names = await readdir(directory).catch(() => []);
  let removed = 0;
  for (const name of names) {
    if (!name.startsWith(prefix)) continue;
    const path = join(directory, name);
    const changed = await stat(path).then(
      (stats) => stats.mtimeMs,
      () => now,
    );
    if (now - changed < STALE_AFTER) continue;
    await removeTree(path);
    removed += 1;
  }
  return removed;
}
