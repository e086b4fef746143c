import { randomUUID } from "node:crypto";
import {
  constants,
  copyFile,
  link,
  lstat,
  open,
  readdir,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { foldName } from "@platform/contract/file-name";
import { HOUR } from "@platform/engine/base/time";
import { getCode } from "@platform/engine/base/thrown";
import { refuseTarget } from "@platform/engine/store/refuse-target";
import { findPool, readPools } from "./pool-folder.ts";
import type { LocalFile, LocalPool } from "./pool-folder.ts";

/*
 * Files of a local data pool that are stored together: all, or none. Every content is written to a part first; then the parts get their names, one
 * after the other, each at once and never through a link. What was there before stays beside it until all have their names, and gets its name back
 * where one cannot have its own. A server that is killed in between leaves some, each as a whole.
 */

/** Names that begin with a period are no files of a pool. Also what was there before. */
const PART = /^\.[0-9a-f-]{36}\.part$/u;
/** Longer than a file of 1 GB takes: its server was killed. */
const PART_LIVES_MS = HOUR;
/** File systems without hard links, and files that only their owner may link. */
const NO_LINKS = new Set(["EPERM", "EMLINK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/** A file to be stored. */
export interface NewFile {
  /** One that a file of a local data pool can have. */
  readonly name: string;
  /** Called once. */
  readonly read: () => Promise<Uint8Array | Readable>;
}

/**
 * Stores them in the pool, one call after the other; no two names are equal but for case. Returns them as the pool has them: a file that is replaced keeps
 * its ids, and the upper and lower case of its name.
 *
 * @throws Problem DATA_REFERENCE_INVALID where the pool is gone; the system's error. Nothing is changed then.
 */
export async function storeFiles(
  root: string,
  dataPoolId: string,
  files: readonly NewFile[],
): Promise<readonly LocalFile[]> {
  const pool = await requirePool(root, dataPoolId);
  await removeOldParts(pool.path);
  const parts: Part[] = [];
  const moved: Moved[] = [];
  try {
    for (const file of files) parts.push(await writePart(pool, file));
    for (const part of parts) moved.push(await giveName(part));
    return await findStored(root, dataPoolId, parts);
  } catch (error) {
    for (const one of moved) await takeNameBack(one);
    throw error;
  } finally {
    for (const { part } of parts) await rm(part, { force: true });
    for (const { before } of moved) if (before !== null) await rm(before, { force: true });
  }
}

/** @param place of the pool in a start; default: of `persistTo`. @throws Problem DATA_REFERENCE_INVALID */
export async function requirePool(root: string, dataPoolId: string, place?: string): Promise<LocalPool> {
  const pool = findPool((await readPools(root)).pools, dataPoolId);
  if (pool === null) throw refuseTarget(place);
  return pool;
}

/** Content that has no name yet. Absolute paths. */
interface Part {
  readonly part: string;
  readonly path: string;
  readonly name: string;
}

async function writePart({ path, files }: LocalPool, { name, read }: NewFile): Promise<Part> {
  const part = nameNewPart(path);
  try {
    const file = await open(part, "wx");
    try {
      // Not before: nobody would hear of a stream that fails while the file is opened.
      await writeFile(file, await read());
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  const known = files.find((one) => foldName(one.name) === foldName(name))?.name ?? name;
  return { part, path: join(path, known), name: known };
}

/** Where a file is now, and where what it has replaced is; null: nothing was there. */
interface Moved {
  readonly path: string;
  readonly before: string | null;
}

async function giveName({ part, path }: Part): Promise<Moved> {
  const before = await keepBefore(path);
  try {
    await rename(part, path);
    return { path, before };
  } catch (error) {
    if (before !== null) await rm(before, { force: true });
    throw error;
  }
}

/** A second name of what is there, a link itself and not what it leads to; null: nothing is, or a folder, which no file replaces. */
async function keepBefore(path: string): Promise<string | null> {
  const found = await lstat(path).catch(() => null);
  if (found === null || found.isDirectory()) return null;
  const before = nameNewPart(dirname(path));
  // On macOS, link follows it.
  if (found.isSymbolicLink()) {
    await symlink(await readlink(path), before);
    return before;
  }
  try {
    await link(path, before);
  } catch (error) {
    if (!found.isFile() || !NO_LINKS.has(getCode(error) ?? "")) throw error;
    await copyFile(path, before, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  }
  return before;
}

/** Never rejects: the error that is the reason is the one to be told. */
async function takeNameBack({ path, before }: Moved): Promise<void> {
  const back = before === null ? rm(path, { force: true }) : rename(before, path);
  await back.catch(() => undefined);
}

/** In the order of the parts. @throws Problem DATA_REFERENCE_INVALID where the pool is gone meanwhile */
async function findStored(
  root: string,
  dataPoolId: string,
  parts: readonly Part[],
): Promise<readonly LocalFile[]> {
  const { files } = await requirePool(root, dataPoolId);
  return parts.map(({ name }) => {
    const file = files.find((one) => one.name === name);
    if (file === undefined) throw refuseTarget();
    return file;
  });
}

function nameNewPart(folder: string): string {
  return join(folder, `.${randomUUID()}.part`);
}

/** Of servers that were killed. */
async function removeOldParts(path: string): Promise<void> {
  for (const name of await readdir(path)) {
    if (!PART.test(name)) continue;
    const part = join(path, name);
    const found = await lstat(part).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs > PART_LIVES_MS) await rm(part, { force: true });
  }
}
