import { chmod, chown, copyFile, mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { copyRunner } from "../python/sandbox/runner-files.ts";
import { writeAccounts } from "../python/sandbox/system-view.ts";
import { listProjectFiles } from "../project/list-files.ts";
import type { SystemUser } from "./access.ts";
import type { EnvironmentBuild } from "./environment-build.ts";
import { CONSTRAINTS_FILE, PROJECT_FOLDER, REQUIREMENTS_FILE } from "./requirements.ts";

/** The folders of one build, below its own; all but the environment are removed at its end. */
export interface BuildFolders {
  /** Working directory of all steps. It contains no file that a project can name, so that none of its files is taken for a requirement. */
  readonly work: string;
  /** The programs that create an environment and that download, where every user can read them. */
  readonly creator: string;
  readonly downloader: string;
  /** A copy of the Python half that every user can read, for builds that are confined. */
  readonly runner: string;
  /** The project's files; empty unless something is installed from them. */
  readonly project: string;
  /** What was downloaded: `packages`, and `build` for what builds of sources need. Written by the fetch step only. */
  readonly fetched: string;
  /** Wheels that were built from sources. */
  readonly built: string;
  /** Makes a new folder that only one step sees, and returns it: no step finds what another left. */
  readonly makeScratch: (step: string) => Promise<Scratch>;
}

/** Where one step has its home, its temporary files and whatever else it wants. */
export interface Scratch {
  readonly directory: string;
  readonly home: string;
  readonly temporary: string;
}

/** The folder of the environment inside the folder of its build. */
export function getEnvironmentFolder(directory: string): string {
  return join(directory, "venv");
}

/** Path of the Python executable in the environment of a build's folder; it exists once the build has created the environment. */
export function getEnvironmentPython(directory: string): string {
  return join(getEnvironmentFolder(directory), "bin", "python");
}

/** Creates the folders, and the files that all steps read: these belong to the user of this process, so no installed package changes them. */
export async function makeBuildFolders(build: EnvironmentBuild): Promise<BuildFolders> {
  const { directory, user, requirements } = build;
  const work = join(directory, "work");
  const folders = {
    work,
    creator: join(work, "create.py"),
    downloader: join(work, "download.py"),
    runner: join(work, "runner"),
    project: join(work, PROJECT_FOLDER),
    fetched: join(work, "fetched"),
    built: join(work, "built"),
  };
  await makeFolder(work, null);
  writeAccounts(work, user?.uid ?? process.getuid?.() ?? 0, user?.gid ?? process.getgid?.() ?? 0);
  await writeFile(join(work, REQUIREMENTS_FILE), requirements.text, { mode: 0o644 });
  await writeFile(join(work, CONSTRAINTS_FILE), requirements.constraints, { mode: 0o644 });
  await copyPrograms(build, [folders.creator, folders.downloader]);
  if (build.confined) copyRunner(build.runnerDirectory, folders.runner);
  for (const path of [folders.project, folders.fetched, folders.built, getEnvironmentFolder(directory)])
    await makeFolder(path, user);
  if (requirements.content !== null) await copyProject(build, folders.project);
  const makeScratch = async (step: string): Promise<Scratch> => {
    const scratch = join(work, `scratch-${step}`);
    const own = { directory: scratch, home: join(scratch, "home"), temporary: join(scratch, "tmp") };
    for (const path of Object.values(own)) await makeFolder(path, user);
    return own;
  };
  return { ...folders, makeScratch };
}

async function copyPrograms(
  { runnerDirectory }: EnvironmentBuild,
  targets: readonly string[],
): Promise<void> {
  for (const target of targets) {
    await copyFile(join(runnerDirectory, "installer", basename(target)), target);
    await chmod(target, 0o644);
  }
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

/** Creates a folder that all users can read, with those above it. `user`: whose it is; null: that of the user of this process. */
export async function makeFolder(path: string, user: SystemUser | null): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(path, 0o755);
  if (user !== null) await chown(path, user.uid, user.gid);
}
