import { randomUUID } from "node:crypto";
import { chmod, constants, copyFile, lstat, mkdir, readdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { getCode } from "../../base/thrown.ts";
import { INPUT_NAMES } from "../port/runtime.ts";
import type { InputName, StagedInputs, StagingArea } from "../port/runtime.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { ZygoteFolders } from "./zygote-folders.ts";

/*
 * Input by reference reaches a child as files, which it opens itself: they are gathered in a folder that no sandbox shows, which is moved into the
 * folder `in` of a zygote when its child gets the request. `in` can be entered and not listed, and the name from there has 128 random bits that
 * only the request tells: code of siblings finds neither name nor content.
 */

const PERMISSIONS = 0o777;
/** A version may run as any user; nobody writes to it, neither does the platform. */
const READ_ONLY = 0o444;
const LISTED_BY_ALL = 0o755;
/** The folder of a data pool, before its number; `inputs.py` says the same. */
const POOL_PREFIX = "pool-";

interface StagingHost {
  readonly folders: Pick<ZygoteFolders, "createInputs">;
  readonly sandbox: Pick<Sandbox, "mayLink">;
}

/** See PythonRuntime. */
export async function stageInputs(
  { folders, sandbox }: StagingHost,
  fill: (area: StagingArea) => Promise<void>,
): Promise<StagedInputs> {
  const { path, moveTo, discard } = folders.createInputs();
  const bytes: Partial<Record<InputName, number>> = {};
  const pools: string[] = [];
  try {
    await fill({
      locate: (name) => join(path, name),
      makePool: async (number) => {
        const pool = join(path, `${POOL_PREFIX}${number}`);
        await mkdir(pool);
        // Whatever the umask is: a version may run as any user, and looks for what is in it.
        await chmod(pool, LISTED_BY_ALL);
        pools.push(pool);
        return pool;
      },
    });
    for (const pool of pools)
      for (const name of await readdir(pool)) await seal(join(pool, name), sandbox.mayLink);
    for (const name of INPUT_NAMES) {
      const size = await seal(join(path, name), sandbox.mayLink);
      if (size !== null) bytes[name] = size;
    }
  } catch (error) {
    discard();
    throw error;
  }
  return { bytes, moveTo, discard };
}

/** Makes it a file that the run can read and not change; its size, null where there is none. */
async function seal(path: string, mayLink: boolean): Promise<number | null> {
  const file = await lstat(path).catch((error: unknown) => {
    if (getCode(error) === "ENOENT") return null;
    throw error;
  });
  if (file === null) return null;
  if (!file.isFile()) throw new Error(`What was put at ${path} as an input is no regular file.`);
  const isLinked = file.nlink > 1;
  // Permissions of a linked file are those of the object that it is a link to.
  if (isLinked && mayLink && (file.mode & PERMISSIONS) === READ_ONLY) return file.size;
  if (isLinked) await replaceByCopy(path);
  await chmod(path, READ_ONLY);
  return file.size;
}

async function replaceByCopy(path: string): Promise<void> {
  // No longer than a name may be, and none that a file of the same data pool can have been given.
  const copy = join(dirname(path), randomUUID());
  await copyFile(path, copy, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await rename(copy, path);
}
