import { watch } from "node:fs";
import type { FSWatcher, Stats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { listProjectFiles } from "@platform/engine/project/list-files";
import { getMessage } from "@platform/engine/base/thrown";

/*
 * Edits are detected in two ways. Events of the file system make it fast; a periodic scan of all files makes it reliable, because
 * network and container file systems lose events, and the number of watches per user is limited. An event only triggers a scan, and
 * only a scan that finds the project's files changed reloads it: ignored files, temporary files of editors and repeated events do not.
 *
 * Node 18 cannot watch a tree recursively on Linux, so each folder has its own watcher.
 */

const SETTLE_MS = 80;
const SCAN_INTERVAL_MS = 2_000;
/** Scans may take at most this share of the time. */
const SCAN_SHARE = 1 / 20;
const MAX_WATCHED_FOLDERS = 500;
const NEVER_WATCHED = new Set([".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv"]);

/** A running watcher. */
export interface ProjectWatcher {
  readonly close: () => void;
}

/** What to watch. */
export interface WatchOptions {
  /** Absolute folder of the project. */
  readonly directory: string;
  /** Paths, relative to the project, that do not belong to it. */
  readonly exclude: readonly string[];
  /** Paths of single files, relative to the project, that count though they do not belong to it. They need not exist. */
  readonly include: readonly string[];
  /** Called after files of the project have changed. The next call waits until the promise of the previous one has settled. */
  readonly onChange: () => Promise<void>;
}

/** `waiting` for the next scan, `scanning` (`sawEvent`: an event has come since the scan began), or `closed`. */
type State =
  | { readonly phase: "waiting"; readonly timer: NodeJS.Timeout }
  | { readonly phase: "scanning"; readonly sawEvent: boolean }
  | { readonly phase: "closed" };

/** Watches the files of the project (`listProjectFiles`) for changes after the call. */
export async function watchProject(options: WatchOptions): Promise<ProjectWatcher> {
  let state: State = { phase: "scanning", sawEvent: false };
  let fingerprint = await takeFingerprint(options);
  const isClosed = () => state.phase === "closed";
  const folders = createFolderWatchers(options, () => {
    if (state.phase === "scanning") state = { phase: "scanning", sawEvent: true };
    if (state.phase === "waiting") wait(SETTLE_MS);
  });

  const wait = (milliseconds: number) => {
    if (state.phase === "waiting") clearTimeout(state.timer);
    if (!isClosed()) state = { phase: "waiting", timer: setTimeout(() => void scan(), milliseconds) };
  };

  const scan = async (): Promise<void> => {
    state = { phase: "scanning", sawEvent: false };
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
    const sawEvent = state.phase === "scanning" && state.sawEvent;
    wait(sawEvent ? SETTLE_MS : Math.max(SCAN_INTERVAL_MS, took / SCAN_SHARE));
  };

  await folders.update();
  wait(SCAN_INTERVAL_MS);
  return {
    close: () => {
      if (state.phase === "waiting") clearTimeout(state.timer);
      state = { phase: "closed" };
      folders.close();
    },
  };
}

interface FolderWatchers {
  /** Adapts the watchers to the folders that exist now. */
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
      // The folder was removed, or no watches are left: the periodic scan still finds changes.
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

/** Names, sizes and times of all files of the project; the message of the error if they cannot be listed. */
async function takeFingerprint({ directory, exclude, include }: WatchOptions): Promise<string> {
  try {
    const paths = await listProjectFiles(directory, exclude);
    const lines = await Promise.all(
      paths.map(async (path) => {
        return `${path}\0${describe(await stat(join(directory, path)))}`;
      }),
    );
    const beside = include.map((path) => stat(join(directory, path)).then(describe, () => "none"));
    return [...lines, ...(await Promise.all(beside))].join("\n");
  } catch (error) {
    return `error: ${getMessage(error)}`;
  }
}

function describe({ size, mtimeMs, ino }: Stats): string {
  return `${size}\0${mtimeMs}\0${ino}`;
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
