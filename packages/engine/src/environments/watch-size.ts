import type { Dir } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { getSystemCode } from "../project/project-error.ts";

/** Limits for a folder that an untrusted program fills. */
export interface TreeLimits {
  readonly bytes: number;
  readonly entries: number;
}

const BLOCK = 512;
const PAUSE_MS = 3_000;

/** Whether a folder exceeds the limits; see `measureWithin`. */
export async function exceeds(directory: string, limits: TreeLimits): Promise<boolean> {
  return (await measureWithin(directory, limits)) === null;
}

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
    const code = getSystemCode(error);
    return code === "ENOENT" || code === "ENOTDIR" ? "gone" : "closed";
  }
}

/** Checks a folder every few seconds and calls back once when it exceeds the limits. Returns a function that stops it. */
export function watchSize(
  directory: string,
  limits: TreeLimits,
  onExceeded: () => void,
  pauseMs = PAUSE_MS,
): () => void {
  let timer: NodeJS.Timeout | null = null;
  const stopped = new AbortController();
  const look = async (): Promise<void> => {
    const isTooLarge = await exceeds(directory, limits).catch(() => false);
    if (stopped.signal.aborted) return;
    if (isTooLarge) onExceeded();
    else timer = setTimeout(() => void look(), pauseMs);
  };
  timer = setTimeout(() => void look(), pauseMs);
  return () => {
    stopped.abort();
    if (timer !== null) clearTimeout(timer);
  };
}
