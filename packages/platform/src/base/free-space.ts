import { statfs } from "node:fs/promises";

/** The space of the file system that a path is on, in bytes. `free`: what is available to ordinary users. */
export async function readSpace(path: string): Promise<{ readonly free: number; readonly total: number }> {
  const { bavail, blocks, bsize } = await statfs(path);
  return { free: bavail * bsize, total: blocks * bsize };
}
