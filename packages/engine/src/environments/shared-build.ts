import { createHash, randomBytes } from "node:crypto";
import { chmod, mkdir, rename, utimes } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { getCode } from "../base/thrown.ts";
import { GIGABYTE } from "../base/bytes.ts";
import { shareWork } from "../base/shared-work.ts";
import type { SharedWork } from "../base/shared-work.ts";
import { syncTree } from "../files/sync-tree.ts";
import type { Group } from "../python/sandbox/cgroups/cgroups.ts";
import { formatBytes } from "../project/limits.ts";
import { ProjectError } from "../project/project-error.ts";
import { buildEnvironment } from "./build-environment.ts";
import { createBuildLog } from "./build-log.ts";
import type { BuildLog } from "./build-log.ts";
import { CACHES_FOLDER, publishBuild, removeBuild } from "./environment-folders.ts";
import type { Environment } from "./environment-folders.ts";
import type { EnvironmentSettings } from "./environment-settings.ts";
import { readIndexAccess } from "./index-access.ts";
import type { Requirements } from "./requirements.ts";
import { checkOwnerQuota, noteOwner } from "./owner-quota.ts";
import { measureWithin, watchSize, watchSpace } from "./watch-disk.ts";
import type { TreeLimits } from "./watch-disk.ts";

/** Downloads that are kept for one owner. */
const CACHE_LIMITS: TreeLimits = { bytes: 5 * GIGABYTE, entries: 200_000 };

/** A request for one environment. */
export interface Wanted {
  readonly projectDirectory: string;
  readonly requirements: Requirements;
  readonly key: string;
  /** Id of the owner. Null: shared by all owners; it is made of pinned wheels only. */
  readonly owner: string | null;
  /** Whether packages may be built from source. */
  readonly sourceBuilds: boolean;
}

/** A build that any number of callers wait for, with its log. */
export interface SharedBuild extends SharedWork<Environment> {
  readonly log: BuildLog;
}

interface Build extends Wanted {
  readonly name: string;
  readonly log: BuildLog;
  readonly controller: AbortController;
}

/** Starts it; the folders must have been prepared. */
export function startBuild(settings: EnvironmentSettings, wanted: Wanted): SharedBuild {
  const name = `${wanted.key}-${randomBytes(6).toString("hex")}`;
  const log = createBuildLog(join(settings.environments, `${name}.log`));
  const work = shareWork(
    (controller) => runBuild(settings, { ...wanted, name, log, controller }),
    createCancelled,
  );
  return { ...work, log };
}

/** How one caller follows a build. */
export interface Waiting {
  /** Called for each line of the build's log, from the first on; also when another caller's build is joined. */
  readonly onLog?: (line: string) => void;
  /** Ends this caller's wait only, unless it is the last one. */
  readonly signal?: AbortSignal;
}

/** @throws ProjectError; BUILD_CANCELLED when `signal` aborts first */
export async function waitForBuild(build: SharedBuild, { onLog, signal }: Waiting): Promise<Environment> {
  const unfollow = onLog === undefined ? undefined : build.log.follow(onLog);
  return build.join(signal).finally(() => unfollow?.());
}

async function runBuild(settings: EnvironmentSettings, build: Build): Promise<Environment> {
  const directory = join(settings.environments, build.name);
  const { controller } = build;
  const timer = setTimeout(() => controller.abort(createTimeout(settings.timeout)), settings.timeout);
  const tooLarge = createTooLarge(settings.sizeLimits);
  const watches = [
    watchSize(directory, settings.sizeLimits, () => controller.abort(tooLarge)),
    watchSpace(settings.environments, settings.minFreeBytes, () => controller.abort(createDiskLow())),
  ];
  try {
    await checkOwnerQuota(settings, build.owner);
    await mkdir(directory);
    await chmod(directory, 0o755);
    await fill(settings, build, directory);
    controller.signal.throwIfAborted();
    const bytes = await measureWithin(directory, settings.sizeLimits);
    if (bytes === null) throw tooLarge;
    // First noted, then judged: of two builds that end at once, each would otherwise find room for itself alone.
    await noteOwner(directory, build.owner, bytes);
    await checkOwnerQuota(settings, build.owner);
    await build.log.close();
    // The link publishes the environment permanently: after a power failure it must not lead to an incomplete one.
    await syncTree(directory, controller.signal);
    return await publishBuild(settings, build);
  } catch (error) {
    await build.log.close();
    await removeBuild(settings, build.name);
    throw error;
  } finally {
    for (const stopWatching of watches) stopWatching();
    clearTimeout(timer);
  }
}

async function fill(settings: EnvironmentSettings, build: Build, directory: string): Promise<void> {
  const user = settings.users?.take() ?? null;
  let group: Group | null = null;
  try {
    group = openGroup(settings, build.name);
    const cacheDirectory = await makeCache(settings, build.owner);
    const indexAccess = await readIndexAccess(settings.variables);
    const { signal } = build.controller;
    await buildEnvironment({
      ...settings,
      ...build,
      directory,
      user,
      group,
      cacheDirectory,
      indexAccess,
      signal,
    });
  } finally {
    await group?.remove();
    if (user !== null) settings.users?.release(user);
  }
}

/** Room for what starts a program: a shell, bubblewrap and its own process. */
const STARTING_PROCESSES = 8;

function openGroup({ cgroups, limits }: EnvironmentSettings, name: string): Group | null {
  if (cgroups === null) return null;
  const group = cgroups.create(`build-${name.slice(-12)}`);
  const { memoryBytes, processes } = limits;
  try {
    group.limit({ memoryBytes, cpus: availableParallelism(), processes: processes + STARTING_PROCESSES });
    group.begin();
    return group;
  } catch (error) {
    void group.remove();
    throw error;
  }
}

/** Each owner has its own: what a requirement of one names by address is kept for no other. */
async function makeCache(
  { directory, keepsDownloads }: EnvironmentSettings,
  owner: string | null,
): Promise<string | null> {
  if (!keepsDownloads || owner === null) return null;
  const cache = join(directory, CACHES_FOLDER, createHash("sha256").update(owner).digest("hex").slice(0, 32));
  // One that has become too large is left to the collector: a build that reads it may be running.
  if ((await measureWithin(cache, CACHE_LIMITS)) === null) await moveAway(cache);
  await mkdir(cache, { recursive: true, mode: 0o700 });
  const now = new Date();
  await utimes(cache, now, now);
  return cache;
}

/** Another build of the same owner may have done so just now. */
async function moveAway(cache: string): Promise<void> {
  try {
    await rename(cache, `${cache}-${randomBytes(6).toString("hex")}`);
  } catch (error) {
    if (getCode(error) !== "ENOENT") throw error;
  }
}

function createTooLarge({ bytes, entries }: TreeLimits): ProjectError {
  return new ProjectError(
    "BUILD_FAILED",
    `The installed requirements take more than ${formatBytes(bytes)} or ${entries} files, the limit for one environment.`,
  );
}

function createDiskLow(): ProjectError {
  return new ProjectError(
    "BUILD_FAILED",
    "The build was stopped, since the disk of the environments has not enough free space. Try again later, with smaller requirements if this build filled it.",
  );
}

/** The error of a caller that stopped waiting, and of all callers when the builder closes. */
export function createCancelled(): ProjectError {
  return new ProjectError("BUILD_CANCELLED", "The build was cancelled.");
}

function createTimeout(timeout: number): ProjectError {
  return new ProjectError(
    "BUILD_TIMEOUT",
    `The build took longer than ${Math.round(timeout / 1_000)} seconds.`,
  );
}
