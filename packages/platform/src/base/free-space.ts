import { statfs } from "node:fs/promises";

/** The space of a file system, in bytes. */
export interface Space {
  /** Available to ordinary users. */
  readonly free: number;
  readonly total: number;
}

/** The space of the file system that a path is on. */
export async function readSpace(path: string): Promise<Space> {
  const { bavail, blocks, bsize } = await statfs(path);
  return { free: bavail * bsize, total: blocks * bsize };
}
