import { once } from "node:events";
import { Duplex } from "node:stream";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { killLaunched } from "../../host/kill-launched.ts";
import { spawnTrusted } from "../../host/processes.ts";
import type { ChildProcess } from "../../host/processes.ts";
import { describeExit } from "../child/answers.ts";
import { encodeOrder } from "../wire/control-messages.ts";
import type { Order, ZygoteEvent } from "../wire/control-messages.ts";
import { createEventReader } from "../wire/event-reader.ts";
import { openHomeSocket } from "../wire/home-socket.ts";
import type { HomeSocket } from "../wire/home-socket.ts";
import { createLogBudget, createLogSplitter } from "../child/log-splitter.ts";
import type { Pace, Paces } from "../wire/pace.ts";
import { createPacedReader } from "../wire/paced-reader.ts";
import type { Consumer, Taken } from "../wire/paced-reader.ts";
import type { LogLine, RunnableVersion } from "../port/runtime.ts";
import { STATUS_FD } from "../sandbox/sandbox.ts";
import type { Sandbox, SandboxLaunch } from "../sandbox/sandbox.ts";
import type { Rooms } from "./zygote-folders.ts";
import { constants } from "node:os";

const MAX_EVENT_BYTES = 4 * 1024 * 1024;
/** Of what a zygote prints, and of the traceback of an import. */
export const BOOT_LOG_BYTES = 256 * 1024;
export const BOOT_LINE_BYTES = 16 * 1024;
/** After the end of its control line a zygote kills its tree and leaves; without pid namespace nobody else could. */
const LEAVE_MS = 1000;
/** After a kill all pipes close at once, unless a process escaped. */
const HANG_UP_MS = 5000;
const SHARED_TEMPORARY_FOLDERS = ["/tmp/", "/dev/shm/"];
const CONTROL_FD = 3;
const MAX_STATUS_LENGTH = 4096;

export interface ZygoteOptions {
  readonly version: RunnableVersion;
  readonly startMode: "auto" | "spawn";
  readonly probe: boolean;
  readonly sandbox: Sandbox;
  readonly runnerDirectory: string;
  /** Gives this zygote a folder of its own, which is discarded when its last process is gone. */
  readonly rooms: Rooms;
  readonly paces: Paces;
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
  /** How it ended, once no process of it is left. */
  readonly closed: Promise<ZygoteEnd>;
}

export interface ZygoteEnd {
  /** A clause: "ended with exit code 3". */
  readonly description: string;
  /** Whether code that the version brings along has run for sure; else only the sandbox may have been refused. */
  readonly hasBegun: boolean;
}

/** Rejects when the sandbox cannot be prepared; nothing is left behind then. */
export async function startZygote(options: ZygoteOptions): Promise<Zygote> {
  const { version, runnerDirectory, rooms } = options;
  const roomDirectory = rooms.create();
  let launch: SandboxLaunch | undefined;
  let home: HomeSocket | undefined;
  try {
    launch = options.sandbox.prepare({ ...version, runnerDirectory, roomDirectory });
    home = await openHomeSocket(join(roomDirectory, "home"), options.paces);
    const child = await spawnLaunch(launch, version);
    return attendZygote(options, launch, child, home, roomDirectory);
  } catch (error) {
    home?.close();
    launch?.release();
    rooms.discard(roomDirectory);
    throw error;
  }
}

function attendZygote(
  options: ZygoteOptions,
  launch: SandboxLaunch,
  child: ChildProcess,
  home: HomeSocket,
  roomDirectory: string,
): Zygote {
  const control = child.stdio[CONTROL_FD];
  if (!(control instanceof Duplex)) throw new Error("the zygote has no control line");
  const events = createEventReader(MAX_EVENT_BYTES, options.onEvent, kill);
  const readings = [readToEnd(control, options.paces.answers, events.read), ...collectOutput(child, options)];
  control.on("error", () => control.destroy());
  const readStatus = collectStatus(child);
  let leaving: NodeJS.Timeout | undefined;
  let hangingUp: NodeJS.Timeout | undefined;

  function kill(): void {
    killLaunched(child);
    // Whoever still holds the pipes is not waited for: `closed` must come.
    hangingUp ??= setTimeout(() => child.stdio.forEach((stream) => stream?.destroy()), HANG_UP_MS);
  }

  function send(order: Order): void {
    if (control instanceof Duplex && control.writable) control.write(encodeOrder(order));
  }

  async function waitUntilClosed(): Promise<ZygoteEnd> {
    const description = await waitForEnd(child);
    await Promise.all(readings); // the last words may still wait for their turn
    clearTimeout(leaving);
    clearTimeout(hangingUp);
    home.close();
    options.rooms.discard(roomDirectory);
    launch.release();
    return { description, hasBegun: launch.hasBegun?.(readStatus()) ?? true };
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

/** Rejects when the system refuses the process (ENOENT, EAGAIN, EMFILE, ENOMEM). */
async function spawnLaunch(launch: SandboxLaunch, version: RunnableVersion): Promise<ChildProcess> {
  const { executable, args } = launch.wrap([version.interpreter, "-I", "-X", "utf8", launch.view.runner]);
  const threads = String(Math.max(1, Math.ceil(version.resources.cpu)));
  const child = spawnTrusted(executable, args, {
    cwd: "/",
    // A Ctrl-C on the terminal goes to a whole process group: it must not end what the host still waits for.
    detached: true,
    env: {
      ...launch.environment,
      OMP_NUM_THREADS: threads,
      OPENBLAS_NUM_THREADS: threads,
      MKL_NUM_THREADS: threads,
    },
    stdio: ["ignore", "pipe", "pipe", "pipe", ...(launch.hasBegun === null ? [] : ["pipe" as const])],
    ...(launch.uid === undefined ? {} : { uid: launch.uid }),
    ...(launch.gid === undefined ? {} : { gid: launch.gid }),
  });
  if (child.pid !== undefined) return child;
  const [error] = (await once(child, "error")) as [Error];
  throw error;
}

/** `close` comes after the exit and after all its pipes have closed: no process of the sandbox holds them any more. */
function waitForEnd(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.on("error", () => undefined); // a signal that could not be sent; the end itself comes as `close`
    child.once("close", (code, signal) =>
      resolve(describeExit({ code, signal: signal === null ? null : constants.signals[signal] })),
    );
  });
}

/** What the launcher reports; it says little, and nothing of user code's. */
function collectStatus(child: ChildProcess): () => string {
  const stream = child.stdio[STATUS_FD];
  let status = "";
  stream?.on("error", () => stream.destroy());
  stream?.on("data", (chunk: Buffer) => {
    status = (status + chunk.toString("latin1")).slice(-MAX_STATUS_LENGTH);
  });
  return () => status;
}

/** Resolves when the stream has closed and all of it was taken. */
function readToEnd(stream: Readable, pace: Pace, consumer: Consumer): Promise<void> {
  return new Promise((resolve) => createPacedReader(stream, pace, consumer).redirect(consumer, [], resolve));
}

function collectOutput(child: ChildProcess, { onOutput, paces }: ZygoteOptions): readonly Promise<void>[] {
  const budget = createLogBudget(BOOT_LOG_BYTES);
  const pass = (lines: readonly LogLine[]): void => {
    if (lines.length > 0) onOutput(lines);
  };
  const read = async (stream: Readable | null, severity: LogLine["severity"]): Promise<void> => {
    if (stream === null) return;
    const splitter = createLogSplitter({ severity, lineBytes: BOOT_LINE_BYTES, budget, now: Date.now });
    const consume = (chunk: Buffer, allowance: number): Taken => {
      const { lines, cost, rest } = splitter.split(chunk, allowance);
      pass(lines);
      return { cost, rest };
    };
    await readToEnd(stream, paces.logs, consume);
    pass(splitter.end().lines);
  };
  return [read(child.stdout, "INFO"), read(child.stderr, "WARNING")];
}
