import { join } from "node:path";
import { GIGABYTE } from "../base/bytes.ts";
import { MINUTE } from "../base/time.ts";
import type { TrustedExecutable } from "../host/trusted-executable.ts";
import type { SystemUser } from "./access.ts";
import type { Interpreter } from "./interpreter.ts";
import type { TreeLimits } from "./watch-size.ts";

/** What the creator of a builder decides; `completeSettings` adds the defaults. */
export interface EnvironmentBuilderOptions {
  /** Folder of the environments. Every folder above it must be open (o+x) to the users of sandboxes and builds. */
  readonly directory: string;
  readonly interpreter: Interpreter;
  /** Null or missing: venv and pip. */
  readonly uv?: TrustedExecutable | null;
  /** Null or missing: all code is trusted, and builds see what their user sees. */
  readonly bubblewrap?: TrustedExecutable | null;
  /** Used when this process is root. It must own nothing and run nothing else. */
  readonly buildUser?: SystemUser;
  /** Hidden from builds, besides `directory`: the platform's data. Needs bubblewrap. */
  readonly hidden?: readonly string[];
  /** The environment variables of the host; only those that configure the access to package indexes are passed on. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** Time limit of one build in milliseconds. */
  readonly timeout?: number;
  /** What one environment may hold, its build's files included. */
  readonly sizeLimits?: TreeLimits;
}

const DEFAULT_TIMEOUT = 15 * MINUTE;
/** The largest frameworks for machine learning take about 7 GB. */
const DEFAULT_SIZE_LIMITS: TreeLimits = { bytes: 10 * GIGABYTE, entries: 500_000 };

/** The options of a builder, completed. */
export interface EnvironmentSettings {
  readonly directory: string;
  /** The folder in `directory` that holds the builds and the links to them. */
  readonly environments: string;
  readonly interpreter: Interpreter;
  readonly uv: TrustedExecutable | null;
  readonly bubblewrap: TrustedExecutable | null;
  /** The user that builds run as; null: the user of this process. */
  readonly user: SystemUser | null;
  readonly hidden: readonly string[];
  readonly hostVariables: Readonly<Record<string, string | undefined>>;
  /** Whether builds of one owner share a cache of downloads. */
  readonly keepsDownloads: boolean;
  /** Milliseconds. */
  readonly timeout: number;
  readonly sizeLimits: TreeLimits;
}

/** Adds the defaults. `buildUser` counts only for root, which without one builds without bubblewrap; with one, no downloads are kept. */
export function completeSettings(options: EnvironmentBuilderOptions): EnvironmentSettings {
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? (options.buildUser ?? null) : null;
  return {
    directory: options.directory,
    environments: join(options.directory, "environments"),
    interpreter: options.interpreter,
    uv: options.uv ?? null,
    // As root, bubblewrap would map the inner user to root. Without a build user, builds are trusted anyway.
    bubblewrap: isRoot && user === null ? null : (options.bubblewrap ?? null),
    user,
    hidden: [options.directory, ...(options.hidden ?? [])],
    hostVariables: options.variables ?? {},
    keepsDownloads: user === null,
    timeout: options.timeout ?? DEFAULT_TIMEOUT,
    sizeLimits: options.sizeLimits ?? DEFAULT_SIZE_LIMITS,
  };
}
