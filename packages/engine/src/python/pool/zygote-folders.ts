import { chmodSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { randomBytes } from "node:crypto";
import { removeTree } from "../../files/remove-tree.ts";
import type { Logger } from "../../base/logger.ts";
import { getCode } from "../../base/thrown.ts";

/**
 * The folders of zygotes: one for each, never reused.
 *
 * User code may have created any number of files in a folder. They are removed asynchronously, one after the
 * other, so that the removal never takes all four threads that serve the file access of this process.
 */
export interface ZygoteFolders {
  /** Creates a folder and returns its path; throws the system's error. */
  readonly create: () => string;
  /** Creates a folder for the input of one execution, below none that a sandbox shows; its name cannot be guessed. Throws the system's error. */
  readonly createInputs: () => string;
  /** Queues a folder for removal; one that cannot be removed is logged, and tried again at the next start. */
  readonly discard: (path: string) => void;
  /** Resolves when all discarded folders are removed or have failed to be. */
  readonly drain: () => Promise<void>;
}

/** In the folder of a zygote: those of the inputs of its executions, by names that cannot be guessed. */
export const INPUTS = "in";
/** Its children may enter it and not list it: as root it is not theirs, else they are its owner. */
const LISTED_BY_NOBODY = process.getuid?.() === 0 ? 0o711 : 0o311;
const ENTERED_BY_ALL = 0o711;
const NAME_BYTES = 16;

/** @param directory existing folder that only this process uses; remains of a killed process in it are discarded */
export function createZygoteFolders(directory: string, logger: Logger): ZygoteFolders {
  const inUse = join(directory, "z");
  let count = 0;
  let removals: Promise<void> = Promise.resolve();

  function discard(path: string): void {
    removals = removals
      .then(() => removeTree(path))
      .catch((error: unknown) => {
        reopenInputs(dirname(path), error);
        return removeTree(path);
      })
      .catch((error: unknown) => logger.error({ err: error, path }, "a folder could not be removed"));
  }

  const leftovers = readdirSync(directory).filter((name) => name.startsWith("left-"));
  for (const name of leftovers) discard(join(directory, name));
  const left = join(directory, `left-${process.pid}-${Date.now()}`);
  if (moveAway(inUse, left)) discard(left);
  makeFolder(inUse, ENTERED_BY_ALL);

  return {
    create: () => {
      const path = join(inUse, String((count += 1)));
      makeFolder(path, ENTERED_BY_ALL);
      makeFolder(join(path, INPUTS), LISTED_BY_NOBODY);
      return path;
    },
    createInputs: () => {
      const path = join(inUse, randomBytes(NAME_BYTES).toString("hex"));
      makeFolder(path, ENTERED_BY_ALL);
      return path;
    },
    discard,
    drain: async () => removals,
  };
}

/**
 * Opens the folder of inputs of a zygote again, where `error` says that it is closed: at level C as an ordinary user a run owns it, and nothing
 * keeps it from changing the mode. Throws any other error.
 */
export function reopenInputs(folder: string, error: unknown): void {
  if (basename(folder) !== INPUTS || getCode(error) !== "EACCES") throw error;
  chmodSync(folder, LISTED_BY_NOBODY);
}

/** With this mode whatever the umask is. */
function makeFolder(path: string, mode: number): void {
  mkdirSync(path);
  chmodSync(path, mode);
}

function moveAway(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (getCode(error) === "ENOENT") return false;
    throw error;
  }
}
