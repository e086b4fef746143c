import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { removeTree } from "@platform/engine/files/remove-tree";
import { HOUR } from "@platform/engine/base/time";

/** No upload or unpacking takes so long: older files were left behind by a killed process. */
const STALE_AFTER = 24 * HOUR;

/** Removes entries of a folder that begin with `prefix` and have not changed for a day; returns how many. */
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
