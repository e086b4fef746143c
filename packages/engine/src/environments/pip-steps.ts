import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { getCode } from "../base/thrown.ts";
import { ProjectError } from "../project/project-error.ts";
import type { BuildCommand } from "./build-command.ts";
import type { EnvironmentBuild } from "./environment-build.ts";
import { getEnvironmentFolder, getEnvironmentPython } from "./build-folders.ts";
import type { BuildFolders } from "./build-folders.ts";
import { CREATION_FAILURE, INSTALLATION_FAILURE, WHEELS_FAILURE, listInputs } from "./build-step.ts";
import type { BuildStep } from "./build-step.ts";
import { REQUIREMENTS_FILE } from "./requirements.ts";

const QUIET = ["--no-input", "--disable-pip-version-check", "--no-color", "--progress-bar", "off"];
/** Names and versions of what is installed in the end; in the build's work folder. */
const RESOLVED_FILE = "resolved.txt";

const BUILD_FAILURE = {
  what: "A package could not be built from its source",
  advice:
    "It is built without network; packages that it needs for that and does not name itself must be named in the requirements.",
};
const CHECK_FAILURE = {
  what: "An installed package lacks another one",
  advice: "It names it only while it is built, without network; add it to the requirements.",
};

/** The steps of a build with venv and pip. */
export function createPipSteps(build: EnvironmentBuild, folders: BuildFolders): readonly BuildStep[] {
  const steps = [describeCreation(build, folders), describeFetch(build, folders)];
  const install = describeInstallation(build, folders);
  return build.sourceBuilds
    ? [...steps, describeBuild(build, folders), install, describeCheck(build)]
    : [...steps, install];
}

function describeCreation(build: EnvironmentBuild, { creator }: BuildFolders): BuildStep {
  const { interpreter, preparedPackages } = build;
  const environment = getEnvironmentFolder(build.directory);
  return {
    name: "create",
    title: `Creating an environment of Python ${interpreter.version}`,
    failure: CREATION_FAILURE,
    network: false,
    readable: [creator, preparedPackages.directory],
    writable: [environment],
    prepare: async () => {
      const prepared = await findPrepared(build);
      const args = prepared === null ? ["-m", "venv", environment] : [creator, environment, prepared];
      return { executable: interpreter.executable.path, args: ["-I", ...args] };
    },
  };
}

/** Null: this build installs pip itself, and says itself why that fails. */
async function findPrepared({ preparedPackages, signal, log }: EnvironmentBuild): Promise<string | null> {
  try {
    return await preparedPackages.provide(signal);
  } catch (error) {
    signal.throwIfAborted();
    // Without paths of this host: owners read the log.
    log.write(`pip could not be prepared for all builds: ${getCode(error) ?? "venv failed"}`);
    return null;
  }
}

function describeFetch(build: EnvironmentBuild, folders: BuildFolders): BuildStep {
  const cache = build.cacheDirectory;
  const keep = cache === null ? ["--no-cache-dir"] : ["--cache-dir", cache];
  const kind = build.sourceBuilds ? "sources" : "wheels";
  const target = ["-I", folders.downloader, folders.fetched, kind];
  return {
    name: "fetch",
    title: `Installing ${REQUIREMENTS_FILE}`,
    failure: build.sourceBuilds ? INSTALLATION_FAILURE : WHEELS_FAILURE,
    network: true,
    readable: [folders.work, getEnvironmentFolder(build.directory)],
    writable: [folders.fetched, ...(cache === null ? [] : [cache])],
    prepare: async () => runPip(build, [...target, ...keep, ...listInputs(build.requirements)]),
  };
}

/**
 * Runs code of packages: it can write neither the environment nor what was downloaded. `--use-pep517`: pip before 23.1 builds a package that
 * has only a `setup.py` with what the environment has, which lacks `wheel`.
 */
function describeBuild(build: EnvironmentBuild, { fetched, project, built }: BuildFolders): BuildStep {
  const offline = ["--use-pep517", "--no-index", "--no-deps", "--no-cache-dir", "--wheel-dir", built];
  const links = ["build", "packages"].flatMap((folder) => ["--find-links", join(fetched, folder)]);
  return {
    name: "build",
    title: "Building packages from source",
    failure: BUILD_FAILURE,
    network: false,
    readable: [fetched, getEnvironmentFolder(build.directory)],
    writable: [project, built],
    prepare: async () => {
      const archives = (await listPackages(fetched)).filter((name) => !isWheel(name));
      const sources = [
        ...archives.map((name) => join(fetched, "packages", name)),
        ...(await readFolders(fetched, project)),
      ];
      if (sources.length === 0) return null;
      return runPip(build, ["-I", "-m", "pip", "wheel", ...QUIET, ...offline, ...links, ...sources]);
    },
  };
}

function describeInstallation(build: EnvironmentBuild, { fetched, built, work }: BuildFolders): BuildStep {
  const resolved = join(work, RESOLVED_FILE);
  const links = [join(fetched, "packages"), built].flatMap((folder) => ["--find-links", folder]);
  const offline = ["--no-index", "--no-deps", "--no-cache-dir", ...links, "--requirement", resolved];
  return {
    name: "install",
    title: "",
    failure: INSTALLATION_FAILURE,
    network: false,
    readable: [fetched, built, resolved],
    writable: [getEnvironmentFolder(build.directory)],
    prepare: async () => {
      const wheels = [...(await listPackages(fetched)), ...(await readdir(built))].filter(isWheel);
      if (wheels.length === 0) return null;
      await writeFile(resolved, wheels.map((name) => `${nameWheel(name)}\n`).join(""), { mode: 0o644 });
      return runPip(build, ["-I", "-m", "pip", "install", ...QUIET, ...offline]);
    },
  };
}

/** What a source's code says when it is built may differ from what it said before. */
function describeCheck(build: EnvironmentBuild): BuildStep {
  return {
    name: "check",
    title: "",
    failure: CHECK_FAILURE,
    network: false,
    readable: [getEnvironmentFolder(build.directory)],
    writable: [],
    prepare: async () => runPip(build, ["-I", "-m", "pip", "check", "--disable-pip-version-check"]),
  };
}

function runPip(build: EnvironmentBuild, args: readonly string[]): BuildCommand {
  return { executable: getEnvironmentPython(build.directory), args };
}

/** None when every line's marker excludes this system. */
async function listPackages(fetched: string): Promise<readonly string[]> {
  return readdir(join(fetched, "packages")).catch(() => []);
}

function isWheel(name: string): boolean {
  return name.endsWith(".whl");
}

/** The folders that the downloader met; only those of the project's copy count. */
async function readFolders(fetched: string, project: string): Promise<readonly string[]> {
  const found: unknown = JSON.parse(await readFile(join(fetched, "folders.json"), "utf8"));
  const folders = Array.isArray(found) ? found.map((path) => String(path).replace(/\/$/, "")) : [];
  return folders.filter((path) => path === project || path.startsWith(`${project}/`));
}

/** PEP 427: name, version, then tags. Names of built wheels were chosen by code of packages. */
const WHEEL_NAME = /^([A-Za-z0-9][A-Za-z0-9._]*)-([A-Za-z0-9][A-Za-z0-9._!+]*)-[A-Za-z0-9._-]+\.whl$/;

/** By name and version, not by path: a path would be recorded in the environment as the package's origin. */
function nameWheel(file: string): string {
  const [, name, version] = WHEEL_NAME.exec(file) ?? [];
  if (name !== undefined && version !== undefined) return `${name}==${version}`;
  throw new ProjectError("BUILD_FAILED", `A package was built as '${file}', which is no name of a wheel.`);
}
