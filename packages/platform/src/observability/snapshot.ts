import { SECOND } from "@platform/engine/base/time";
import type { Logger } from "@platform/engine/base/logger";
import type { ReadinessFault } from "@platform/engine/http/server";
import type { BuildMeasure } from "../store/builds/measure-builds.ts";
import type { QueueMeasure } from "../store/executions/measure-queue.ts";
import type { VersionName } from "../store/versions/name-versions.ts";

/** What has to be asked of the database and of the disk. */
export interface Snapshot {
  readonly queue: QueueMeasure;
  readonly builds: readonly BuildMeasure[];
  readonly faults: readonly ReadinessFault[];
  readonly disk: { readonly free: number; readonly total: number };
}

/** Where a snapshot comes from: a handful of statements, whatever is scraped. */
export type SnapshotSources = {
  readonly [K in keyof Snapshot]: () => Promise<Snapshot[K]>;
} & { readonly nameVersions: (ids: readonly string[]) => Promise<ReadonlyMap<string, VersionName>> };

/** Keeps the last snapshot, so that scrapes cost the database little, however many there are. */
export interface SnapshotKeeper {
  /** Takes another where the last is old, and waits for it, but for no longer than a scrape may take. Never rejects. */
  readonly refresh: () => Promise<void>;
  /** The last; null: none could be taken yet. `at`: monotonic milliseconds. */
  readonly read: () => { readonly snapshot: Snapshot; readonly at: number } | null;
  /** The names that are known by now. */
  readonly names: ReadonlyMap<string, VersionName>;
}

/** What the keeper works with. */
export interface SnapshotKeeperOptions {
  readonly sources: SnapshotSources;
  /** Versions that names are wanted for. */
  readonly listVersions: () => readonly string[];
  readonly logger: Logger;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

const FRESH_MS = 5 * SECOND;
/** It may take one twentieth of the time at most: with 100,000 executions in the queue, each takes 0.1 s. */
const MAX_SHARE = 0.05;
const WAIT_MS = 12;

/** Nothing is read before the first scrape. */
export function createSnapshotKeeper(options: SnapshotKeeperOptions): SnapshotKeeper {
  const { sources, logger, now } = options;
  const names = new Map<string, VersionName>();
  let last: { readonly snapshot: Snapshot; readonly at: number } | null = null;
  let nextAt = -Infinity;
  let taking: Promise<void> | null = null;
  const take = async (): Promise<void> => {
    const at = now();
    try {
      const [queue, builds, faults, disk] = await Promise.all([
        sources.queue(),
        sources.builds(),
        sources.faults(),
        sources.disk(),
        learnNames(options, names),
      ]);
      last = { snapshot: { queue, builds, faults, disk }, at };
    } catch (error) {
      // The last stays, and its age shows that it is old.
      logger.warn({ err: error }, "what metrics show of the database could not be read");
    }
    nextAt = at + Math.max(FRESH_MS, (now() - at) / MAX_SHARE);
    taking = null;
  };
  return {
    names,
    read: () => last,
    refresh: async () => {
      if (now() >= nextAt) taking ??= take();
      if (taking !== null) await waitAtMost(taking, WAIT_MS);
    },
  };
}

/** Names do not change; what is no longer asked for is forgotten. */
async function learnNames(
  { sources, listVersions }: SnapshotKeeperOptions,
  names: Map<string, VersionName>,
): Promise<void> {
  const wanted = listVersions();
  for (const id of names.keys()) if (!wanted.includes(id)) names.delete(id);
  const unknown = wanted.filter((id) => !names.has(id));
  if (unknown.length === 0) return;
  for (const [id, name] of await sources.nameVersions(unknown)) names.set(id, name);
}

async function waitAtMost(work: Promise<void>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, over]);
  clearTimeout(timer);
}
