import { homedir } from "node:os";
import { dirname } from "node:path";
import { stat } from "node:fs/promises";
import { findAccessFault } from "@platform/engine/environments/access";
import type { SystemUser } from "@platform/engine/environments/access";
import { createEnvironmentBuilder } from "@platform/engine/environments/environment";
import type { EnvironmentBuilder } from "@platform/engine/environments/environment";
import { findExecutables } from "@platform/engine/host/find-executables";
import type { TrustedExecutable } from "@platform/engine/host/trusted-executable";
import { findInterpreter } from "@platform/engine/environments/interpreter";
import { findSandbox } from "@platform/engine/python/sandbox/find-sandbox";
import type { Sandbox } from "@platform/engine/python/sandbox/sandbox";
import type { Settings } from "../base/settings.ts";

export interface PythonTools {
  readonly sandbox: Sandbox;
  readonly environments: EnvironmentBuilder;
  /** The installation that environments are made of. */
  readonly interpreter: TrustedExecutable;
  /** `3.12.4` */
  readonly pythonVersion: string;
}

/** First uid that versions run as where this process is root. */
const SANDBOX_UID = 200_000;
/** Where root keeps environments when its home is closed to others, as it usually is. */
const SHARED_CACHE = "/var/cache/platform";

/**
 * Finds what this machine has to run Python: a sandbox if there is one (else none: it is the developer's own code), an
 * interpreter, uv or pip.
 *
 * @throws ProjectError INTERPRETER_NOT_FOUND
 */
export async function findPythonTools(
  settings: Settings,
  onNote: (text: string) => void,
): Promise<PythonTools> {
  const sandbox = await findSandbox({
    minimum: "none",
    uidBase: SANDBOX_UID,
    searchPath: settings.searchPath,
  });
  const isRoot = process.getuid?.() === 0;
  const user: SystemUser | null =
    isRoot && sandbox.level !== "none" ? { uid: SANDBOX_UID, gid: SANDBOX_UID } : null;
  const interpreter = await findInterpreter({
    searchPath: settings.searchPath,
    ...(user === null ? {} : { readableBy: user }),
  });
  const [uv] = await findExecutables("uv", settings.searchPath);
  const environments = createEnvironmentBuilder({
    directory: await chooseCache(settings.cacheDirectory, user, onNote),
    interpreter,
    uv: uv ?? null,
    variables: settings.hostVariables,
  });
  return { sandbox, environments, interpreter: interpreter.executable, pythonVersion: interpreter.version };
}

/** Environments must be readable by the user that versions run as. */
async function chooseCache(
  directory: string,
  user: SystemUser | null,
  onNote: (text: string) => void,
): Promise<string> {
  if (user === null) return directory;
  const fault = await findAccessFault(await findExisting(directory), user, true);
  if (fault === null) return directory;
  onNote(`Environments are kept in ${SHARED_CACHE}: ${fault}.`);
  return SHARED_CACHE;
}

async function findExisting(path: string): Promise<string> {
  try {
    await stat(path);
    return path;
  } catch {
    const parent = dirname(path);
    return parent === path ? homedir() : findExisting(parent);
  }
}
