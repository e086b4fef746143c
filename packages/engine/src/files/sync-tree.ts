import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";

/** Each fsync holds one of the four threads that all file operations of the process share. */
const FILES_AT_ONCE = 2;
// Never a link (it may point anywhere), never waiting for the other end of a named pipe.
const READ_ITSELF = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Flushes a tree of files to the disk, contents and names, so that it survives a power failure. Call it before the rename or the link
 * that publishes the tree: a published tree must be complete. The name of `directory` itself is not flushed: it is an entry of
 * its parent.
 *
 * 4,804 files took 0.4 s right after they were written (2 cores, ext4, 2026-11-22). `sync -f` took 0.3 s, but waits for what others write.
 *
 * @throws the reason of `signal` when it aborts, and the system's error (ENOSPC, EIO) when the disk did not take it
 */
export async function syncTree(directory: string, signal?: AbortSignal): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true });
  const ours = entries.filter((entry) => entry.isFile() || entry.isDirectory());
  const waiting = [directory, ...ours.map((entry) => join(entry.parentPath, entry.name))].values();
  const work = async (): Promise<void> => {
    for (const path of waiting) {
      signal?.throwIfAborted();
      await syncOne(path);
    }
  };
  await Promise.all(Array.from({ length: FILES_AT_ONCE }, work));
}

async function syncOne(path: string): Promise<void> {
  const handle = await open(path, READ_ITSELF);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
