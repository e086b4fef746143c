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

/** `waiting` for the next look, `looking`, `looking` with an event since that look began, or `closed`. */
type State =
  | { readonly phase: "waiting"; readonly timer: NodeJS.Timeout }
  | { readonly phase: "looking"; readonly sawEvent: boolean }
  | { readonly phase: "closed" };

/** Watches the files that belong to a version (`listProjectFiles`), from their present state on. */
export async function watchProject(options: WatchOptions): Promise<ProjectWatcher> {
  let state: State = { phase: "looking", sawEvent: false };
  let fingerprint = await takeFingerprint(options);
  const isClosed = () => state.phase === "closed";
  const folders = createFolderWatchers(options, () => {
    if (state.phase === "looking") state = { phase: "looking", sawEvent: true };
    if (state.phase === "waiting") wait(SETTLE_MILLISECONDS);
  });

  const wait = (milliseconds: number) => {
    if (state.phase === "waiting") clearTimeout(state.timer);
    if (!isClosed()) state = { phase: "waiting", timer: setTimeout(() => void look(), milliseconds) };
  };

  const look = async (): Promise<void> => {
    state = { phase: "looking", sawEvent: false };
    const began = Date.now();
    const found = await takeFingerprint(options);
    const took = Date.now() - began;
    const hasChanged = found !== fingerprint;
    fingerprint = found;
    if (hasChanged && !isClosed()) {
      await folders.update();
      await options.onChange();
    }
    if (isClosed()) return folders.close();
    const sawEvent = state.phase === "looking" && state.sawEvent;
    wait(sawEvent ? SETTLE_MILLISECONDS : Math.max(LOOK_MILLISECONDS, took / LOOK_SHARE));
  };

  await folders.update();
  wait(LOOK_MILLISECONDS);
  return {
    close: () => {
      if (state.phase === "waiting") clearTimeout(state.timer);
      state = { phase: "closed" };
      folders.close();
    },
  };
}

interface FolderWatchers {
  /** Watches the folders that are there now, and those only. */
  readonly update: () => Promise<void>;
  readonly close: () => void;
}

function createFolderWatchers({ directory, exclude }: WatchOptions, onEvent: () => void): FolderWatchers {
  const watchers = new Map<string, FSWatcher>();
  const remove = (folder: string) => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  const add = (folder: string) => {
    try {
      const watcher = watch(join(directory, folder), { persistent: false }, onEvent);
      watcher.on("error", () => remove(folder));
      watchers.set(folder, watcher);
    } catch {
      // Gone already, or the system's watches are used up: the slow look remains.
    }
  };
  return {
    update: async () => {
      const folders = new Set(await listFolders(directory, exclude));
      for (const folder of watchers.keys()) if (!folders.has(folder)) remove(folder);
      for (const folder of folders) if (!watchers.has(folder)) add(folder);
    },
    close: () => {
      for (const folder of watchers.keys()) remove(folder);
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
