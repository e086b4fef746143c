import { once } from "node:events";
import { closeSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { findExecutables, isExecutable, SYSTEM_FOLDERS } from "../../host/find-executables.ts";
import { spawnTrusted } from "../../host/processes.ts";
import { TrustedExecutable } from "../../host/trusted-executable.ts";
import { prepareBubblewrap } from "./bubblewrap.ts";
import type { BubblewrapOptions } from "./bubblewrap.ts";
import { DEFAULT_NETWORK_POLICY } from "./network/network-policy.ts";
import type { SandboxLaunch } from "./sandbox.ts";
import { describeFault, TRIAL_TIMEOUT_MS } from "./trials.ts";
import type { TrialTools } from "./trials.ts";

const MAX_SAID = 4096;
const INSTALL_HINT = "Install the package `bubblewrap` (apt-get install bubblewrap, dnf install bubblewrap).";

/** Where to search for bubblewrap. */
interface Search {
  readonly bubblewrapPath?: string;
  readonly searchPath?: string;
}

/** `bwrap`, or why there is none: sentences for the operator. */
export async function findBubblewrap({
  bubblewrapPath,
  searchPath = "",
}: Search): Promise<TrustedExecutable | { readonly why: string; readonly remedy: string }> {
  if (bubblewrapPath !== undefined) {
    if (await isExecutable(bubblewrapPath))
      return TrustedExecutable.vouchFor(bubblewrapPath, "named by the operator");
    return { why: `${bubblewrapPath} is not an executable file.`, remedy: INSTALL_HINT };
  }
  const searched = `${searchPath}:${SYSTEM_FOLDERS}`;
  const [found] = await findExecutables("bwrap", searched);
  return found ?? { why: `bwrap was found in none of ${searched}.`, remedy: INSTALL_HINT };
}

/** What an empty sandbox is made with. */
type Parts = Pick<BubblewrapOptions, "executable" | "architecture" | "takeUser">;

/**
 * Starts a sandbox as that of a version, and in it a child as that of an execution (`trial.py`): bwrap may work where the namespaces below its
 * own are refused. Resolves to why it does not work, as a sentence; null when it does.
 */
export async function tryBubblewrap(parts: Parts, tools: TrialTools, runner: string): Promise<string | null> {
  const zygoteDirectory = join(dirname(runner), "zygote");
  mkdirSync(zygoteDirectory);
  const networks = { policy: DEFAULT_NETWORK_POLICY, egress: null, fallback: "none" } as const;
  const { readablePaths } = tools;
  const launch = await prepareBubblewrap(
    { ...parts, networks },
    {
      network: "none",
      projectDirectory: runner,
      runnerDirectory: runner,
      readablePaths,
      zygoteDirectory,
    },
  );
  try {
    const { view } = launch;
    const isolation = JSON.stringify(view.isolation);
    await runLaunch(launch, [
      tools.interpreter.path,
      "-I",
      "-S",
      view.runner,
      "trial",
      "namespaces",
      isolation,
    ]);
    return null;
  } catch (error) {
    return `bubblewrap does not work here (${describeFault(error)}).`;
  } finally {
    launch.release();
  }
}

/** Runs a command in the sandbox to its end. @throws Error with the last line of its error output when it fails */
async function runLaunch(launch: SandboxLaunch, command: readonly [string, ...string[]]): Promise<void> {
  const { executable, args } = launch.wrap(command);
  const child = spawnTrusted(executable, args, {
    cwd: "/",
    env: launch.environment,
    stdio: ["ignore", "ignore", "pipe", "pipe", "pipe", ...launch.descriptors],
    ...(launch.uid === undefined ? {} : { uid: launch.uid }),
    ...(launch.gid === undefined ? {} : { gid: launch.gid }),
  });
  for (const descriptor of launch.descriptors) closeSync(descriptor);
  const timer = setTimeout(() => {
    launch.kill(child);
    // A process that still holds the pipes is not waited for.
    child.stdio.forEach((stream) => stream?.destroy());
  }, TRIAL_TIMEOUT_MS);
  try {
    let said = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-MAX_SAID);
    });
    const [code] = (await once(child, "close")) as [number | null];
    if (code !== 0) throw new Error(said.trim().split("\n").at(-1) || `it ended with ${code ?? "a signal"}`);
  } finally {
    clearTimeout(timer);
  }
}
