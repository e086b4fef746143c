import { statfs } from "node:fs/promises";

const PAUSE_MS = 250;
/** Below this number of free entries, nothing can be created on a disk soon. */
const MIN_FREE_ENTRIES = 1_000;

/**
 * Checks the disk of a folder several times a second and calls back once when less than `minFreeBytes` are free, or hardly an entry. That is
 * cheap, unlike measuring what a build has written, which is done less often. Returns a function that stops it.
 */
export function watchSpace(directory: string, minFreeBytes: number, onLow: () => void): () => void {
  let timer: NodeJS.Timeout | null = null;
  const stopped = new AbortController();
  const look = async (): Promise<void> => {
    const isLow = await hasLittleSpace(directory, minFreeBytes).catch(() => false);
    if (stopped.signal.aborted) return;
    if (isLow) onLow();
    else timer = setTimeout(() => void look(), PAUSE_MS);
  };
  void look();
  return () => {
    stopped.abort();
    if (timer !== null) clearTimeout(timer);
  };
}

async function hasLittleSpace(directory: string, minFreeBytes: number): Promise<boolean> {
  const { bavail, bsize, files, ffree } = await statfs(directory);
  // File systems without a fixed number of entries say that they have none.
  return bavail * bsize < minFreeBytes || (files > 0 && ffree < MIN_FREE_ENTRIES);
}
