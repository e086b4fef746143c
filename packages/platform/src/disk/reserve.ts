import { randomBytes } from "node:crypto";
import { open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { MEGABYTE } from "@platform/engine/base/bytes";

/*
 * Space that is taken while the disk has room and given back when it has none: PostgreSQL panics when it cannot write
 * its log, and does not start again. The processes of one data directory share the file and need no agreement: each
 * writes the same places, and removing it twice is removing it once.
 */
export interface Reserve {
  /** Size of the file when it is there, in bytes. */
  readonly bytes: number;
  readonly exists: () => Promise<boolean>;
  /** Takes the space, block by block. False when the disk filled up meanwhile: nothing is taken then. */
  readonly take: () => Promise<boolean>;
  readonly release: () => Promise<void>;
}

/** PostgreSQL's log comes in files of 16 MB; this holds what runs at the moment and a recovery. */
const MAX_BYTES = 128 * MEGABYTE;
/** Of a small disk, no more than this part. */
const MAX_SHARE = 1 / 8;

export function createReserve(directory: string, diskBytes: number): Reserve {
  const path = join(directory, "reserve");
  const bytes = Math.floor(Math.min(MAX_BYTES, diskBytes * MAX_SHARE) / MEGABYTE) * MEGABYTE;
  const release = () => rm(path, { force: true });
  return {
    bytes,
    exists: async () => (await stat(path).catch(() => null))?.size === bytes,
    take: async () => {
      try {
        await fill(path, bytes);
        return true;
      } catch {
        await release();
        return false;
      }
    },
    release,
  };
}

/** Real blocks: a file system that compresses or leaves out zeros finds nothing to save in random bytes. */
async function fill(path: string, bytes: number): Promise<void> {
  const block = randomBytes(MEGABYTE);
  const file = await open(path, "w", 0o600);
  try {
    for (let done = 0; done < bytes; done += MEGABYTE) await file.write(block, 0, MEGABYTE, done);
    await file.sync();
  } finally {
    await file.close();
  }
}
