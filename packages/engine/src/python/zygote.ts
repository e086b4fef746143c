import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { Duplex } from "node:stream";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { describeExit } from "./answers.ts";
import { createEventReader, encodeOrder } from "./control-lines.ts";
import type { Order, ZygoteEvent } from "./control-lines.ts";
import { openHomeSocket } from "./home-socket.ts";
import type { HomeSocket } from "./home-socket.ts";
import { createLogBudget, createLogSplitter } from "./log-splitter.ts";
import type { LogLine, RunnableVersion } from "./runtime.ts";
import type { Sandbox, SandboxLaunch } from "./sandbox/sandbox.ts";
import { constants } from "node:os";

const MAX_EVENT_BYTES = 4 * 1024 * 1024;
const BOOT_LOG_BYTES = 256 * 1024;
const BOOT_LINE_BYTES = 16 * 1024;
/** After the end of its control line a zygote kills its tree and leaves; without pid namespace nobody else could. */
const LEAVE_MS = 1000;
const SHARED_TEMPORARY_FOLDERS = ["/tmp/", "/dev/shm/"];
const CONTROL_FD = 3;

export interface ZygoteOptions {
  readonly version: RunnableVersion;
  readonly startMode: "auto" | "spawn";
  readonly probe: boolean;
  readonly sandbox: Sandbox;
  readonly runnerDirectory: string;
  /** Folder of this zygote alone; created here, removed when its last process is gone. */
  readonly roomDirectory: string;
  readonly onEvent: (event: ZygoteEvent) => void;
  /** What it prints itself: user code at import, and our own warnings. */
  readonly onOutput: (lines: readonly LogLine[]) => void;
}

/** A sandboxed zygote process. Ends when it is stopped or when its control line closes, and takes its whole tree along. */
export interface Zygote {
  readonly home: HomeSocket;
  readonly send: (order: Order) => void;
  /** Lets it end its tree and leave; killed when it does not. */
  readonly stop: () => void;
  /** Ends every process of the sandbox at once. */
  readonly kill: () => void;
  /** How it ended, once no process of it is left and its folder is gone. */
  readonly closed: Promise<string>;
}

/** Rejects when the sandbox cannot be prepared; nothing is left behind then. */
export async function startZygote(options: ZygoteOptions): Promise<Zygote> {
  const { version, runnerDirectory, roomDirectory } = options;
  mkdirSync(roomDirectory, { mode: 0o711 });
  let launch: SandboxLaunch | undefined;
  try {
    launch = options.sandbox.prepare({ ...version, runnerDirectory, roomDirectory });
    const home = await openHomeSocket(join(roomDirectory, "home"));
    return attendZygote(options, launch, home);
  } catch (error) {
    launch?.release();
    rmSync(roomDirectory, { recursive: true, force: true });
    throw error;
  }
}

function attendZygote(options: ZygoteOptions, launch: SandboxLaunch, home: HomeSocket): Zygote {
  const child = spawnLaunch(launch, options.version);
  const control = child.stdio[CONTROL_FD];
  if (!(control instanceof Duplex)) throw new Error("the zygote has no control line");
  const events = createEventReader(MAX_EVENT_BYTES, options.onEvent, kill);
  control.on("data", (chunk: Buffer) => events.push(chunk));
  control.on("error", () => control.destroy());
  collectOutput(child, options.onOutput);
  let leaving: NodeJS.Timeout | undefined;

  function kill(): void {
    child.kill("SIGKILL");
  }

  function send(order: Order): void {
    if (control instanceof Duplex && control.writable) control.write(encodeOrder(order));
  }

  async function waitUntilClosed(): Promise<string> {
    const told = await waitForEnd(child);
    clearTimeout(leaving);
    home.close();
    rmSync(options.roomDirectory, { recursive: true, force: true });
    launch.release();
    return told;
  }

  send({
    order: "boot",
    project: launch.view.project,
    home: join(launch.view.room, "home"),
    scratch: launch.view.scratch,
    keep: options.version.readablePaths.filter((path) =>
      SHARED_TEMPORARY_FOLDERS.some((folder) => path.startsWith(folder)),
    ),
    variables: options.version.variables,
    memory: Math.round(options.version.resources.memory * 1024 ** 3),
    isolate: launch.view.isolate,
    startMode: options.startMode,
    probe: options.probe,
  });
  return {
    home,
    send,
    kill,
    stop: () => {
      control.destroy();
      leaving ??= setTimeout(kill, LEAVE_MS);
    },
    closed: waitUntilClosed(),
  };
}

function spawnLaunch(launch: SandboxLaunch, version: RunnableVersion): ChildProcess {
  const [file, ...args] = launch.wrap([version.interpreter, "-I", "-X", "utf8", launch.view.runner]);
  const threads = String(Math.max(1, Math.ceil(version.resources.cpu)));
  return spawn(file, args, {
    cwd: "/",
    // A Ctrl-C on the terminal goes to a whole process group: it must not end what the host still waits for.
    detached: true,
    env: {
      ...launch.environment,
      OMP_NUM_THREADS: threads,
      OPENBLAS_NUM_THREADS: threads,
      MKL_NUM_THREADS: threads,
    },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    ...(launch.uid === undefined ? {} : { uid: launch.uid }),
    ...(launch.gid === undefined ? {} : { gid: launch.gid }),
  });
}

/** `close` comes after the exit and after all its pipes have closed: no process of the sandbox holds them any more. */
function waitForEnd(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once("error", (error) => {
      if (child.pid === undefined) resolve(`could not be started: ${error.message}`);
    });
    child.once("close", (code, signal) =>
      resolve(describeExit({ code, signal: signal === null ? null : constants.signals[signal] })),
    );
  });
}

function collectOutput(child: ChildProcess, emit: (lines: readonly LogLine[]) => void): void {
  const budget = createLogBudget(BOOT_LOG_BYTES);
  const read = (stream: Readable | null, severity: LogLine["severity"]): void => {
    const splitter = createLogSplitter({ severity, lineBytes: BOOT_LINE_BYTES, budget, now: Date.now, emit });
    stream?.on("data", splitter.push);
    stream?.once("close", splitter.end);
  };
  read(child.stdout, "INFO");
  read(child.stderr, "WARNING");
}
