import { randomUUID } from "node:crypto";
import { readdir, utimes } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { collectEnvironments } from "@platform/engine/environments/collect-environments";
import type { DataDirectory } from "../host/data-directory.ts";
import type { GarbageStore } from "../store/garbage.ts";
import { collectObjects } from "./collect-objects.ts";
import { looksUnused, removeUnused } from "@platform/engine/files/remove-unused";
import { DAY } from "@platform/engine/base/time";
import { removeStale } from "./stale-files.ts";

/** An archive is stored at most minutes before the row that names it. */
const OBJECT_GRACE = 1 * DAY;
/**
 * Unpacked projects and environments that were not used for so long are removed, and created again when needed. Longer than
 * the longest run (a week), during which a use is not recorded.
 */
const UNUSED_AFTER = 14 * DAY;

/** What the collection works with. */
export interface GarbageOptions {
  readonly data: Pick<DataDirectory, "objects" | "versions" | "environments" | "run" | "root">;
  readonly garbage: GarbageStore;
  /** Milliseconds since the epoch. */
  readonly now?: number;
}

/** How many of each kind were removed. */
export type GarbageReport = Readonly<
  Record<"leftovers" | "objects" | "versions" | "environments" | "builds", number>
>;

/** Removes from this host what no row names, what was not used for two weeks, and what killed processes left behind. */
export async function collectGarbage({
  data,
  garbage,
  now = Date.now(),
}: GarbageOptions): Promise<GarbageReport> {
  // Shows that this process is alive: others remove run directories that were not touched for a day.
  await utimes(data.run, now / 1_000, now / 1_000).catch(() => undefined);
  const runs = dirname(data.run);
  return {
    leftovers:
      (await removeStale(join(data.objects, "incoming"), "", now)) +
      (await removeStale(data.versions, "incoming-", now)) +
      (basename(runs) === "run" && dirname(runs) === data.root ? await removeStale(runs, "", now) : 0),
    builds: await garbage.removeOldBuilds(),
    objects: await collectObjects({
      directory: data.objects,
      findNeeded: garbage.findNeededArchives,
      cutoff: now - OBJECT_GRACE,
    }),
    versions: await collectVersions(data.versions, now - UNUSED_AFTER),
    environments: await collectEnvironments(data.environments, {
      unusedSince: now - UNUSED_AFTER,
      abandonedSince: now - DAY,
    }),
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
