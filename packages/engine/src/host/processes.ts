import { execFile, spawn } from "node:child_process";
import type { ChildProcess, StdioOptions } from "node:child_process";
import { basename } from "node:path";
import { promisify } from "node:util";
import { SECOND } from "../base/time.ts";
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

/** A program had not ended in its time. It may on another day: nothing follows from it but that the machine was slow, or the program hangs. */
export class TimeLimitError extends Error {
  constructor(program: string, milliseconds: number) {
    super(`${program} took longer than ${milliseconds / SECOND} s`);
    this.name = "TimeLimitError";
  }
}

/**
 * Runs a program to its end; resolves to what it printed on its standard output.
 *
 * @throws TimeLimitError when it is killed because of its time; Error when it fails, is killed or cannot be started: with the last line of its
 *   error output, or how it ended. What it was started with is never in the message: that may be long, or secret
 */
export async function runTrusted(
  executable: TrustedExecutable,
  args: readonly string[],
  { input, ...options }: RunOptions,
): Promise<string> {
  const path = getPath(executable);
  try {
    const running = promisify(execFile)(path, args, { ...options, encoding: "utf8", killSignal: "SIGKILL" });
    // A program that ends without reading its input reports that by its exit code.
    running.child.stdin?.on("error", () => undefined).end(input);
    return (await running).stdout;
  } catch (error) {
    if (isTimeUp(error)) throw new TimeLimitError(basename(path), options.timeout);
    throw new Error(describeFailure(error, basename(path)), { cause: error });
  }
}

/** The types already ensure it; this stops a value that was cast. */
function getPath(executable: TrustedExecutable): string {
  if (!(executable instanceof TrustedExecutable) || executable.reason === undefined)
    throw new TypeError("Only trusted programs run on the host.");
  return executable.path;
}

/** Of an output that is too long, `execFile` says the same, but has a code. */
function isTimeUp(error: unknown): boolean {
  return (
    error instanceof Error &&
    "killed" in error &&
    error.killed === true &&
    "code" in error &&
    error.code === null
  );
}

/** @param error as `execFile` rejects with it: its message has the whole command line where the program was started */
function describeFailure(error: unknown, program: string): string {
  if (!(error instanceof Error)) return String(error);
  const stderr = "stderr" in error && typeof error.stderr === "string" ? error.stderr : "";
  const said = stderr.trim().split("\n").at(-1)?.trim();
  if (said) return said;
  if ("signal" in error && typeof error.signal === "string") return `${program} was ended by ${error.signal}`;
  if ("code" in error && typeof error.code === "number")
    return `${program} ended with exit code ${error.code}`;
  return error.message;
}
