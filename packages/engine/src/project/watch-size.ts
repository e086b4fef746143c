import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";

/** What a folder that a stranger's program fills may hold. */
export interface TreeLimits {
  readonly bytes: number;
  readonly entries: number;
}

const BLOCK = 512;
const PAUSE_MS = 3_000;

/** Whether a folder holds more than this; looks no further than that takes. Links are not followed, what vanishes does not count. */
export async function exceeds(directory: string, limits: TreeLimits): Promise<boolean> {
  let bytes = 0;
  let entries = 0;
  const waiting = [directory];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const entriesOfFolder = await opendir(folder).catch(() => null);
    if (entriesOfFolder === null) continue;
    for await (const entry of entriesOfFolder) {
      const path = join(folder, entry.name);
      entries += 1;
      if (entry.isDirectory()) waiting.push(path);
      else
        bytes += await lstat(path).then(
          ({ blocks }) => blocks * BLOCK,
          () => 0,
        );
      if (bytes > limits.bytes || entries > limits.entries) return true;
    }
  }
  return false;
}

/** Looks at a folder every few seconds and calls once when it holds too much. Returns how to stop. */
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
