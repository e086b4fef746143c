import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { chmod, chown, open, opendir, rename, rm, rmdir, unlink } from "node:fs/promises";
import { getCode } from "../base/thrown.ts";

/*
 * `rm -rf` of a tree that an untrusted program created and may still be changing, by a process with more rights than that program (root).
 *
 * Node's `rm` checks the type of a path and then resolves the path again: a program that replaces a folder by a link in between chooses what is
 * removed. It also always fails for folders nested deeper than a path can name (4,096 bytes). So each folder is opened once, without following
 * links, its owner is changed, and its entries are addressed through its descriptor; nested folders are moved to the top first.
 */

/** O_PATH: refers to a file without opening it, which needs no permission on the file itself (open(2)). Node has no constant for it. */
const O_PATH = 0o10000000;
const FOLDER_ITSELF = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Bytes, since a name need not be UTF-8. */
type Path = string | Buffer;

/**
 * Removes a file, or a folder with its content; a path that does not exist is no error. Other users must not be able to write its parent.
 *
 * @throws the system's error
 */
export async function removeTree(path: string): Promise<void> {
  // Only Linux has paths through descriptors (/proc/self/fd); on other systems nothing runs as another user.
  if (process.platform !== "linux") return rm(path, { recursive: true, force: true });
  const prefix = `${randomBytes(8).toString("hex")}-`;
  let count = 0;
  const nameUnused = (): string => `${prefix}${(count += 1)}`;
  // More than one round: reading a folder may miss entries that are moved into it meanwhile.
  while (!(await removeFile(path)) && !(await removeEmpty(path))) {
    await inFolder(path, (top) => emptyTop(top, nameUnused));
  }
}

async function emptyTop(top: string, nameUnused: () => string): Promise<void> {
  for await (const entry of listEntries(top)) {
    if (await removeFile(entry)) continue;
    await inFolder(entry, async (folder) => {
      for await (const inner of listEntries(folder)) {
        if (await removeFile(inner)) continue;
        const target = `${top}/${nameUnused()}`;
        // Without root, only a folder that is writable can be moved.
        await inFolder(inner, async () => void (await rename(inner, target).catch(takeCode("ENOENT"))));
      }
    });
    await removeEmpty(entry);
  }
}

async function* listEntries(folder: string): AsyncGenerator<Buffer> {
  for await (const { name } of await opendir(folder, { encoding: "latin1" }))
    yield Buffer.from(`${folder}/${name}`, "latin1");
}

/** False when the entry is a folder. */
async function removeFile(path: Path): Promise<boolean> {
  return (await unlink(path).catch(takeCode("ENOENT", "EISDIR"))) !== "EISDIR";
}

/** False when the folder is not empty, or is no folder any more. */
async function removeEmpty(path: Path): Promise<boolean> {
  const code = await rmdir(path).catch(takeCode("ENOENT", "ENOTEMPTY", "ENOTDIR"));
  return code === undefined || code === "ENOENT";
}

/** Calls back with a path that refers to this folder even when it is renamed, once no other user can change its content. */
async function inFolder(path: Path, work: (folder: string) => Promise<void>): Promise<void> {
  // ENOTDIR, ELOOP: it was replaced after it was read as a folder; the next round removes the replacement.
  const handle = await open(path, FOLDER_ITSELF).catch(takeCode("ENOENT", "ENOTDIR", "ELOOP"));
  if (typeof handle === "string") return;
  try {
    const folder = `/proc/self/fd/${handle.fd}`;
    if (process.getuid?.() === 0) await chown(folder, 0, 0);
    await chmod(folder, 0o700);
    await work(folder);
  } finally {
    await handle.close();
  }
}

/** Returns the code of a system error that has one of these codes; other errors are thrown. */
function takeCode<const Code extends string>(...codes: readonly Code[]): (error: unknown) => Code {
  return (error) => {
    const found = codes.find((code) => getCode(error) === code);
    if (found === undefined) throw error;
    return found;
  };
}
