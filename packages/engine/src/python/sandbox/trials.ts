import { once } from "node:events";
import { chmodSync, closeSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { MissingPiece, SandboxPiece } from "@platform/contract/sandbox";
import { getMessage } from "../../base/thrown.ts";
import { findExecutables, isExecutable, SYSTEM_FOLDERS } from "../../host/find-executables.ts";
import { runTrusted, spawnTrusted, TimeLimitError } from "../../host/processes.ts";
import { findTemporaryFolder } from "../../host/temporary-folder.ts";
import { TrustedExecutable } from "../../host/trusted-executable.ts";
import { prepareBubblewrap } from "./bubblewrap.ts";
import type { BubblewrapOptions } from "./bubblewrap.ts";
import { DEFAULT_NETWORK_POLICY } from "./network/network-policy.ts";
import { copyRunner } from "./runner-files.ts";
import { explainTime, tryTwice } from "../../host/try-twice.ts";
import type { TrialTimes } from "../../host/try-twice.ts";
import type { SandboxLaunch } from "./sandbox.ts";

const MAX_SAID = 4096;
const INSTALL_HINT = "Install the package `bubblewrap` (apt-get install bubblewrap, dnf install bubblewrap).";

/** What trials are made with. */
export interface TrialTools {
  /** The base installation's interpreter. */
  readonly interpreter: TrustedExecutable;
  /** What the interpreter needs besides the system's folders. */
  readonly readablePaths: readonly string[];
  /** The Python half (`trial.py`). */
  readonly runnerDirectory: string;
  /** The user that versions run as, when that is not the user of this process. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  /** How long each trial may take. */
  readonly times: TrialTimes;
}

/** What one trial is made with: a copy of the Python half that the user of trials can read, and milliseconds that it may take. */
interface Attempt {
  readonly runner: string;
  readonly timeout: number;
  /** Ends it sooner. */
  readonly signal: AbortSignal;
}

/** A trial, the piece that it tries, and what to do where it fails. */
export interface PieceTrial {
  readonly piece: SandboxPiece;
  readonly remedy: string;
  /**
   * Tries the piece in a process of its own: null when it works, else why not, as a sentence.
   *
   * @throws TimeLimitError when it takes too long, which says nothing of the piece
   */
  readonly attempt: (tools: TrialTools, attempt: Attempt) => Promise<string | null>;
}

/** Makes all trials at the same time. Resolves to the pieces that do not work; soon when `signal` ends them, and then that says nothing. */
export async function tryPieces(
  tools: TrialTools,
  trials: readonly PieceTrial[],
  signal = new AbortController().signal,
): Promise<readonly MissingPiece[]> {
  const folder = mkdtempSync(join(findTemporaryFolder(), "platform-trial-"));
  try {
    chmodSync(folder, 0o755);
    const runner = join(folder, "runner");
    copyRunner(tools.runnerDirectory, runner);
    const faults = await Promise.all(
      trials.map(({ attempt }) =>
        tryTwice(tools.times, (timeout) => attempt(tools, { runner, timeout, signal })).catch(
          (error: unknown) => {
            if (error instanceof TimeLimitError) return explainTime(error);
            throw error;
          },
        ),
      ),
    );
    return trials.flatMap(({ piece, remedy }, index) => {
      const why = faults[index] ?? null;
      return why === null ? [] : [{ piece, why, remedy }];
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Has `trial.py` try a piece, outside of every namespace. */
export async function tryInPython(
  { interpreter, user }: TrialTools,
  { runner, ...limits }: Attempt,
  args: readonly string[],
): Promise<string | null> {
  try {
    await runTrusted(interpreter, ["-I", "-S", runner, "trial", ...args], {
      env: {},
      cwd: "/",
      ...limits,
      ...user,
    });
    return null;
  } catch (error) {
    if (error instanceof TimeLimitError) throw error;
    return toSentence(getMessage(error));
  }
}

/** What `trial.py` says is a sentence; that a program was ended by a signal is none. */
function toSentence(text: string): string {
  return text.endsWith(".") ? text : `${text}.`;
}

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
  const [found] = await findExecutables("bwrap", `${searchPath}:${SYSTEM_FOLDERS}`);
  return found ?? { why: `bwrap is neither on PATH nor in ${SYSTEM_FOLDERS}.`, remedy: INSTALL_HINT };
}

/** What an empty sandbox is made with. */
type Parts = Pick<BubblewrapOptions, "executable" | "architecture" | "takeUser" | "bounds">;

/**
 * Starts a sandbox as that of a version, and in it a child as that of an execution (`trial.py`): bwrap may work where the namespaces below its
 * own are refused. Resolves to why it does not work, as a sentence; null when it does.
 */
export async function tryBubblewrap(
  parts: Parts,
  tools: TrialTools,
  { runner, ...limits }: Attempt,
): Promise<string | null> {
  const zygoteDirectory = mkdtempSync(join(dirname(runner), "zygote-"));
  const networks = { policy: DEFAULT_NETWORK_POLICY, egress: null, fallback: "none" } as const;
  const { readablePaths } = tools;
  const launch = await prepareBubblewrap(
    { ...parts, networks },
    {
      network: "none",
      resources: { cpu: 1, memory: 1 },
      children: 1,
      isGrouped: false,
      projectDirectory: runner,
      runnerDirectory: runner,
      readablePaths,
      zygoteDirectory,
      onNotice: () => undefined,
    },
  );
  try {
    const { view } = launch;
    const isolation = JSON.stringify(view.isolation);
    const command = [
      tools.interpreter.path,
      "-I",
      "-S",
      view.runner,
      "trial",
      "namespaces",
      isolation,
    ] as const;
    await runLaunch({ starter: parts.executable, launch, ...limits }, command);
    return null;
  } catch (error) {
    if (error instanceof TimeLimitError) throw error;
    return `bubblewrap does not work here (${getMessage(error).trim()}).`;
  } finally {
    launch.release();
  }
}

/** How a command is run in a sandbox. */
interface TrialLaunch extends Omit<Attempt, "runner"> {
  /** What a text about its time names: what is launched may be a program that starts it. */
  readonly starter: TrustedExecutable;
  readonly launch: SandboxLaunch;
}

/**
 * Runs a command in the sandbox to its end.
 *
 * @throws Error with the last line of its error output when it fails; TimeLimitError
 */
async function runLaunch(
  { starter, launch, timeout, signal }: TrialLaunch,
  command: readonly [string, ...string[]],
): Promise<void> {
  const { executable, args } = launch.wrap(command);
  const child = spawnTrusted(executable, args, {
    cwd: "/",
    env: launch.environment,
    stdio: ["ignore", "ignore", "pipe", "pipe", "pipe", ...launch.descriptors],
    ...(launch.uid === undefined ? {} : { uid: launch.uid }),
    ...(launch.gid === undefined ? {} : { gid: launch.gid }),
  });
  for (const descriptor of launch.descriptors) closeSync(descriptor);
  let isLate = false;
  const kill = (): void => {
    launch.kill(child);
    // A process that still holds the pipes is not waited for.
    child.stdio.forEach((stream) => stream?.destroy());
  };
  const timer = setTimeout(() => {
    isLate = true;
    kill();
  }, timeout);
  signal.addEventListener("abort", kill);
  if (signal.aborted) kill();
  try {
    let said = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-MAX_SAID);
    });
    const [code] = (await once(child, "close")) as [number | null];
    if (isLate) throw new TimeLimitError(basename(starter.path), timeout);
    if (code !== 0) throw new Error(said.trim().split("\n").at(-1) || `it ended with ${code ?? "a signal"}`);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", kill);
  }
}
