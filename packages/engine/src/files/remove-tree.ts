import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { chmod, chown, open, opendir, rename, rm, rmdir, unlink } from "node:fs/promises";

/*
 * `rm -rf` for what a stranger's program made and may still be changing, by a process that can do more than that program (root).
 *
 * Node's own `rm` asks what a path is and then walks that path once more: whoever exchanges a folder for a link in between chooses what is
 * removed. It also fails for ever where folders lie deeper than a path can name (4,096 bytes). So each folder is opened once, without following
 * a link, taken away from its owner, and its entries are named from its descriptor; folders in folders are moved to the top first.
 */

/** What names a file without opening it: needs no permission for the file itself (open(2); Node has no name for it). */
const O_PATH = 0o10000000;
const FOLDER_ITSELF = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Bytes, since a name need not be UTF-8. */
type Path = string | Buffer;

/**
 * Removes a file or a folder with all that it holds; what is not there is no error. Nobody else may write the folder that it lies in.
 *
 * @throws the system's error
 */
export async function removeTree(path: string): Promise<void> {
  // Only Linux names files from descriptors; elsewhere nothing runs under another user.
  if (process.platform !== "linux") return rm(path, { recursive: true, force: true });
  const prefix = `${randomBytes(8).toString("hex")}-`;
  let count = 0;
  const nameUnused = (): string => `${prefix}${(count += 1)}`;
  // More than one round: reading a folder may leave out what was moved there meanwhile.
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
        // Who is not root may only move a folder that it can write.
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

/** False when it is a folder. */
async function removeFile(path: Path): Promise<boolean> {
  return (await unlink(path).catch(takeCode("ENOENT", "EISDIR"))) !== "EISDIR";
}

/** False when something is in it, or it is something else by now. */
async function removeEmpty(path: Path): Promise<boolean> {
  const code = await rmdir(path).catch(takeCode("ENOENT", "ENOTEMPTY", "ENOTDIR"));
  return code === undefined || code === "ENOENT";
}

/** Calls with a path that means this folder whatever happens to its name, when nobody else can change what it holds any more. */
async function inFolder(path: Path, work: (folder: string) => Promise<void>): Promise<void> {
  // ENOTDIR, ELOOP: it was a folder a moment ago; the next round removes what it is now.
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

/** Takes these codes of the system's errors for answers. */
function takeCode<const Code extends string>(...codes: readonly Code[]): (error: unknown) => Code {
  return (error) => {
    const found = codes.find((code) => error instanceof Error && "code" in error && error.code === code);
    if (found === undefined) throw error;
    return found;
  };
}
