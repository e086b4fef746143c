import { join } from "node:path";
import { GIGABYTE } from "../base/bytes.ts";
import { MINUTE } from "../base/time.ts";
import type { TrustedExecutable } from "../host/trusted-executable.ts";
import type { BuildLimits } from "./build-limits.ts";
import { DEFAULT_BUILD_LIMITS } from "./build-limits.ts";
import { createBuildUsers } from "./build-users.ts";
import type { BuildUsers, UidRange } from "./build-users.ts";
import type { Interpreter } from "./interpreter.ts";
import { createPreparedPackages } from "./prepared-packages.ts";
import type { PreparedPackages } from "./prepared-packages.ts";
import type { Cgroups } from "../python/sandbox/cgroups/cgroups.ts";
import { RUNNER_DIRECTORY } from "../python/sandbox/runner-files.ts";
import type { TreeLimits } from "./watch-disk.ts";

/** What the creator of a builder decides; `completeSettings` adds the defaults. */
export interface EnvironmentBuilderOptions {
  /** Folder of the environments. Every folder above it must be open (o+x) to the users of sandboxes and builds. */
  readonly directory: string;
  readonly interpreter: Interpreter;
  /** Folder of the Python half, which has the program that downloads; default: the one of the engine's sources. */
  readonly runnerDirectory?: string;
  /** Null or missing: venv and pip. */
  readonly uv?: TrustedExecutable | null;
  /** Null or missing: all code is trusted, and builds see and use what their user can. */
  readonly bubblewrap?: TrustedExecutable | null;
  /** Whether, without bubblewrap, Landlock keeps the programs of a build to its folders (isolation level C); default false. */
  readonly confined?: boolean;
  /** Used when this process is root: each build runs as a user of its own. They must own nothing and run nothing else. */
  readonly buildUids?: UidRange;
  /** Whether projects may ask for packages to be built from source; default true. */
  readonly allowsSourceBuilds?: boolean;
  /** The environment variables of the host; only those that configure the access to package indexes are passed on, to the steps that download. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** Time limit of one build in milliseconds. */
  readonly timeout?: number;
  /** What one environment may hold, its build's files included. */
  readonly sizeLimits?: TreeLimits;
  /** Bytes that builds leave free on the disk of the environments; default 0. */
  readonly minFreeBytes?: number;
  /** What the environments of one owner may take on this host; default: any size. */
  readonly ownerBytes?: number;
  /** Bounds the processes of a build together; null or missing: only each for itself. */
  readonly cgroups?: Cgroups | null;
  /** What the programs of one build may use. Needs bubblewrap. */
  readonly limits?: Partial<BuildLimits>;
}

const DEFAULTS = {
  uv: null,
  bubblewrap: null,
  confined: false,
  allowsSourceBuilds: true,
  variables: {},
  timeout: 15 * MINUTE,
  /** The largest frameworks for machine learning take about 7 GB. */
  sizeLimits: { bytes: 10 * GIGABYTE, entries: 500_000 },
  cgroups: null,
  minFreeBytes: 0,
  ownerBytes: Number.POSITIVE_INFINITY,
} as const satisfies Partial<EnvironmentBuilderOptions>;

/** The options of a builder, completed. */
export interface EnvironmentSettings extends Readonly<
  Required<Omit<EnvironmentBuilderOptions, "buildUids" | "limits">>
> {
  /** The folder in `directory` that holds the builds and the links to them. */
  readonly environments: string;
  /** The users that builds run as; null: the user of this process. */
  readonly users: BuildUsers | null;
  /** Whether the downloads of one owner are kept. Only steps that run no code of a package read or write them. */
  readonly keepsDownloads: boolean;
  readonly limits: BuildLimits;
  /** What environments that pip fills begin with. */
  readonly preparedPackages: PreparedPackages;
}

/** Adds the defaults. `buildUids` counts only for root, which without it builds without bubblewrap; with it, no downloads are kept. */
export function completeSettings({
  buildUids,
  limits,
  ...options
}: EnvironmentBuilderOptions): EnvironmentSettings {
  const isRoot = process.getuid?.() === 0;
  const users = isRoot && buildUids !== undefined ? createBuildUsers(buildUids) : null;
  const completed = {
    ...DEFAULTS,
    runnerDirectory: RUNNER_DIRECTORY,
    ...options,
    environments: join(options.directory, "environments"),
    users,
    keepsDownloads: users === null,
    limits: { ...DEFAULT_BUILD_LIMITS, ...limits },
    preparedPackages: createPreparedPackages(options.directory, options.interpreter),
  };
  // As root, bubblewrap would map the inner user to root. Without a build user, builds are trusted anyway.
  return isRoot && users === null ? { ...completed, bubblewrap: null } : completed;
}
