import { removeTree } from "../files/remove-tree.ts";
import type { Epoll } from "../python/sandbox/seccomp/filters.ts";
import { formatBytes } from "../project/limits.ts";
import { TrustedExecutable } from "../host/trusted-executable.ts";
import { ProjectError } from "../project/project-error.ts";
import { findAccessFault } from "./access.ts";
import { runBuildCommand } from "./build-command.ts";
import type { BuildContext } from "./build-command.ts";
import { createBuildConfinement } from "./build-confinement.ts";
import { getEnvironmentFolder, makeBuildFolders } from "./build-folders.ts";
import type { BuildFolders } from "./build-folders.ts";
import type { BuildLimits } from "./build-limits.ts";
import { findReason } from "./build-log.ts";
import type { BuildLog } from "./build-log.ts";
import { createBuildSandbox } from "./build-sandbox.ts";
import { chooseEpoll } from "./build-step.ts";
import type { BuildStep } from "./build-step.ts";
import { createBuildVariables } from "./build-variables.ts";
import type { EnvironmentBuild } from "./environment-build.ts";
import { createPipSteps } from "./pip-steps.ts";
import { publishTree } from "./publish-tree.ts";
import { REQUIREMENTS_FILE } from "./requirements.ts";
import { createUvSteps } from "./uv-steps.ts";

/**
 * Creates a virtual environment with the requirements in `build.directory`. Afterwards it belongs to the user of this process and is readable
 * by all users.
 *
 * Only trusted programs have the network and the credentials of package indexes: they download, and run no code of a package. Code of
 * packages, where `sourceBuilds` allows it, runs in steps that have neither. uv installs where it can be used and nothing is built from
 * source; else venv and pip do.
 *
 * @throws ProjectError BUILD_FAILED. The folder is then left as it is: the caller removes it
 */
export async function buildEnvironment(build: EnvironmentBuild): Promise<void> {
  const folders = await makeBuildFolders(build);
  const uv = await chooseUv(build);
  const steps = uv === null ? createPipSteps(build, folders) : createUvSteps(build, folders, uv);
  for (const step of steps) {
    const command = await step.prepare();
    if (command === null) continue;
    if (step.title !== "") build.log.write(step.title);
    const { code } = await runBuildCommand(command, await createContext(build, folders, step));
    if (build.signal.aborted) return;
    if (code !== 0 && hasExhaustedMemory(build)) throw createOutOfMemory(build.limits);
    if (code !== 0 && step.failure !== null) throw createFailure(step.failure, build.log);
  }
  await removeTree(folders.work);
  build.signal.throwIfAborted();
  await publishTree(getEnvironmentFolder(build.directory), build);
}

async function chooseUv({ uv, user, log, sourceBuilds }: EnvironmentBuild): Promise<string | null> {
  if (uv === null || sourceBuilds) return null;
  const fault = user === null ? null : await findAccessFault(uv.path, user, true);
  if (fault === null) return uv.path;
  log.write(`uv cannot be used: ${fault}. Using pip.`);
  return null;
}

async function createContext(
  build: EnvironmentBuild,
  folders: BuildFolders,
  step: BuildStep,
): Promise<BuildContext> {
  const { indexAccess, log } = build;
  const scratch = await folders.makeScratch(step.name);
  const { network } = step;
  const readable = [...step.readable, ...(network ? indexAccess.readablePaths : [])];
  const writable = [...step.writable, scratch.directory];
  return {
    directory: folders.work,
    variables: createBuildVariables(scratch, network ? indexAccess.variables : null),
    user: build.user,
    wrap: createWrap(build, folders, { readable, writable, network, epoll: chooseEpoll(build.user, step) }),
    group: build.group,
    signal: build.signal,
    onLine: (line) => log.write(indexAccess.redact(line)),
  };
}

function createWrap(
  { bubblewrap, confined, interpreter, limits }: EnvironmentBuild,
  { work, runner }: BuildFolders,
  rights: Pick<BuildStep, "readable" | "writable" | "network"> & { readonly epoll: Epoll },
): BuildContext["wrap"] {
  if (bubblewrap !== null)
    return createBuildSandbox({ bubblewrap, interpreter, accounts: work, limits, ...rights });
  if (confined) return createBuildConfinement({ interpreter, runner, ...rights });
  return ({ executable, args }) => ({
    executable: TrustedExecutable.vouchFor(executable, "no sandbox"),
    args,
    filter: null,
  });
}

function hasExhaustedMemory({ group }: EnvironmentBuild): boolean {
  return group !== null && group.measure().outOfMemoryKills > 0;
}

function createOutOfMemory({ memoryBytes }: BuildLimits): ProjectError {
  const message = `The build took more than ${formatBytes(memoryBytes)} of memory. Name a version of the package that has a wheel.`;
  return new ProjectError("BUILD_FAILED", message, { errors: [{ path: REQUIREMENTS_FILE, message }] });
}

function createFailure({ what, advice }: { what: string; advice: string }, log: BuildLog): ProjectError {
  const reason = findReason(log.getTail());
  const sentence = /[.!?]$/.test(reason) ? reason : `${reason}.`;
  const detail = advice === "" ? `${what}: ${reason}` : `${what}: ${sentence} ${advice}`;
  return new ProjectError("BUILD_FAILED", detail, { errors: [{ path: REQUIREMENTS_FILE, message: reason }] });
}
