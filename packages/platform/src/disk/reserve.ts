import { randomBytes } from "node:crypto";
import { open, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { MEGABYTE } from "@platform/engine/base/bytes";

/*
 * A file that takes space while the disk has enough, and is removed when the disk is full: PostgreSQL panics when it cannot
 * write its log, and cannot start again without space. The processes of a data directory share the file without locks:
 * all write the same blocks, and removing it twice does no harm.
 */
/** The reserve file of one data directory; made by `createReserve`, taken and released by the guard of the disk. */
export interface Reserve {
  /** Size of the complete file. */
  readonly bytes: number;
  /** Whether the file is complete; one of another size does not count. */
  readonly exists: () => Promise<boolean>;
  /** Writes the file. False when the disk has not enough space: then no file is left. */
  readonly take: () => Promise<boolean>;
  /** Removes the file. */
  readonly release: () => Promise<void>;
}

/** PostgreSQL's log has files of 16 MB; this suffices for running transactions and a recovery. */
const MAX_BYTES = 128 * MEGABYTE;
/** The largest part of a small disk. */
const MAX_SHARE = 1 / 8;

/** `directory`: on the disk; `diskBytes`: its size. */
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

/** Random bytes, so that file systems that compress or omit zeros allocate all blocks. */
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
