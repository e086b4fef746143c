import { access, chmod, mkdir, readdir, readlink, rm, stat, symlink, unlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { getCode } from "../base/thrown.ts";
import { removeTree } from "../files/remove-tree.ts";
import { findAccessFault } from "./access.ts";
import { getEnvironmentFolder, getEnvironmentPython } from "./build-folders.ts";
import { createBaseKey } from "./environment-key.ts";
import type { EnvironmentSettings } from "./environment-settings.ts";
import type { Interpreter } from "./interpreter.ts";

/*
 * Environments live below `<directory>/environments`:
 *
 *   <key>-<random>/venv    (<key> is v<format>-<hash>) one build, created at its final place; removed when it fails
 *   <key>-<random>/owner.json   whose it is, and how large
 *   <key>-<random>.log     its log
 *   <key>                  a symbolic link to the build that serves the key: creating it completes the build
 *
 * Creating the link either succeeds or finds the link of another process: two processes may build the same key, the second one discards its
 * own build, and no lock is needed that could go stale. A build whose process died has no link; it is removed once it is too old to be running.
 */

/** The folder of the downloads, one folder for each owner, beside that of the environments. */
export const CACHES_FOLDER = "cache";
/** In it: an owner, or what became too large or is not used any more. */
export const CACHE_NAME = /^[0-9a-f]{32}(?:-[0-9a-f]{12})?$/;
/** The name of a link to a build. Keys before v2 had no format. */
export const LINK_NAME = /^(?:v\d+-)?[0-9a-f]{64}$/;
/** A build's folder or log; group 1 names the build, group 2 its key. */
export const BUILD_NAME = /^(((?:v\d+-)?[0-9a-f]{64})-[0-9a-f]+)(?:\.log)?$/;

/** The Python environment that a version runs in. */
export interface Environment {
  /** `v<format>-<SHA-256 in hex>`: equal keys need, and share, the same environment. */
  readonly key: string;
  /** The Python executable to start. */
  readonly interpreter: string;
  /** Absolute paths that a sandbox must show besides the system directories. */
  readonly readablePaths: readonly string[];
  /** Folder of its build, beside which its log is; null when there was nothing to install. */
  readonly folder: string | null;
}

/** @throws Error when the build's user could not read what is built */
export async function prepareDirectory(settings: EnvironmentSettings): Promise<void> {
  for (const folder of [settings.directory, settings.environments]) {
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o755);
  }
  if (settings.users !== null) {
    const fault = await findAccessFault(settings.environments, settings.users.first, true);
    if (fault !== null) throw new Error(`Environments cannot be built: ${fault}.`);
  }
  await sweep(settings);
}

/** Writes that it is used now: the collector spares it (remove-unused.ts). Nothing where it was removed by hand. @throws the system's error */
export async function renewEnvironment({ folder }: Pick<Environment, "folder">): Promise<void> {
  if (folder === null) return;
  const now = new Date();
  await utimes(folder, now, now).catch((error: unknown) => {
    if (getCode(error) !== "ENOENT") throw error;
  });
}

/** Publishes a build under its key. When another process was faster, its environment is used, and this build is removed. */
export async function publishBuild(
  settings: EnvironmentSettings,
  build: { readonly key: string; readonly name: string },
): Promise<Environment> {
  const link = join(settings.environments, build.key);
  for (;;) {
    try {
      await symlink(build.name, link);
      return describeEnvironment(settings, build.key, build.name);
    } catch (error) {
      if (getCode(error) !== "EEXIST") throw error;
    }
    const winner = await findEnvironment(settings, build.key);
    if (winner === null) continue;
    await removeBuild(settings, build.name);
    return winner;
  }
}

/** The environment of a key; null when it has not been built yet. */
export async function findEnvironment(
  settings: EnvironmentSettings,
  key: string,
): Promise<Environment | null> {
  const link = join(settings.environments, key);
  try {
    const name = await readlink(link);
    const now = new Date();
    // The time of use is written before the environment is relied on: the collector spares what was just used (remove-unused.ts).
    await utimes(join(settings.environments, name), now, now);
    await access(getEnvironmentPython(join(settings.environments, name)));
    return describeEnvironment(settings, key, name);
  } catch (error) {
    if (getCode(error) !== "ENOENT") throw error;
    // A link to a build that was removed by hand, or whose interpreter is missing, must not prevent the next build.
    await unlink(link).catch(() => undefined);
    return null;
  }
}

/** Removes the remains of builds whose process died. */
async function sweep(settings: EnvironmentSettings): Promise<void> {
  const names = await readdir(settings.environments);
  const oldest = Date.now() - 2 * settings.timeout;
  for (const name of names) {
    const [, build, key] = BUILD_NAME.exec(name) ?? [];
    if (build === undefined || key === undefined) continue;
    const target = await readlink(join(settings.environments, key)).catch(() => null);
    if (target === build) continue;
    const modified = await stat(join(settings.environments, name)).catch(() => null);
    if (modified === null || modified.mtimeMs >= oldest) continue;
    // Remains that cannot be removed must not prevent other builds.
    await removeBuild(settings, build).catch(() => undefined);
  }
}

/** Removes the folder and the log of a build, whether they exist or not; `name` is `<key>-<random>`. @throws the system's error */
export async function removeBuild(settings: EnvironmentSettings, name: string): Promise<void> {
  await removeTree(join(settings.environments, name));
  await rm(join(settings.environments, `${name}.log`), { force: true });
}

function describeEnvironment(settings: EnvironmentSettings, key: string, name: string): Environment {
  const directory = join(settings.environments, name);
  return {
    key,
    interpreter: getEnvironmentPython(directory),
    readablePaths: [getEnvironmentFolder(directory), ...settings.interpreter.readablePaths],
    folder: directory,
  };
}

/** What a project without requirements runs in. */
export function describeBase(interpreter: Interpreter): Environment {
  const { executable, readablePaths } = interpreter;
  return {
    key: createBaseKey(interpreter),
    interpreter: executable.path,
    readablePaths,
    folder: null,
  };
}
