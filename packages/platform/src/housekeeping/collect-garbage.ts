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
    | "keys"
    | "files"
    | "uploads"
    | "parts"
    | "reads"
    | "deliveries",
    number
  >
>;

/**
 * Removes from this host what no row names, what was not used for two weeks, and what killed processes left behind. What fails keeps nothing
 * else from being removed.
 *
 * @throws the first failure, after the others
 */
export async function collectGarbage(options: GarbageOptions): Promise<GarbageReport> {
  const { data, now = Date.now() } = options;
  // Shows that this process is alive: others remove run directories that were not touched for a day.
  await utimes(data.run, now / 1_000, now / 1_000).catch(() => undefined);
  const failures: unknown[] = [];
  const attempt = async (remove: () => Promise<number>) =>
    await remove().catch((error: unknown) => {
      failures.push(error);
      return 0;
    });
  // Before the files of uploads, which their rows keep.
  const rows = await collectRows(options, attempt);
  const files = await collectFiles(options, now, attempt);
  // The last, since their store may be on another machine, and fail.
  const objects = await attempt(() => sweepObjects(options.objects));
  const unfinished = await attempt(() =>
    options.objects.store.removeUnfinished(new Date(now - UNFINISHED_AFTER)),
  );
  if (failures.length > 0) throw failures[0];
  return { ...files, ...rows, objects, leftovers: files.leftovers + unfinished };
}

type Attempt = (remove: () => Promise<number>) => Promise<number>;

async function collectFiles({ data, uploads }: GarbageOptions, now: number, attempt: Attempt) {
  const runs = dirname(data.run);
  const hasOwnRuns = basename(runs) === "run" && dirname(runs) === data.root;
  return {
    leftovers:
      (await attempt(() => removeStale(join(data.objects, INCOMING), "", now))) +
      (await attempt(() => removeStale(data.versions, "incoming-", now))) +
      (hasOwnRuns ? await attempt(() => removeStale(runs, "", now)) : 0),
    parts: await attempt(() => sweepParts(join(data.objects, PARTS), uploads, now)),
    versions: await attempt(() => collectVersions(data.versions, now - UNUSED_AFTER)),
    environments: await attempt(() =>
      collectEnvironments(data.environments, {
        unusedSince: now - UNUSED_AFTER,
        abandonedSince: now - DAY,
      }),
    ),
    cached: await attempt(() => removeUnusedCached(data.objectCache, now - UNUSED_AFTER)),
  };
}

async function collectRows({ garbage }: GarbageOptions, attempt: Attempt) {
  return {
    builds: await attempt(garbage.removeOldBuilds),
    signIns: await attempt(garbage.removeOldSignIns),
    access: await attempt(garbage.removeEndedAccess),
    buckets: await attempt(garbage.removeFullBuckets),
    keys: await attempt(garbage.removeOldKeys),
    files: await attempt(garbage.removeEndedFiles),
    uploads: await attempt(garbage.removeOldUploads),
    reads: await attempt(garbage.removeReadObjects),
    deliveries: await attempt(garbage.removeOldDeliveries),
  };
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
