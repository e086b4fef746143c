import type { EnvironmentBuild } from "./environment-build.ts";
import { getEnvironmentFolder, getEnvironmentPython } from "./build-folders.ts";
import type { BuildFolders } from "./build-folders.ts";
import { CREATION_FAILURE, WHEELS_FAILURE, listInputs } from "./build-step.ts";
import type { BuildStep } from "./build-step.ts";
import { REQUIREMENTS_FILE } from "./requirements.ts";

const QUIET = ["--color", "never", "--no-progress", "--no-config"];

/**
 * The steps of a build with uv, of wheels only. uv unpacks wheels and runs nothing of them, so it installs where the network is. Their modules
 * are compiled afterwards, without network, by the installation's own Python without `site`: neither a replaced `bin/python` nor a `.pth`
 * file of a package runs.
 */
export function createUvSteps(
  build: EnvironmentBuild,
  folders: BuildFolders,
  uv: string,
): readonly BuildStep[] {
  const environment = getEnvironmentFolder(build.directory);
  return [
    {
      name: "create",
      title: `Creating an environment of Python ${build.interpreter.version} with uv`,
      failure: CREATION_FAILURE,
      network: false,
      needsEpoll: true,
      readable: [uv, folders.work],
      writable: [environment],
      prepare: async () => createCreation(build, uv),
    },
    {
      name: "fetch",
      title: `Installing ${REQUIREMENTS_FILE}`,
      failure: WHEELS_FAILURE,
      network: true,
      needsEpoll: true,
      readable: [uv],
      // One mount for the environment and a cache beside it: hard links do not work across mounts.
      writable: [build.directory, ...(build.cacheDirectory === null ? [] : [build.cacheDirectory])],
      prepare: async () => createInstallation(build, folders, uv),
    },
    {
      name: "compile",
      title: "",
      // A module that this Python cannot parse is compiled, and fails, when it is imported.
      failure: null,
      network: false,
      readable: [folders.work],
      writable: [environment],
      prepare: async () => createCompilation(build),
    },
  ];
}

function createCreation({ interpreter, directory }: EnvironmentBuild, uv: string) {
  const python = ["--python", interpreter.executable.path, "--no-python-downloads"];
  const environment = getEnvironmentFolder(directory);
  return {
    executable: uv,
    args: ["venv", "--quiet", "--no-project", "--no-cache", ...QUIET, ...python, environment],
  };
}

function createInstallation(build: EnvironmentBuild, { work }: BuildFolders, uv: string) {
  const cache = build.cacheDirectory ?? `${work}/scratch-fetch/cache`;
  // A file of the shared cache must not be the environment's as well: whoever may write one would write the other.
  const linkMode = build.cacheDirectory === null ? "hardlink" : "copy";
  const target = ["--python", getEnvironmentPython(build.directory), "--link-mode", linkMode];
  const args = ["pip", "install", "--no-build", "--no-sources", "--cache-dir", cache, ...QUIET, ...target];
  return { executable: uv, args: [...args, ...listInputs(build.requirements)] };
}

/** Several processes need /dev/shm, which a confined build has not: the host's is everybody's. */
function createCompilation({ interpreter, directory, bubblewrap, confined }: EnvironmentBuild) {
  const workers = bubblewrap === null && confined ? "1" : "0";
  const python = ["-I", "-S", "-m", "compileall", "-qq", "-j", workers];
  return {
    executable: interpreter.executable.path,
    args: [...python, `${getEnvironmentFolder(directory)}/lib`],
  };
}
