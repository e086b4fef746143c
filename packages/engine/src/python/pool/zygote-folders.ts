import { chmodSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { removeTree } from "../../files/remove-tree.ts";
import type { Logger } from "../../base/logger.ts";

/**
 * The folders of zygotes: one each, never used again.
 *
 * User code may have filled one with any number of files. They are therefore removed off the event loop, one file after the
 * other, so that the four threads which serve all file access of this process are never all taken by it.
 */
export interface Rooms {
  /** Path of a new folder; throws when the disk refuses it. */
  readonly create: () => string;
  /** Removes it when its turn comes; what cannot be removed is logged, and tried again at the next start. */
  readonly discard: (path: string) => void;
  /** Resolves when all that was discarded is gone or given up. */
  readonly drain: () => Promise<void>;
}

/** @param directory existing folder of ours; what a killed process left in it is discarded */
export function createRooms(directory: string, logger: Logger): Rooms {
  const inUse = join(directory, "z");
  let count = 0;
  let removals: Promise<void> = Promise.resolve();

  function discard(path: string): void {
    removals = removals
      .then(() => removeTree(path))
      .catch((error: unknown) => logger.error({ err: error, path }, "a folder could not be removed"));
  }

  const leftovers = readdirSync(directory).filter((name) => name.startsWith("left-"));
  for (const name of leftovers) discard(join(directory, name));
  const left = join(directory, `left-${process.pid}-${Date.now()}`);
  if (moveAway(inUse, left)) discard(left);
  mkdirSync(inUse);
  chmodSync(inUse, 0o711);

  return {
    create: () => {
      const path = join(inUse, String((count += 1)));
      mkdirSync(path, { mode: 0o711 });
      return path;
    },
    discard,
    drain: async () => removals,
  };
}

function moveAway(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
}
