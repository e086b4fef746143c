import type { Stats } from "node:fs";
import { chmod, lchown, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { getCode } from "../base/thrown.ts";
import { ProjectError } from "../project/project-error.ts";
import type { SystemUser } from "./access.ts";

/** Whose tree it is, and what stops the work. */
export interface PublishOptions {
  /** The user that filled the tree; null: the user of this process. */
  readonly user: SystemUser | null;
  readonly signal: AbortSignal;
}

const EXECUTABLE_BITS = 0o111;
const FILES_AT_ONCE = 64;

/**
 * Takes the ownership of the tree from the build's user and makes it readable by all users. Links are not followed: they may point anywhere.
 * The owner of a folder is changed before its entries are read, so that no entry can be exchanged afterwards. A file of another user can only
 * be a hard link to a file of the host: making that readable would disclose it.
 */
export async function publishTree(path: string, build: PublishOptions): Promise<void> {
  const stats = await lstat(path).catch(refuseDepth);
  if (build.user !== null) await takeOver(path, stats, build.user);
  if (stats.isSymbolicLink()) return;
  if (stats.isFile()) return chmod(path, (stats.mode & EXECUTABLE_BITS) === 0 ? 0o644 : 0o755);
  if (!stats.isDirectory()) throw createForeign("a socket, pipe or device");
  await chmod(path, 0o755);
  const names = await readdir(path);
  if (names.some((name) => name.includes("\uFFFD"))) throw createForeign("a file whose name is not UTF-8");
  for (let start = 0; start < names.length; start += FILES_AT_ONCE) {
    build.signal.throwIfAborted();
    const some = names.slice(start, start + FILES_AT_ONCE);
    await Promise.all(some.map((name) => publishTree(join(path, name), build)));
  }
}

async function takeOver(path: string, stats: Stats, user: SystemUser): Promise<void> {
  if (stats.uid !== user.uid && !stats.isSymbolicLink()) throw createForeign("a file of another user");
  await lchown(path, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
}

/** ENAMETOOLONG: folders that are nested deeper than a path can name. */
function refuseDepth(error: unknown): never {
  throw getCode(error) === "ENAMETOOLONG" ? createForeign("folders that are nested too deeply") : error;
}

function createForeign(what: string): ProjectError {
  return new ProjectError("BUILD_FAILED", `The installed packages left ${what} in the environment.`);
}
