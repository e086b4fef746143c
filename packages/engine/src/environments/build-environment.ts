import type { Stats } from "node:fs";
import { chmod, chown, copyFile, lchown, lstat, mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { removeTree } from "../files/remove-tree.ts";
import { TrustedExecutable } from "../host/trusted-executable.ts";
import { findAccessFault } from "./access.ts";
import type { SystemUser } from "./access.ts";
import { runBuildCommand } from "./build-command.ts";
import type { BuildCommand, BuildContext } from "./build-command.ts";
import { findReason } from "./build-log.ts";
import type { BuildLog } from "./build-log.ts";
import { createBuildSandbox } from "./build-sandbox.ts";
import { createBuildVariables, listNamedPaths } from "./build-variables.ts";
import type { Interpreter } from "./interpreter.ts";
import { listProjectFiles } from "../project/list-files.ts";
import { getSystemCode, ProjectError } from "../project/project-error.ts";
import { CONSTRAINTS_FILE, PROJECT_FOLDER, REQUIREMENTS_FILE } from "./requirements.ts";
import type { Requirements } from "./requirements.ts";

/** The inputs of one build; put together in `shared-build.ts`. */
export interface EnvironmentBuild {
  /** An empty folder of its own, at its final place: the scripts of an environment name their interpreter by absolute path. */
  readonly directory: string;
  readonly projectDirectory: string;
  readonly requirements: Requirements;
  readonly interpreter: Interpreter;
  /** Null: venv and pip are used. */
  readonly uv: TrustedExecutable | null;
  /** Null: builds run without a sandbox. */
  readonly bubblewrap: TrustedExecutable | null;
  /** Folders that the sandbox hides: the platform's data. */
  readonly hidden: readonly string[];
  /** The user that the installers run as; null: the user of this process. */
  readonly user: SystemUser | null;
  /** Folder of downloads that builds share; null: downloads are not kept. */
  readonly cacheDirectory: string | null;
  /** Nothing is built from source, so no package runs code of its own. */
  readonly wheelsOnly: boolean;
  /** The host's environment variables; only those for the access to package indexes are passed on. */
  readonly hostVariables: Readonly<Record<string, string | undefined>>;
  readonly log: BuildLog;
  /** Stops the build; its running installer is killed. */
  readonly signal: AbortSignal;
}

/** The folder of the environment inside the folder of its build. */
export function getEnvironmentFolder(directory: string): string {
  return join(directory, "venv");
}

/** Path of the Python executable in the environment of a build's folder; it exists once the build has created the environment. */
export function getEnvironmentPython(directory: string): string {
  return join(getEnvironmentFolder(directory), "bin", "python");
}

/**
 * Creates a virtual environment with the requirements in `build.directory`, with uv where it can be used, else with venv and pip. Afterwards
 * it belongs to the user of this process and is readable by all users.
 *
 * @throws ProjectError BUILD_FAILED. The folder is then left as it is: the caller removes it
 */
export async function buildEnvironment(build: EnvironmentBuild): Promise<void> {
  const work = await prepareWork(build);
  const uv = await chooseUv(build);
  const context = createContext(build, work, uv);
  const steps = uv === null ? createPipSteps(build, work) : createUvSteps(build, work, uv);
  for (const step of steps) {
    build.log.write(step.title);
    const { code } = await runBuildCommand(step.command, context);
    if (build.signal.aborted) return;
    if (code !== 0) throw createFailure(step, build.log);
  }
  await removeTree(work.directory);
  build.signal.throwIfAborted();
  await publishTree(getEnvironmentFolder(build.directory), build);
}

interface Work {
  readonly directory: string;
  readonly home: string;
  readonly temporary: string;
  readonly project: string;
  readonly cache: string;
}

interface Step {
  readonly title: string;
  readonly failure: string;
  readonly command: BuildCommand;
}

async function prepareWork(build: EnvironmentBuild): Promise<Work> {
  const directory = join(build.directory, "work");
  const work: Work = {
    directory,
    home: join(directory, "home"),
    temporary: join(directory, "tmp"),
    project: join(directory, PROJECT_FOLDER),
    cache: build.cacheDirectory ?? join(directory, "cache"),
  };
  const { text, constraints, content } = build.requirements;
  // These files belong to the user of this process: an installed package must not be able to change what is installed after it.
  await makeFolder(directory, null);
  await writeFile(join(directory, REQUIREMENTS_FILE), text, { mode: 0o644 });
  await writeFile(join(directory, CONSTRAINTS_FILE), constraints, { mode: 0o644 });
  const folders = [work.home, work.temporary, work.project, getEnvironmentFolder(build.directory)];
  if (build.cacheDirectory === null) folders.push(work.cache);
  for (const folder of folders) await makeFolder(folder, build.user);
  if (content !== null) await copyProject(build, work.project);
  return work;
}

async function copyProject(build: EnvironmentBuild, target: string): Promise<void> {
  for (const path of await listProjectFiles(build.projectDirectory)) {
    build.signal.throwIfAborted();
    await makeParents(target, path, build.user);
    await copyFile(join(build.projectDirectory, path), join(target, path));
    await chmod(join(target, path), 0o644);
  }
}

async function makeParents(root: string, path: string, user: SystemUser | null): Promise<void> {
  const parent = dirname(path);
  if (parent === ".") return;
  await makeParents(root, parent, user);
  await makeFolder(join(root, parent), user);
}

async function makeFolder(path: string, user: SystemUser | null): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(path, 0o755);
  if (user !== null) await chown(path, user.uid, user.gid);
}

async function chooseUv(build: EnvironmentBuild): Promise<string | null> {
  if (build.uv === null || build.user === null) return build.uv?.path ?? null;
  const fault = await findAccessFault(build.uv.path, build.user, true);
  if (fault === null) return build.uv.path;
  build.log.write(`uv cannot be used: ${fault}. Using pip.`);
  return null;
}

function createContext(build: EnvironmentBuild, work: Work, uv: string | null): BuildContext {
  const variables = createBuildVariables(build.hostVariables, work);
  const { bubblewrap, hidden, interpreter, cacheDirectory } = build;
  const readable = [...interpreter.readablePaths, ...listNamedPaths(variables), ...(uv === null ? [] : [uv])];
  const writable = [build.directory, ...(cacheDirectory === null ? [] : [cacheDirectory])];
  return {
    // Contains no file that a project can name, so that none of its files is taken for a requirement.
    directory: work.directory,
    variables,
    user: build.user,
    wrap:
      bubblewrap === null
        ? ({ executable, args }) => ({
            executable: TrustedExecutable.vouchFor(executable, "no sandbox"),
            args,
          })
        : createBuildSandbox({ bubblewrap, hidden, readable, writable }),
    signal: build.signal,
    onLine: build.log.write,
  };
}

const CREATION_FAILED = "The Python environment could not be created";
const INSTALLATION_FAILED = "The requirements could not be installed";

function createUvSteps(build: EnvironmentBuild, work: Work, uv: string): readonly Step[] {
  const common = ["--cache-dir", work.cache, "--color", "never", "--no-progress", "--no-config"];
  // Hard links do not work across mounts: in the sandbox, only files of a cache inside the build's own folder can be linked.
  const linkMode = build.bubblewrap !== null && build.cacheDirectory !== null ? "copy" : "hardlink";
  const folder = getEnvironmentFolder(build.directory);
  const python = ["--python", build.interpreter.executable.path, "--no-python-downloads"];
  const target = [
    "--python",
    getEnvironmentPython(build.directory),
    "--link-mode",
    linkMode,
    "--compile-bytecode",
  ];
  return [
    {
      title: `Creating an environment of Python ${build.interpreter.version} with uv`,
      failure: CREATION_FAILED,
      command: { executable: uv, args: ["venv", "--quiet", "--no-project", ...common, ...python, folder] },
    },
    {
      title: `Installing ${REQUIREMENTS_FILE}`,
      failure: INSTALLATION_FAILED,
      command: {
        executable: uv,
        args: ["pip", "install", "--no-sources", ...common, ...target, ...listInputs(build)],
      },
    },
  ];
}

/** The same for pip and uv: the canonical files, in the working directory. */
function listInputs({ requirements, wheelsOnly }: EnvironmentBuild): readonly string[] {
  return [
    "--requirement",
    REQUIREMENTS_FILE,
    ...(requirements.constraints === "" ? [] : ["--constraint", CONSTRAINTS_FILE]),
    ...(requirements.requiresHashes ? ["--require-hashes"] : []),
    ...(wheelsOnly ? ["--only-binary", ":all:"] : []),
  ];
}

function createPipSteps(build: EnvironmentBuild, work: Work): readonly Step[] {
  const quiet = ["--no-input", "--disable-pip-version-check", "--no-color", "--progress-bar", "off"];
  const install = ["-I", "-m", "pip", "install", ...quiet, "--cache-dir", work.cache, ...listInputs(build)];
  return [
    {
      title: `Creating an environment of Python ${build.interpreter.version}`,
      failure: CREATION_FAILED,
      command: {
        executable: build.interpreter.executable.path,
        args: ["-I", "-m", "venv", getEnvironmentFolder(build.directory)],
      },
    },
    {
      title: `Installing ${REQUIREMENTS_FILE}`,
      failure: INSTALLATION_FAILED,
      command: { executable: getEnvironmentPython(build.directory), args: install },
    },
  ];
}

function createFailure(step: Step, log: BuildLog): ProjectError {
  const reason = findReason(log.getTail());
  return new ProjectError("BUILD_FAILED", `${step.failure}: ${reason}`, {
    errors: [{ path: REQUIREMENTS_FILE, message: reason }],
  });
}

const EXECUTABLE_BITS = 0o111;
const FILES_AT_ONCE = 64;

/**
 * Takes the ownership of the tree from the build's user and makes it readable by all users. Links are not followed: they may point anywhere.
 * The owner of a folder is changed before its entries are read, so that no entry can be exchanged afterwards. A file of another user can only
 * be a hard link to a file of the host: making that readable would disclose it.
 */
async function publishTree(path: string, build: Pick<EnvironmentBuild, "user" | "signal">): Promise<void> {
  const stats = await lstat(path).catch(refuseDepth);
  if (build.user !== null) await takeOver(path, stats, build.user);
  if (stats.isSymbolicLink()) return;
  if (stats.isFile()) return chmod(path, (stats.mode & EXECUTABLE_BITS) === 0 ? 0o644 : 0o755);
  if (!stats.isDirectory()) throw createForeign("a socket, pipe or device");
  await chmod(path, 0o755);
  const names = await readdir(path);
  if (names.some((name) => name.includes("\uFFFD"))) throw createForeign("a file whose name is not UTF-8");
  for (let start = 0; start < names.length; start += FILES_AT_ONCE) {
    build.signal.throwIfAborted();
    const some = names.slice(start, start + FILES_AT_ONCE);
    await Promise.all(some.map((name) => publishTree(join(path, name), build)));
  }
}

async function takeOver(path: string, stats: Stats, user: SystemUser): Promise<void> {
  if (stats.uid !== user.uid && !stats.isSymbolicLink()) throw createForeign("a file of another user");
  await lchown(path, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
}

/** ENAMETOOLONG: folders that are nested deeper than a path can name. */
function refuseDepth(error: unknown): never {
  throw getSystemCode(error) === "ENAMETOOLONG" ? createForeign("folders that are nested too deeply") : error;
}

function createForeign(what: string): ProjectError {
  return new ProjectError("BUILD_FAILED", `The installed packages left ${what} in the environment.`);
}
