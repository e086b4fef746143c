import { chmodSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
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
  /** Creates a folder for the input of one execution, below none that a sandbox shows. Throws the system's error. */
  readonly createInputs: () => InputFolder;
  /** Queues a folder for removal; one that cannot be removed is logged, and tried again at the next start. */
  readonly discard: (path: string) => void;
  /** Resolves when all discarded folders are removed or have failed to be. */
  readonly drain: () => Promise<void>;
}

/** A folder for files, by a name that cannot be guessed. */
interface InputFolder {
  /** Of the files. */
  readonly path: string;
  /** Moves it into the folder `in` of a zygote; returns its name. Throws the system's error. */
  readonly moveTo: (folder: string) => string;
  /** Queues it for removal. */
  readonly discard: () => void;
}

/** In the folder of a zygote: those of the inputs of its executions, by names that cannot be guessed. */
export const INPUTS = "in";
/** Its children may enter it and not list it: as root it is not theirs, else they are its owner. */
const LISTED_BY_NOBODY = process.getuid?.() === 0 ? 0o711 : 0o311;
const ENTERED_BY_ALL = 0o711;
const ENTERED_BY_OWNER = 0o700;
/** Begins the name of the folder of inputs that no run was given yet. */
const UNSEEN = "inputs-";
/** What a killed process left. */
const LEFT = /^(?:left|inputs)-/u;
const NAME_BYTES = 16;

/** @param directory existing folder that only this process uses; remains of a killed process in it are discarded */
export function createZygoteFolders(directory: string, logger: Logger): ZygoteFolders {
  const inUse = join(directory, "z");
  const unseen = join(directory, `${UNSEEN}${drawName()}`);
  let count = 0;
  let removals: Promise<void> = Promise.resolve();

  function discard(path: string): void {
    removals = removals
      .then(() => removeTree(path))
      .catch((error: unknown) => logger.error({ err: error, path }, "a folder could not be removed"));
  }

  const leftovers = readdirSync(directory).filter((name) => LEFT.test(name));
  for (const name of leftovers) discard(join(directory, name));
  const left = join(directory, `left-${process.pid}-${Date.now()}`);
  if (moveAway(inUse, left)) discard(left);
  makeFolder(inUse, ENTERED_BY_ALL);
  makeFolder(unseen, ENTERED_BY_OWNER);

  return {
    create: () => {
      const path = join(inUse, String((count += 1)));
      makeFolder(path, ENTERED_BY_ALL);
      makeFolder(join(path, INPUTS), LISTED_BY_NOBODY);
      return path;
    },
    createInputs: () => createInputs(unseen, discard),
    discard,
    drain: async () => removals,
  };
}

/** @param unseen the folder in which it is made */
function createInputs(unseen: string, discard: ZygoteFolders["discard"]): InputFolder {
  const name = drawName();
  let path = join(unseen, name);
  makeFolder(path, ENTERED_BY_ALL);
  return {
    path,
    moveTo: (folder) => {
      renameSync(path, join(folder, name));
      path = join(folder, name);
      return name;
    },
    discard: () => discard(path),
  };
}

function drawName(): string {
  return randomBytes(NAME_BYTES).toString("hex");
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
