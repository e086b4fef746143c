import { once } from "node:events";
import { closeSync } from "node:fs";
import { constants } from "node:os";
import { platform } from "node:process";
import { Duplex } from "node:stream";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { MEGABYTE } from "../../base/bytes.ts";
import type { Logger } from "../../base/logger.ts";
import { spawnTrusted } from "../../host/processes.ts";
import type { ChildProcess } from "../../host/processes.ts";
import { createTimers } from "../../base/timers.ts";
import { getMessage } from "../../base/thrown.ts";
import type { InputPlace } from "../child/encode-request.ts";
import { describeExit } from "../child/answers.ts";
import type { Failed } from "../child/answers.ts";
import { encodeOrder } from "../wire/control-messages.ts";
import type { Order, ZygoteEvent } from "../wire/control-messages.ts";
import { createEventReader } from "../wire/event-reader.ts";
import { createBootOrder } from "./boot-order.ts";
import { openDoor } from "../wire/door.ts";
import type { Door } from "../wire/door.ts";
import { openHomeSocket } from "../wire/home-socket.ts";
import type { HomeSocket } from "../wire/home-socket.ts";
import { createLogBudget, createLogSplitter } from "../child/log-splitter.ts";
import type { Pace, Paces } from "../wire/pace.ts";
import { createPacedReader } from "../wire/paced-reader.ts";
import type { Consumer, Taken } from "../wire/paced-reader.ts";
import type { LogLine, RunnableVersion } from "../port/runtime.ts";
import type { Doorkeeper } from "../../base/door.ts";
import { BOOT_LINE_BYTES, BOOT_LOG_BYTES, describeLargeImport } from "./start-failure.ts";
import { FIRST_DESCRIPTOR, STATUS_FD } from "../sandbox/sandbox.ts";
import type { Sandbox, SandboxLaunch } from "../sandbox/sandbox.ts";
import type { ZygoteOptions } from "./zygote-options.ts";
import { watchImport } from "./watched-import.ts";
import type { Launched } from "./watched-import.ts";
import { isOver } from "../watch/process-files.ts";
import { createZygoteGroups, removeBefore } from "./zygote-groups.ts";
import type { ZygoteGroups } from "./zygote-groups.ts";
import { INPUTS } from "./zygote-folders.ts";
import type { ZygoteFolders } from "./zygote-folders.ts";
import type { Watcher } from "../watch/watcher.ts";

const MAX_EVENT_BYTES = 4 * MEGABYTE;
/** At the end of its control pipe a zygote kills its process tree and exits; without a pid namespace, no other process can do so. */
const LEAVE_MS = 1000;
/** After a kill all pipes close at once, unless a process has escaped. */
const HANG_UP_MS = 5000;
const CONTROL_FD = 3;
const MAX_STATUS_LENGTH = 4096;
const DOOR = "door";
const UNCONNECTED = "could not be connected to the network";

/** Dependencies that the zygotes of one runtime share. */
export interface ZygoteHost {
  readonly sandbox: Sandbox;
  readonly runnerDirectory: string;
  /** Creates the folder of each zygote, which is discarded when its last process has ended. */
  readonly folders: ZygoteFolders;
  readonly paces: Paces;
  readonly logger: Logger;
  /** Limits imports and executions where there are no control groups; null: it is not needed, or cannot be. */
  readonly watcher: Watcher | null;
  /** Null: sandboxes have no doors. */
  readonly doorkeeper: Doorkeeper | null;
}

/** The processes of a zygote that the host knows. */
export interface ZygoteProcesses {
  /** The process that was started: the zygote itself or its launcher. */
  readonly pid: number;
  /** See SandboxLaunch. */
  readonly listHelpers: () => readonly number[];
}

/** A sandboxed zygote process. Ends with its whole process tree when it is stopped or when its control pipe closes. */
export interface Zygote {
  readonly processes: ZygoteProcesses;
  readonly home: HomeSocket;
  readonly inputs: InputPlace;
  /** Path of the door as the sandbox names it; null: it has none. */
  readonly door: string | null;
  /** Null: there are no control groups. */
  readonly groups: ZygoteGroups | null;
  readonly send: (order: Order) => void;
  /** Lets it end its process tree and exit; killed when it does not. */
  readonly stop: () => void;
  /** Ends every process of the sandbox at once. */
  readonly kill: () => void;
  /** How it ended; resolves once all its processes have ended. */
  readonly closed: Promise<ZygoteEnd>;
}

/** How a zygote process ended. */
export interface ZygoteEnd {
  /** A clause: "ended with exit code 3". */
  readonly description: string;
  /** Whether code of the version has certainly run; if false, the sandbox itself may have been refused. */
  readonly hasBegun: boolean;
  /** Its outcome if it ended during the import, and the kernel had killed a process of it because of its memory. Null: it had not. */
  readonly excess: Failed | null;
}

/** The resources of one zygote, apart from its process. */
interface Holdings {
  readonly launch: SandboxLaunch;
  readonly home: HomeSocket;
  readonly inputs: InputPlace;
  readonly door: string | null;
  readonly groups: ZygoteGroups | null;
  readonly release: () => Promise<void>;
}

/** Rejects when the sandbox cannot be prepared; nothing is left behind then. */
export async function startZygote(host: ZygoteHost, options: ZygoteOptions): Promise<Zygote> {
  const holdings = await prepareZygote(host, options);
  try {
    const child = await spawnLaunch(holdings, options.version);
    return attendZygote(host, options, child, holdings);
  } catch (error) {
    await holdings.release();
    throw error;
  }
}

async function prepareZygote(host: ZygoteHost, { version, maxChildren }: ZygoteOptions): Promise<Holdings> {
  const { runnerDirectory, folders, doorkeeper } = host;
  const zygoteDirectory = folders.create();
  let launch: SandboxLaunch | undefined;
  let home: HomeSocket | undefined;
  let door: Door | undefined;
  let groups: ZygoteGroups | null = null;
  async function release(): Promise<void> {
    home?.close();
    door?.close();
    await removeBefore(groups, () => launch?.release()); // what has not ended keeps its user from other sandboxes
    launch?.disconnect();
    folders.discard(zygoteDirectory);
  }
  try {
    const onNotice = (message: string): void => host.logger.warn({ versionId: version.id }, message);
    launch = await host.sandbox.prepare({
      ...version,
      runnerDirectory,
      zygoteDirectory,
      children: maxChildren,
      isGrouped: host.sandbox.cgroups !== null,
      onNotice,
    });
    home = await openHomeSocket(join(zygoteDirectory, "home"), host.paces);
    if (doorkeeper !== null && launch.view.hasDoors)
      door = await openDoor(join(zygoteDirectory, DOOR), doorkeeper());
    if (host.sandbox.cgroups !== null)
      groups = createZygoteGroups(host.sandbox.cgroups, version, {
        maxChildren,
        first: FIRST_DESCRIPTOR + launch.descriptors.length,
      });
    const inputs = { outside: join(zygoteDirectory, INPUTS), inside: join(launch.view.zygote, INPUTS) };
    const inside = door === undefined ? null : join(launch.view.zygote, DOOR);
    return { launch, home, inputs, door: inside, groups, release };
  } catch (error) {
    closeDescriptors(launch);
    await release();
    throw error;
  }
}

function closeDescriptors(launch: SandboxLaunch | undefined): void {
  for (const descriptor of launch?.descriptors ?? []) closeSync(descriptor);
}

function attendZygote(
  { paces, watcher }: ZygoteHost,
  options: ZygoteOptions,
  child: ChildProcess,
  { launch, home, inputs, door, groups, release }: Holdings,
): Zygote {
  const control = openControl(child);
  const readEvents = createEventReader(MAX_EVENT_BYTES, hear, kill);
  const readings = [
    readToEnd(control, paces.answers, readEvents),
    ...collectOutput(child, paces.logs, options.onOutput),
  ];
  const status = collectStatus(child);
  const orders = createOrders(control);
  const timers = createTimers<"leave" | "hangUp">();
  const imported = watchImport(watcher, options, nameLaunched(child, launch, status), orders.release);

  function hear(event: ZygoteEvent): void {
    attendEvent(event, { home, groups });
    imported.hear(event);
  }

  function kill(): void {
    launch.kill(child);
    groups?.kill();
    // A process that still holds the pipes is not waited for: `closed` must resolve.
    if (!timers.has("hangUp"))
      timers.set("hangUp", HANG_UP_MS, () => child.stdio.forEach((stream) => stream?.destroy()));
  }

  function stop(): void {
    control.destroy();
    if (!timers.has("leave")) timers.set("leave", LEAVE_MS, kill);
  }

  async function boot(): Promise<string | null> {
    const fault = await connectNetwork(child, launch, status.begun);
    if (fault === null) orders.begin(createBootOrder(options, launch));
    else kill();
    return fault;
  }

  async function waitUntilClosed(): Promise<ZygoteEnd> {
    const description = await waitForEnd(child);
    await Promise.all(readings); // the last output may still wait for its turn
    timers.clear("leave");
    timers.clear("hangUp");
    const fault = await booting;
    const isLarge = imported.close() || groups?.hasExceeded() === true;
    const excess = isLarge ? describeLargeImport(options.version.resources) : null;
    await release();
    if (fault !== null) return { description: `${UNCONNECTED}: ${fault}`, hasBegun: false, excess };
    return { description, hasBegun: launch.hasBegun?.(status.read()) ?? true, excess };
  }

  const booting = boot();
  const processes = nameProcesses(child, launch);
  return { processes, home, inputs, door, groups, send: orders.send, kill, stop, closed: waitUntilClosed() };
}

function attendEvent({ event }: ZygoteEvent, { home, groups }: Pick<Holdings, "home" | "groups">): void {
  // The zygote opens the socket before it says hello. User code runs only later: it can never reach the path.
  if (event === "hello" && platform === "linux") home.hide();
  // Twice, since the kernel does not remember it for as long as many an import takes.
  if (event === "hello" || event === "ready") groups?.expectChild();
}

function nameLaunched(
  { pid = 0 }: ChildProcess,
  { hasBegun }: SandboxLaunch,
  { begun }: LauncherStatus,
): Launched {
  return { pid, isLauncher: hasBegun !== null, begun };
}

function nameProcesses({ pid = 0 }: ChildProcess, { listHelpers }: SandboxLaunch): ZygoteProcesses {
  return { pid, listHelpers };
}

/** The pipe of orders and events. It takes no more orders when the process that was started has ended. */
function openControl(child: ChildProcess): Duplex {
  const control = child.stdio[CONTROL_FD];
  if (!(control instanceof Duplex)) throw new Error("the zygote has no control pipe");
  control.on("error", () => control.destroy());
  // A launcher may be killed alone: at the end of its orders the zygote ends too, and nobody holds the pipes any more.
  child.once("exit", () => control.end());
  return control;
}

/**
 * Writes orders; those that are given before `release` wait for it. That is at its hello at the earliest: an order to a process whose import
 * has ended it already would close the connection before the hello was read. With a watcher it is later, since no child shall begin before
 * the import was looked at.
 */
function createOrders(control: Duplex) {
  let waiting: Order[] | null = [];
  const write = (order: Order): void => {
    if (control.writable) control.write(encodeOrder(order));
  };
  function release(): void {
    waiting?.forEach(write);
    waiting = null;
  }
  return {
    send: (order: Order): void => {
      if (waiting === null) write(order);
      else waiting.push(order);
    },
    begin: write,
    release,
  };
}

/**
 * Connects the network of the sandbox, while the interpreter starts; it waits for its first order. Why that failed; null when it did not,
 * or when the process had ended, which then says why.
 */
async function connectNetwork(
  child: ChildProcess,
  { connect }: SandboxLaunch,
  begun: Promise<unknown>,
): Promise<string | null> {
  try {
    if (connect === null) return null;
    await begun;
    if (hasEnded(child)) return null; // its process id may be another process' by now, with another network
    await connect(child.pid ?? 0);
    return null;
  } catch (error) {
    return hasEnded(child) || isOver(child.pid ?? 0) ? null : getMessage(error);
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Rejects when the system refuses the process (ENOENT, EAGAIN, EMFILE, ENOMEM). */
async function spawnLaunch(holdings: Holdings, version: RunnableVersion): Promise<ChildProcess> {
  try {
    const child = startProgram(holdings, version);
    if (child.pid !== undefined) return child;
    const [error] = (await once(child, "error")) as [Error];
    throw error;
  } finally {
    closeDescriptors(holdings.launch);
    holdings.groups?.closeDescriptors();
  }
}

function startProgram({ launch, groups }: Holdings, version: RunnableVersion): ChildProcess {
  const command = launch.wrap([version.interpreter, "-I", "-X", "utf8", launch.view.runner]);
  const { executable, args } = groups?.join(command) ?? command;
  const threads = String(Math.max(1, Math.ceil(version.resources.cpu)));
  const status = launch.hasBegun === null ? ("ignore" as const) : ("pipe" as const);
  return spawnTrusted(executable, args, {
    cwd: "/",
    // Ctrl-C on the terminal signals a whole process group: it must not end a process that the host still waits for.
    detached: true,
    env: {
      ...launch.environment,
      OMP_NUM_THREADS: threads,
      OPENBLAS_NUM_THREADS: threads,
      MKL_NUM_THREADS: threads,
    },
    stdio: ["ignore", "pipe", "pipe", "pipe", status, ...launch.descriptors, ...(groups?.descriptors ?? [])],
    ...(launch.uid === undefined ? {} : { uid: launch.uid }),
    ...(launch.gid === undefined ? {} : { gid: launch.gid }),
  });
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

/** What the launcher writes to descriptor 4. */
interface LauncherStatus {
  /** The reports, which are short and contain nothing from user code. */
  readonly read: () => string;
  /** Resolves at the first report, or when there will be none. */
  readonly begun: Promise<unknown>;
}

function collectStatus(child: ChildProcess): LauncherStatus {
  const stream = child.stdio[STATUS_FD];
  let status = "";
  stream?.on("error", () => stream.destroy());
  const begun = new Promise((resolve) => {
    stream?.once("data", resolve).once("close", resolve);
  });
  stream?.on("data", (chunk: Buffer) => {
    status = (status + chunk.toString("latin1")).slice(-MAX_STATUS_LENGTH);
  });
  return { read: () => status, begun };
}

/** Resolves when the stream has closed and everything was consumed. */
function readToEnd(stream: Readable, pace: Pace, consumer: Consumer): Promise<void> {
  return new Promise((resolve) => createPacedReader(stream, pace, consumer).redirect(consumer, [], resolve));
}

function collectOutput(
  child: ChildProcess,
  pace: Pace,
  onOutput: ZygoteOptions["onOutput"],
): readonly Promise<void>[] {
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
    await readToEnd(stream, pace, consume);
    pass(splitter.end().lines);
  };
  return [read(child.stdout, "INFO"), read(child.stderr, "WARNING")];
}
