import { randomUUID } from "node:crypto";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { looksUnused, removeUnused } from "@platform/engine/files/remove-unused";

/** Which objects are removed. */
export interface CollectObjectsOptions {
  /** The folder of the object store. */
  readonly directory: string;
  /** Which of these objects a row names. */
  readonly findNeeded: (hashes: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Milliseconds since the epoch. Younger objects are kept, since the row that names them may not be written yet. */
  readonly cutoff: number;
}

const SHARD = /^[0-9a-f]{2}$/;

/** Removes old objects that are not needed; returns how many. */
export async function collectObjects({
  directory,
  findNeeded,
  cutoff,
}: CollectObjectsOptions): Promise<number> {
  const shards = (await readdir(directory).catch(() => [])).filter((name) => SHARD.test(name));
  let removed = 0;
  for (const shard of shards) {
    const old: string[] = [];
    for (const hash of await readdir(join(directory, shard))) {
      if (await looksUnused(join(directory, shard, hash), cutoff)) old.push(hash);
    }
    const needed = old.length === 0 ? new Set() : await findNeeded(old);
    for (const hash of old) {
      if (needed.has(hash)) continue;
      const incoming = join(directory, "incoming");
      await mkdir(incoming, { recursive: true, mode: 0o700 });
      if (await removeUnused(join(directory, shard, hash), join(incoming, randomUUID()), cutoff))
        removed += 1;
    }
  }
  return removed;
}
