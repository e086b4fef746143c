import { randomUUID } from "node:crypto";
import { readdir, stat, utimes } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { collectEnvironments } from "@platform/engine/environments/collect-environments";
import type { DataDirectory } from "../host/data-directory.ts";
import { removeUnusedCached } from "../objects/cache-files.ts";
import { INCOMING } from "../objects/local-objects.ts";
import type { ObjectStore } from "../objects/object-store.ts";
import { sweepObjects } from "../objects/sweep.ts";
import { PARTS, sweepParts } from "../pools/part-files.ts";
import type { GarbageStore } from "../store/garbage.ts";
import type { UploadStore } from "../store/pools/uploads.ts";
import { removeTree } from "@platform/engine/files/remove-tree";
import { looksUnused, removeUnused } from "@platform/engine/files/remove-unused";
import { DAY } from "@platform/engine/base/time";

/**
 * Unpacked projects, environments and cached objects that were not used for so long are removed, and created again when needed. Longer than
 * the longest run (a week), during which a use is not recorded.
 */
const UNUSED_AFTER = 14 * DAY;
/** No upload or unpacking takes so long: older files were left behind by a killed process. */
const STALE_AFTER = 1 * DAY;
/** Nothing is stored for so long: a process tries for minutes. */
const UNFINISHED_AFTER = 2 * DAY;

/** What the collection works with. */
export interface GarbageOptions {
  readonly data: Pick<
    DataDirectory,
    "objects" | "objectCache" | "versions" | "environments" | "run" | "root"
  >;
  readonly garbage: GarbageStore;
  readonly objects: Parameters<typeof sweepObjects>[0] & {
    readonly store: Pick<ObjectStore, "removeUnfinished">;
  };
  readonly uploads: Pick<UploadStore, "findNeeded">;
  /** Milliseconds since the epoch. */
  readonly now?: number;
}

/** How many of each kind were removed. */
export type GarbageReport = Readonly<
  Record<
    | "leftovers"
    | "objects"
    | "cached"
    | "versions"
    | "environments"
    | "builds"
    | "signIns"
    | "access"
    | "buckets"
    | "files"
    | "uploads"
    | "parts"
    | "reads",
    number
  >
>;

/** Removes from this host what no row names, what was not used for two weeks, and what killed processes left behind. */
export async function collectGarbage({
  data,
  garbage,
  objects,
  uploads,
  now = Date.now(),
}: GarbageOptions): Promise<GarbageReport> {
  // Shows that this process is alive: others remove run directories that were not touched for a day.
  await utimes(data.run, now / 1_000, now / 1_000).catch(() => undefined);
  const runs = dirname(data.run);
  const removed = {
    leftovers:
      (await removeStale(join(data.objects, INCOMING), "", now)) +
      (await removeStale(data.versions, "incoming-", now)) +
      (basename(runs) === "run" && dirname(runs) === data.root ? await removeStale(runs, "", now) : 0),
    builds: await garbage.removeOldBuilds(),
    signIns: await garbage.removeOldSignIns(),
    access: await garbage.removeEndedAccess(),
    buckets: await garbage.removeFullBuckets(),
    files: await garbage.removeEndedFiles(),
    uploads: await garbage.removeOldUploads(),
    parts: await sweepParts(join(data.objects, PARTS), uploads, now),
    reads: await garbage.removeReadObjects(),
    versions: await collectVersions(data.versions, now - UNUSED_AFTER),
    environments: await collectEnvironments(data.environments, {
      unusedSince: now - UNUSED_AFTER,
      abandonedSince: now - DAY,
    }),
    cached: await removeUnusedCached(data.objectCache, now - UNUSED_AFTER),
    // The last, since their store may be on another machine, and fail.
    objects: await sweepObjects(objects),
  };
  const unfinished = await objects.store.removeUnfinished(new Date(now - UNFINISHED_AFTER));
  return { ...removed, leftovers: removed.leftovers + unfinished };
}

const CONTENT_HASH = /^[0-9a-f]{64}$/;

async function collectVersions(directory: string, cutoff: number): Promise<number> {
  let removed = 0;
  for (const name of await readdir(directory).catch(() => [])) {
    if (!CONTENT_HASH.test(name)) continue;
    const path = join(directory, name);
    if (!(await looksUnused(path, cutoff))) continue;
    if (await removeUnused(path, join(directory, `incoming-${randomUUID()}`), cutoff)) removed += 1;
  }
  return removed;
}

/** Removes entries of a folder that begin with `prefix` and have not changed for a day; returns how many. */
export async function removeStale(directory: string, prefix: string, now = Date.now()): Promise<number> {
  const names = await readdir(directory).catch(() => []);
  let removed = 0;
  for (const name of names) {
    if (!name.startsWith(prefix)) continue;
    const path = join(directory, name);
    const changed = await stat(path).then(
      (stats) => stats.mtimeMs,
      () => now,
    );
    if (now - changed < STALE_AFTER) continue;
    await removeTree(path);
    removed += 1;
  }
  return removed;
}
