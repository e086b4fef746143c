import type { Dir } from "node:fs";
import { lstat, opendir, statfs } from "node:fs/promises";
import { getCode } from "../base/thrown.ts";

/** Limits for a folder that an untrusted program fills. */
export interface TreeLimits {
  readonly bytes: number;
  readonly entries: number;
}

const BLOCK = 512;
const SIZE_PAUSE_MS = 3_000;
const SPACE_PAUSE_MS = 250;
/** Below this number of free entries, nothing can be created on a disk soon. */
const MIN_FREE_ENTRIES = 1_000;

/**
 * The bytes that a folder takes on its disk; null when it exceeds the limits, as soon as that is known. Links are not followed, and entries
 * that disappear do not count. A folder that cannot be read exceeds them: it is closed, or nested deeper than a path can name.
 */
export async function measureWithin(directory: string, limits: TreeLimits): Promise<number | null> {
  let bytes = 0;
  let entries = 0;
  // Paths are bytes: a name need not be UTF-8.
  const waiting = [Buffer.from(directory)];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const found = await openFolder(folder);
    if (found === "closed") return null;
    if (found === "gone") continue;
    for await (const entry of found) {
      const path = Buffer.concat([folder, Buffer.from(`/${entry.name}`, "latin1")]);
      entries += 1;
      if (entry.isDirectory()) waiting.push(path);
      else
        bytes += await lstat(path).then(
          ({ blocks }) => blocks * BLOCK,
          () => 0,
        );
      if (bytes > limits.bytes || entries > limits.entries) return null;
    }
  }
  return bytes;
}

async function openFolder(path: Buffer): Promise<Dir | "gone" | "closed"> {
  try {
    // Node.js 18 joins the text of a name to no path of bytes.
    const text = path.toString();
    return await opendir(Buffer.from(text).equals(path) ? text : path, { encoding: "latin1" });
  } catch (error) {
    const code = getCode(error);
    return code === "ENOENT" || code === "ENOTDIR" ? "gone" : "closed";
  }
}

/** Checks a folder every few seconds and calls back once when it exceeds the limits. Returns a function that stops it. */
export function watchSize(
  directory: string,
  limits: TreeLimits,
  onExceeded: () => void,
  pauseMs = SIZE_PAUSE_MS,
): () => void {
  const exceeds = async () => (await measureWithin(directory, limits)) === null;
  return watch(exceeds, onExceeded, pauseMs);
}

/**
 * Checks the disk of a folder several times a second and calls back once when less than `minFreeBytes` are free, or hardly an entry. That is
 * cheap, unlike measuring what a build has written, which is done less often. Returns a function that stops it.
 */
export function watchSpace(directory: string, minFreeBytes: number, onLow: () => void): () => void {
  return watch(() => hasLittleSpace(directory, minFreeBytes), onLow, SPACE_PAUSE_MS);
}

async function hasLittleSpace(directory: string, minFreeBytes: number): Promise<boolean> {
  const { bavail, bsize, files, ffree } = await statfs(directory);
  // File systems without a fixed number of entries say that they have none.
  return bavail * bsize < minFreeBytes || (files > 0 && ffree < MIN_FREE_ENTRIES);
}

/** Looks at once and then after each pause, until it has come about; what cannot be looked at has not. */
function watch(look: () => Promise<boolean>, onFound: () => void, pauseMs: number): () => void {
  let timer: NodeJS.Timeout | null = null;
  const stopped = new AbortController();
  const lookAgain = async (): Promise<void> => {
    const isFound = await look().catch(() => false);
    if (stopped.signal.aborted) return;
    if (isFound) onFound();
    else timer = setTimeout(() => void lookAgain(), pauseMs);
  };
  void lookAgain();
  return () => {
    stopped.abort();
    if (timer !== null) clearTimeout(timer);
  };
}
