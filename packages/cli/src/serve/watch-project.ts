import { watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { listProjectFiles } from "@platform/engine/project/list-files";

/*
 * Two ways to notice an edit: events of every folder make it fast, a slow look at all files makes it correct (events are
 * lost on network and container file systems, and are scarce where many programs watch). Both only ask for a comparison
 * of the project's files with what they were: so ignored files, editors' temporary files and repeated events reload nothing.
 *
 * Node 18 cannot watch a tree on Linux, so each folder has a watcher of its own.
 */

const SETTLE_MILLISECONDS = 80;
const LOOK_MILLISECONDS = 2_000;
/** A look may take at most this share of the time. */
const LOOK_SHARE = 1 / 20;
const MAX_WATCHED_FOLDERS = 500;
const NEVER_WATCHED = new Set([".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv"]);

export interface ProjectWatcher {
  readonly close: () => void;
}

export interface WatchOptions {
  readonly directory: string;
  /** Paths relative to the project that do not count. */
  readonly exclude: readonly string[];
  /** Called after files of the project have changed and been quiet for a moment. Never called twice at once. */
  readonly onChange: () => Promise<void>;
}

/** Watches the files that belong to a version (`listProjectFiles`), from their present state on. */
export async function watchProject(options: WatchOptions): Promise<ProjectWatcher> {
  const watchers = new Map<string, FSWatcher>();
  let fingerprint = await takeFingerprint(options);
  let timer: NodeJS.Timeout | undefined;
  let looking = false;
  let lookAgain = false;
  let closed = false;

  const schedule = (milliseconds: number) => {
    clearTimeout(timer);
    if (!closed) timer = setTimeout(() => void look(), milliseconds);
  };

  const onEvent = () => {
    if (looking) lookAgain = true;
    else schedule(SETTLE_MILLISECONDS);
  };

  const look = async (): Promise<void> => {
    looking = true;
    const began = Date.now();
    const found = await takeFingerprint(options);
    const took = Date.now() - began;
    const hasChanged = found !== fingerprint;
    fingerprint = found;
    if (hasChanged && !closed) {
      await attach();
      await options.onChange();
    }
    looking = false;
    const isAskedAgain = lookAgain;
    lookAgain = false;
    schedule(isAskedAgain ? SETTLE_MILLISECONDS : Math.max(LOOK_MILLISECONDS, took / LOOK_SHARE));
  };

  const attach = async (): Promise<void> => {
    const folders = new Set(await listFolders(options.directory, options.exclude));
    for (const [folder, watcher] of watchers) {
      if (folders.has(folder)) continue;
      watcher.close();
      watchers.delete(folder);
    }
    for (const folder of folders) if (!watchers.has(folder) && !closed) attachOne(folder);
  };

  const attachOne = (folder: string) => {
    try {
      const watcher = watch(join(options.directory, folder), { persistent: false }, onEvent);
      watcher.on("error", () => {
        watcher.close();
        watchers.delete(folder);
      });
      watchers.set(folder, watcher);
    } catch {
      // Gone already, or the system's watches are used up: the slow look remains.
    }
  };

  await attach();
  schedule(LOOK_MILLISECONDS);
  return {
    close: () => {
      closed = true;
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}

/** Names, sizes and times of all files of the project; the fault's text while it cannot be listed. */
async function takeFingerprint({ directory, exclude }: WatchOptions): Promise<string> {
  try {
    const paths = await listProjectFiles(directory, exclude);
    const lines = await Promise.all(
      paths.map(async (path) => {
        const { size, mtimeMs, ino } = await stat(join(directory, path));
        return `${path}\0${size}\0${mtimeMs}\0${ino}`;
      }),
    );
    return lines.join("\n");
  } catch (error) {
    return `fault: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function listFolders(root: string, exclude: readonly string[]): Promise<readonly string[]> {
  const found = [""];
  for (const folder of found) {
    if (found.length >= MAX_WATCHED_FOLDERS) break;
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && !NEVER_WATCHED.has(entry.name) && !exclude.includes(path)) found.push(path);
    }
  }
  return found.slice(0, MAX_WATCHED_FOLDERS);
}
