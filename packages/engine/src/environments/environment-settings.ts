import { join } from "node:path";
import { GIGABYTE } from "../base/bytes.ts";
import { MINUTE } from "../base/time.ts";
import type { TrustedExecutable } from "../host/trusted-executable.ts";
import type { SystemUser } from "./access.ts";
import type { Interpreter } from "./interpreter.ts";
import type { TreeLimits } from "./watch-size.ts";

export interface EnvironmentBuilderOptions {
  /** Where environments are kept. Every folder above it must be open (o+x) to the users of sandbox and build. */
  readonly directory: string;
  readonly interpreter: Interpreter;
  /** Null or missing: venv and pip. */
  readonly uv?: TrustedExecutable | null;
  /** Null or missing: all code is trusted, builds see what their user sees. */
  readonly bubblewrap?: TrustedExecutable | null;
  /** Used when this process is root. It must own nothing and run nothing else. */
  readonly buildUser?: SystemUser;
  /** Hidden from builds, besides `directory`: the platform's data. Needs bubblewrap. */
  readonly hidden?: readonly string[];
  /** The host's variables; only those that say how to reach the package index are passed on. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** Milliseconds for one build. */
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
  readonly environments: string;
  readonly interpreter: Interpreter;
  readonly uv: TrustedExecutable | null;
  readonly bubblewrap: TrustedExecutable | null;
  readonly user: SystemUser | null;
  readonly hidden: readonly string[];
  readonly hostVariables: Readonly<Record<string, string | undefined>>;
  readonly keepsDownloads: boolean;
  readonly timeout: number;
  readonly sizeLimits: TreeLimits;
}

export function completeSettings(options: EnvironmentBuilderOptions): EnvironmentSettings {
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? (options.buildUser ?? null) : null;
  return {
    directory: options.directory,
    environments: join(options.directory, "environments"),
    interpreter: options.interpreter,
    uv: options.uv ?? null,
    // As root it would map the inner user to root; without a user to become, builds are trusted anyway.
    bubblewrap: isRoot && user === null ? null : (options.bubblewrap ?? null),
    user,
    hidden: [options.directory, ...(options.hidden ?? [])],
    hostVariables: options.variables ?? {},
    keepsDownloads: user === null,
    timeout: options.timeout ?? DEFAULT_TIMEOUT,
    sizeLimits: options.sizeLimits ?? DEFAULT_SIZE_LIMITS,
  };
}
