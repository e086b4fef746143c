import { closeSync } from "node:fs";
import { Duplex } from "node:stream";
import type { Readable } from "node:stream";
import { SECOND } from "../base/time.ts";
import { killLaunched } from "../host/kill-launched.ts";
import { spawnTrusted } from "../host/processes.ts";
import type { ChildProcess } from "../host/processes.ts";
import type { TrustedExecutable } from "../host/trusted-executable.ts";
import type { Group } from "../python/sandbox/cgroups/cgroups.ts";
import { joinFirst } from "../python/sandbox/cgroups/join-first.ts";
import type { SystemUser } from "./access.ts";

const PIPE_GRACE = 2 * SECOND;
/** Longest wait after a kill: a process that hangs in the kernel (on a dead network file system, say) may never end. */
const KILL_LIMIT = 10 * SECOND;

/** One program of a build and its arguments, never a shell command line. It may lie in a folder that packages were installed into. */
export interface BuildCommand {
  readonly executable: string;
  readonly args: readonly string[];
}

/** Descriptor from which a sandbox reads its filter of system calls; the program inside does not have it. */
export const FILTER_FD = 3;

/** A build's program as it is started on the host. */
export interface HostCommand {
  readonly executable: TrustedExecutable;
  readonly args: readonly string[];
  /** What the program reads from descriptor 3; null: it has none. */
  readonly filter: Buffer | null;
}

/** How the programs of one build run. */
export interface BuildContext {
  /** Working directory. */
  readonly directory: string;
  /** The complete environment. */
  readonly variables: Readonly<Record<string, string>>;
  /** The user that a build runs as when this process is root. */
  readonly user: SystemUser | null;
  /** Puts a command into a sandbox. */
  readonly wrap: (command: BuildCommand) => HostCommand;
  /** The control group that it is begun in; null: none. */
  readonly group: Group | null;
  readonly signal: AbortSignal;
  readonly onLine: (line: string) => void;
}

/** How a program ended; `null` when a signal ended it. */
export type BuildExit = { readonly code: number | null };

/**
 * Runs one program to its end and passes on what it prints, line by line. When `signal` aborts, the program is killed
 * with everything it started, and the promise settles within seconds in any case.
 *
 * @throws Error when the program cannot be started
 */
export function runBuildCommand(command: BuildCommand, context: BuildContext): Promise<BuildExit> {
  return new Promise((resolve, reject) => {
    const child = start(command, context);
    const closePipes = (): void => child.stdio.forEach((stream) => stream?.destroy());
    let grace: NodeJS.Timeout | undefined;
    let limit: NodeJS.Timeout | undefined;
    const kill = (): void => {
      killLaunched(child);
      closePipes();
      limit = setTimeout(() => resolve({ code: null }), KILL_LIMIT);
    };
    context.signal.addEventListener("abort", kill, { once: true });
    if (context.signal.aborted) kill();
    readLines(child.stdout, context.onLine);
    readLines(child.stderr, context.onLine);
    const forget = (): void => {
      clearTimeout(grace);
      clearTimeout(limit);
      context.signal.removeEventListener("abort", kill);
    };
    child.once("error", (error) => {
      forget();
      reject(error);
    });
    // A process that a finished build left running could write into the environment later.
    child.once("exit", () => {
      if (child.pid !== undefined) killProcessGroup(child.pid);
      // A process that left the group may still hold the pipes: the output so far is read, then the wait ends.
      grace = setTimeout(closePipes, PIPE_GRACE);
    });
    child.once("close", (code) => {
      forget();
      resolve({ code });
    });
  });
}

function start(
  command: BuildCommand,
  { wrap, directory, variables, user, group }: BuildContext,
): ChildProcess {
  const wrapped = wrap(command);
  const { filter } = wrapped;
  const joins = group?.openJoins() ?? [];
  const first = filter === null ? FILTER_FD : FILTER_FD + 1;
  try {
    const { executable, args } = joins.length === 0 ? wrapped : joinFirst(wrapped, first, joins.length);
    const child = spawnTrusted(executable, args, {
      cwd: directory,
      env: variables,
      // A process group of its own, so that everything it starts can be killed at once.
      detached: true,
      stdio: ["ignore", "pipe", "pipe", ...(filter === null ? [] : ["pipe" as const]), ...joins],
      ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
    });
    if (filter !== null) writeFilter(child, filter);
    return child;
  } finally {
    joins.forEach(closeSync);
  }
}

/** A sandbox that ends before it has read all of it says why by itself. */
function writeFilter(child: ChildProcess, filter: Buffer): void {
  const stream = child.stdio[FILTER_FD];
  if (!(stream instanceof Duplex)) return;
  stream.on("error", () => stream.destroy());
  stream.resume().end(filter);
}

function killProcessGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group has already ended.
  }
}

// A program that prints no line breaks must not fill the memory: its output is cut into lines of this many characters.
const MAX_LINE = 64 * 1024;

function readLines(stream: Readable | null, onLine: (line: string) => void): void {
  let pending = "";
  const emit = (line: string): void => onLine(line.trimEnd());
  if (stream === null) return;
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    const lines = (pending + text).split("\n");
    pending = lines.pop() ?? "";
    lines.forEach(emit);
    if (pending.length > MAX_LINE) {
      emit(pending);
      pending = "";
    }
  });
  stream.on("end", () => {
    if (pending !== "") emit(pending);
  });
  // The error of a pipe that was destroyed on purpose is not an error of the build.
  stream.on("error", () => undefined);
}
