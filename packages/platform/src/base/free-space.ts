import { statfs } from "node:fs/promises";

export interface Space {
  /** Bytes that an ordinary user may still write. */
  readonly free: number;
  readonly total: number;
}

/** The file system that a path lies on. */
export async function readSpace(path: string): Promise<Space> {
  const { bavail, blocks, bsize } = await statfs(path);
  return { free: bavail * bsize, total: blocks * bsize };
}
