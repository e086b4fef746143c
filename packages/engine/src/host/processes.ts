import { execFile, spawn } from "node:child_process";
import type { ChildProcess, StdioOptions } from "node:child_process";
import { promisify } from "node:util";
import { TrustedExecutable } from "./trusted-executable.ts";

/*
 * The only place that starts processes on the host: lint forbids `node:child_process` elsewhere. It starts trusted programs only, and every
 * caller passes the environment: no process inherits the platform's own, which contains its secrets.
 */

export type { ChildProcess } from "node:child_process";

interface HostOptions {
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Set when this process is root and the program must not be. */
  readonly uid?: number;
  readonly gid?: number;
}

/** How a program is started that the caller attends itself. */
export interface SpawnOptions extends HostOptions {
  readonly stdio: StdioOptions;
  /** Whether it gets its own session and process group. */
  readonly detached?: boolean;
}

/** Starts a program. Its end and a failure to start it are events of the child, as in `node:child_process`. */
export function spawnTrusted(
  executable: TrustedExecutable,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  return spawn(getPath(executable), args, options);
}

/** How a program is run to its end. */
export interface RunOptions extends HostOptions {
  /** Milliseconds until it is killed. */
  readonly timeout: number;
  /** Kills it; the call then rejects. */
  readonly signal?: AbortSignal;
  /** Text or bytes for its standard input. */
  readonly input?: string | Uint8Array;
}

/**
 * Runs a program to its end; resolves to what it printed on its standard output.
 *
 * @throws Error with the last line of its error output when it fails, is killed or cannot be started
 */
export async function runTrusted(
  executable: TrustedExecutable,
  args: readonly string[],
  { input, ...options }: RunOptions,
): Promise<string> {
  try {
    const running = promisify(execFile)(getPath(executable), args, {
      ...options,
      encoding: "utf8",
      killSignal: "SIGKILL",
    });
    // A program that ends without reading its input reports that by its exit code.
    running.child.stdin?.on("error", () => undefined).end(input);
    return (await running).stdout;
  } catch (error) {
    throw new Error(describeFailure(error), { cause: error });
  }
}

/** The types already ensure it; this stops a value that was cast. */
function getPath(executable: TrustedExecutable): string {
  if (!(executable instanceof TrustedExecutable) || executable.reason === undefined)
    throw new TypeError("Only trusted programs run on the host.");
  return executable.path;
}

function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stderr = "stderr" in error && typeof error.stderr === "string" ? error.stderr : "";
  return stderr.trim().split("\n").at(-1)?.trim() || error.message;
}
