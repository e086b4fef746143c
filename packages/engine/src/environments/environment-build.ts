import type { TrustedExecutable } from "../host/trusted-executable.ts";
import type { Group } from "../python/sandbox/cgroups/cgroups.ts";
import type { SystemUser } from "./access.ts";
import type { BuildLimits } from "./build-limits.ts";
import type { BuildLog } from "./build-log.ts";
import type { IndexAccess } from "./index-access.ts";
import type { Interpreter } from "./interpreter.ts";
import type { PreparedPackages } from "./prepared-packages.ts";
import type { Requirements } from "./requirements.ts";

/** The inputs of one build; put together in `shared-build.ts`. */
export interface EnvironmentBuild {
  /** An empty folder of its own, at its final place: the scripts of an environment name their interpreter by absolute path. */
  readonly directory: string;
  readonly projectDirectory: string;
  /** Folder of the Python half, which has the programs that create an environment and download. */
  readonly runnerDirectory: string;
  readonly requirements: Requirements;
  readonly interpreter: Interpreter;
  /** What an environment that pip fills begins with. */
  readonly preparedPackages: PreparedPackages;
  /** Null: venv and pip are used. */
  readonly uv: TrustedExecutable | null;
  /** Null: builds run without a sandbox. */
  readonly bubblewrap: TrustedExecutable | null;
  /** Whether, without a sandbox, Landlock keeps them to their folders. */
  readonly confined: boolean;
  /** The user that the installers run as; null: the user of this process. */
  readonly user: SystemUser | null;
  /** Folder of downloads that the fetch steps of an owner share; null: downloads are not kept. */
  readonly cacheDirectory: string | null;
  /** Whether packages may be built from source, which runs their code. */
  readonly sourceBuilds: boolean;
  readonly indexAccess: IndexAccess;
  readonly limits: BuildLimits;
  /** The control group of this build's processes; null: each has limits of its own only. */
  readonly group: Group | null;
  readonly log: BuildLog;
  /** Stops the build; its running step is killed. */
  readonly signal: AbortSignal;
}
