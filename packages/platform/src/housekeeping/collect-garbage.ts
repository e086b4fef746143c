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

/** From the arrival of an archive to the row that names it, minutes pass at most. */
const OBJECT_GRACE = 1 * DAY;
/** What is unpacked or installed and was not used for so long is made again when it is: longer than the longest run (a week), which uses it without a word. */
const UNUSED_AFTER = 14 * DAY;

export interface GarbageOptions {
  readonly data: Pick<DataDirectory, "objects" | "versions" | "environments" | "run" | "root">;
  readonly garbage: GarbageStore;
  /** Milliseconds since the epoch. */
  readonly now?: number;
}

/** What was removed, by kind. */
export type GarbageReport = Readonly<
  Record<"leftovers" | "objects" | "versions" | "environments" | "builds", number>
>;

/** Removes what no row names, what was not used for two weeks, and what killed processes left behind, on this host. */
export async function collectGarbage({
  data,
  garbage,
  now = Date.now(),
}: GarbageOptions): Promise<GarbageReport> {
  // Says that this process lives; others remove the folders of those that have been silent for a day.
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
