import { mkdir, open, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Creates a folder and the missing ones above it. Node's own `recursive` never returns where a file system refuses
 * to make folders with ENOENT (/proc; Node 24.21 spins in a thread of its pool).
 *
 * @throws the system's error
 */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  if (await isFolder(path)) return;
  if (dirname(path) !== path) await makeFolder(dirname(path), mode);
  await mkdir(path, mode).catch(async (error: NodeJS.ErrnoException) => {
    // Another process has created it meanwhile.
    if (error.code !== "EEXIST" || !(await isFolder(path))) throw error;
  });
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw error;
    },
  );
}

/** Makes what was created, linked or renamed in a directory last through a power cut (fsync(2)). */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** The space of the file system that a path is on, in bytes. `free`: what is available to ordinary users. */
export async function readSpace(path: string): Promise<{ readonly free: number; readonly total: number }> {
  const { bavail, blocks, bsize } = await statfs(path);
  return { free: bavail * bsize, total: blocks * bsize };
}
