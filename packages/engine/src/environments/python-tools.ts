import { getuid } from "node:process";
import { isAtLeast } from "@platform/contract/sandbox";
import { findExecutables, SYSTEM_FOLDERS } from "../host/find-executables.ts";
import type { TrustedExecutable } from "../host/trusted-executable.ts";
import { findSandbox } from "../python/sandbox/find-sandbox.ts";
import type { FindSandboxOptions } from "../python/sandbox/find-sandbox.ts";
import type { Sandbox } from "../python/sandbox/sandbox.ts";
import type { SystemUser } from "./access.ts";
import { createEnvironmentBuilder } from "./environment.ts";
import type { EnvironmentBuilder } from "./environment.ts";
import type { EnvironmentBuilderOptions } from "./environment-settings.ts";
import type { UidRange } from "./build-users.ts";
import { findInterpreter } from "./interpreter.ts";

/** As root, versions run under uids from here on, and builds of environments under others below. */
const SANDBOX_UID = 200_000;
const SANDBOX_USER: SystemUser = { uid: SANDBOX_UID, gid: SANDBOX_UID };
/** Below them, but for the last thousand: PostgreSQL has one of those. */
const BUILD_UIDS: UidRange = { first: SANDBOX_UID - 10_000, count: 9_000 };

/** What the operator decides about builds; see EnvironmentBuilderOptions. */
type ConfinedBuilds = Readonly<
  Required<Pick<EnvironmentBuilderOptions, "allowsSourceBuilds" | "minFreeBytes" | "ownerBytes">>
>;

/** What a process requires of the Python tools on its machine. */
export interface PythonToolsOptions {
  /** `PATH`, as this process got it. */
  readonly searchPath: string;
  /** Folder of the Python half; default: the one of the engine's sources. */
  readonly runnerDirectory?: string;
  /** Folder of the environments. Versions run as `user`, which must be able to read it; null: as the user of this process. */
  readonly chooseDirectory: (user: SystemUser | null) => string | Promise<string>;
  /** Builds of code that is not trusted: sandboxed, as root under users of their own. Missing: they are the developer's own. */
  readonly confinedBuilds?: ConfinedBuilds;
  /** What versions may do, and reach over the network. */
  readonly rights: Pick<FindSandboxOptions, "networkPolicy" | "trustsCode">;
  /** The host's variables; see EnvironmentBuilderOptions. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** The tools that were found, and the environment builder that uses them. Its caller closes `environments`. */
export interface PythonTools {
  readonly sandbox: Sandbox;
  readonly environments: EnvironmentBuilder;
  /** The folder of the builder: of environments, and of what they are made with. */
  readonly environmentsDirectory: string;
  /** The installation that environments are created from. */
  readonly interpreter: TrustedExecutable;
  /** `3.12.4` */
  readonly pythonVersion: string;
}

/**
 * Finds the tools of this machine to run Python: a sandbox, an interpreter, uv or pip.
 *
 * @throws ProjectError INTERPRETER_NOT_FOUND
 */
export async function findPythonTools(options: PythonToolsOptions): Promise<PythonTools> {
  const { searchPath, variables } = options;
  const isRoot = getuid?.() === 0;
  const interpreter = await findInterpreter({ searchPath, ...(isRoot ? { readableBy: SANDBOX_USER } : {}) });
  const sandbox = await findSandbox({
    interpreter: interpreter.executable,
    readablePaths: interpreter.readablePaths,
    uidBase: SANDBOX_UID,
    searchPath,
    ...options.rights,
    ...(options.runnerDirectory === undefined ? {} : { runnerDirectory: options.runnerDirectory }),
  });
  const { level } = sandbox.report;
  const user = isRoot && level !== "D" ? SANDBOX_USER : null;
  const [uv = null] = await findExecutables("uv", searchPath);
  const environmentsDirectory = await options.chooseDirectory(user);
  const environments = createEnvironmentBuilder({
    directory: environmentsDirectory,
    interpreter,
    uv,
    variables,
    ...(options.runnerDirectory === undefined ? {} : { runnerDirectory: options.runnerDirectory }),
    ...(await confineBuilds(options, sandbox)),
  });
  const { executable, version: pythonVersion } = interpreter;
  return { sandbox, environments, environmentsDirectory, interpreter: executable, pythonVersion };
}

async function confineBuilds({ searchPath, confinedBuilds }: PythonToolsOptions, sandbox: Sandbox) {
  const { level } = sandbox.report;
  if (confinedBuilds === undefined) return {};
  const [bubblewrap = null] = await findExecutables("bwrap", `${searchPath}:${SYSTEM_FOLDERS}`);
  const isSandboxed = isAtLeast(level, "B");
  return {
    ...confinedBuilds,
    // Without a sandbox, code of packages may only run where all code is trusted.
    allowsSourceBuilds: confinedBuilds.allowsSourceBuilds && (isSandboxed || level === "D"),
    bubblewrap: isSandboxed ? bubblewrap : null,
    confined: level === "C",
    cgroups: isSandboxed ? sandbox.cgroups : null,
    buildUids: BUILD_UIDS,
  };
}
