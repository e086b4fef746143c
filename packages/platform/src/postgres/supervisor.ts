import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND } from "@platform/engine/base/time";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { computePause } from "@platform/engine/base/backoff";
import { readSpace } from "../base/files.ts";
import { findAccount, giveOver } from "./account.ts";
import type { Account } from "./account.ts";
import { provideBinaries } from "./binaries.ts";
import type { Binaries } from "./binaries.ts";
import { EmbeddedPostgresError, USE_DATABASE_URL } from "./errors.ts";
import { tryLock } from "../base/file-lock.ts";
import type { FileLock } from "../base/file-lock.ts";
import { SERVER_PORT, createDirectory, planLayout } from "./layout.ts";
import type { Layout } from "./layout.ts";
import type { Logger } from "@platform/engine/base/logger";
import {
  inspectProcess,
  inspectProcessSync,
  readPostmaster,
  removePostmasterFile,
  removeSocketLock,
  waitUntilGone,
} from "./postmaster.ts";
import {
  SUPERUSER,
  answers,
  checkMajorVersion,
  createPlatformDatabase,
  initializeData,
  readLogTail,
  shutDown,
  shutDownSync,
  spawnServer,
  waitUntilReady,
} from "./server.ts";
import type { SocketConnection } from "./server.ts";

/*
 * Which process is responsible for the server. Every process that uses it is a *member* (shared lock on members.lock). One
 * of them is the *owner* (exclusive lock on owner.lock): it starts the server, adopts one that a killed owner left running,
 * and starts it again when it dies. The operating system releases both locks however a process ends, so:
 * - A second process finds the owner lock taken and joins.
 * - When the owner dies, a member gets its lock within a second and adopts the server, which has a session of its own.
 * - The last member to leave (no other holds the member lock) shuts the server down. After kill -9 of all members the
 *   server keeps running, and the next start adopts it.
 */

/** How the server is run. */
export interface EmbeddedPostgresOptions {
  /** Has all files of the server. Several processes of one user on this machine may share it. */
  readonly directory: string;
  /** The user to run the server as when this process is root; otherwise not used. */
  readonly user?: string | undefined;
  readonly logger: Logger;
  /** Cancels the start, which then throws the signal's reason and stops what was started. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called before anything is started, with the function to run when this process exits without `stop` (an "exit"
   * listener). That function does the same as `stop`, but blocks, for some seconds at most.
   */
  readonly atExit?: ((stopNow: () => void) => void) | undefined;
}

/** A server that this process uses. */
export interface EmbeddedPostgres {
  readonly connection: SocketConnection;
  /** Whether this process is the owner of the server. */
  readonly isOwner: () => boolean;
  /** Calls back once if the server died and cannot be started again. */
  readonly onExit: (listener: (error: Error) => void) => void;
  /** Leaves; the last member shuts the server down and waits for it. */
  readonly stop: () => Promise<void>;
}

const OWNER_POLL = 0.5 * SECOND;
const HEALTH_POLL = 0.1 * SECOND;
const ZOMBIE_WAIT = 5 * SECOND;
const JOIN_DEADLINE = 150 * SECOND;
const LEAVE_WAIT = 0.3 * SECOND;
const RESTARTS = 5;
const LEFTOVER_TRIES = 50;
/** What recovery may write: two files of the write-ahead log. */
const RECOVERY_BYTES = 32 * MEGABYTE;
const RESTART_BACKOFF = { firstMs: 100, ceilingMs: 5 * SECOND };

/**
 * Starts, adopts or joins the PostgreSQL server of a directory; resolves when it accepts connections.
 *
 * @throws EmbeddedPostgresError, whose message says what to do
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const account = await findAccount(options.user);
  const layout = planLayout(await createDirectory(options.directory, account));
  const signal = options.signal ?? new AbortController().signal;
  const members = await joinMembers(layout, signal);
  const state = createState(layout, account, options.logger, members);
  options.atExit?.(() => leaveNow(state));
  try {
    await becomeReady(state, signal);
    signal.throwIfAborted();
  } catch (error) {
    await leave(state).catch((failure: unknown) =>
      options.logger.error({ err: failure }, "the embedded PostgreSQL that did not start could not be left"),
    );
    throw error;
  }
  watch(state);
  return {
    connection: state.connection,
    isOwner: () => state.owner !== null,
    onExit: (listener) => {
      if (state.failure === null) state.listeners.push(listener);
      else listener(state.failure);
    },
    stop: () => (state.stopped ??= leave(state)),
  };
}

interface State {
  readonly layout: Layout;
  readonly account: Account | null;
  readonly logger: Logger;
  readonly connection: SocketConnection;
  readonly members: FileLock;
  readonly listeners: ((error: Error) => void)[];
  readonly halt: AbortController;
  owner: FileLock | null;
  /** Held while shutting down as the last member. */
  last: FileLock | null;
  /** The server's process, known to the owner only. */
  pid: number;
  watching: Promise<void>;
  stopped: Promise<void> | null;
  failure: Error | null;
}

function createState(layout: Layout, account: Account | null, logger: Logger, members: FileLock): State {
  return {
    layout,
    account,
    logger,
    connection: { host: layout.socketDirectory, port: SERVER_PORT, user: SUPERUSER, database: "platform" },
    members,
    listeners: [],
    halt: new AbortController(),
    owner: null,
    last: null,
    pid: 0,
    watching: Promise.resolve(),
    stopped: null,
    failure: null,
  };
}

async function joinMembers(layout: Layout, signal: AbortSignal): Promise<FileLock> {
  const deadline = readMonotonic() + JOIN_DEADLINE;
  // Refused only while the last member before this one shuts the server down.
  while (readMonotonic() < deadline) {
    const lock = tryLock(layout.memberLock, "shared");
    if (lock !== null) return lock;
    await delay(10 + Math.random() * 20, undefined, { signal });
  }
  throw new EmbeddedPostgresError(`The previous server in ${layout.directory} does not stop.`);
}

async function becomeReady(state: State, signal: AbortSignal): Promise<void> {
  const deadline = readMonotonic() + JOIN_DEADLINE;
  while (readMonotonic() < deadline) {
    state.owner = tryLock(state.layout.ownerLock, "exclusive");
    if (state.owner !== null) {
      await bringUp(state, signal);
      return;
    }
    if (await isPlatformReady(state)) {
      state.logger.info(
        { directory: state.layout.directory },
        "joined the embedded PostgreSQL of another process",
      );
      return;
    }
    await delay(20 + Math.random() * 20, undefined, { signal });
  }
  throw new EmbeddedPostgresError(
    `Another process runs the PostgreSQL server in ${state.layout.directory}, but the server accepts no connections. ` +
      `Stop that process, or read ${state.layout.log}. ${USE_DATABASE_URL}`,
  );
}

/** Whether server and database are ready. The owner creates the database after it has started the server. */
async function isPlatformReady(state: State): Promise<boolean> {
  if (!(await answers(state.connection, state.layout.data))) return false;
  return createPlatformDatabase(state.connection).then(
    () => true,
    () => false,
  );
}

/** As owner: adopts the server that runs, or starts one. */
async function bringUp(state: State, signal: AbortSignal): Promise<void> {
  const started = readMonotonic();
  const adopted = await adopt(state);
  if (!adopted) await start(state, signal);
  await createPlatformDatabase(state.connection);
  state.logger.info(
    {
      pid: state.pid,
      milliseconds: Math.round(readMonotonic() - started),
      directory: state.layout.directory,
    },
    adopted ? "adopted the embedded PostgreSQL that was running" : "started the embedded PostgreSQL",
  );
}

async function adopt(state: State): Promise<boolean> {
  const { data, socketDirectory } = state.layout;
  const running = readPostmaster(data);
  if (running === null) return false;
  const isRunning = async () => (await inspectProcess(running.pid, data)) === "postgres";
  if ((await isRunning()) && running.socketDirectory === socketDirectory) {
    if (await waitUntilReady(state.connection, data, isRunning)) {
      state.pid = running.pid;
      return true;
    }
  }
  if ((await isRunning()) && readPostmaster(data)?.pid === running.pid) await shutDown(running.pid, data);
  // PostgreSQL refuses to start while the pid in these files can be signalled, which a zombie can.
  await waitUntilGone(running.pid, data, ZOMBIE_WAIT, false);
  if ((await inspectProcess(running.pid, data)) !== "gone") {
    await removePostmasterFile(data);
    await removeSocketLock(socketDirectory, SERVER_PORT, running.pid);
  }
  return false;
}

async function start(state: State, signal: AbortSignal): Promise<void> {
  const { layout, account } = state;
  const binaries = await provideBinaries(layout.directory, account);
  const isInitialized = await stat(join(layout.data, "PG_VERSION")).then(
    () => true,
    () => false,
  );
  if (!isInitialized) await initializeData(layout, binaries, account);
  if (account !== null) await reown(state, account);
  await checkMajorVersion(layout, binaries);
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    if (await spawnAndWait(state, binaries, signal)) return;
    signal.throwIfAborted();
    const tail = await readLogTail(layout);
    // Server processes outlive a killed postmaster by some milliseconds; PostgreSQL refuses to start meanwhile.
    if (!tail.includes("pre-existing shared memory block") || attempt >= LEFTOVER_TRIES) {
      throw new EmbeddedPostgresError(
        `PostgreSQL does not start on ${layout.data}. The end of ${layout.log}:\n${tail}\n${USE_DATABASE_URL}`,
      );
    }
    await delay(HEALTH_POLL);
  }
}

/** Data of an earlier release, or of another `--postgres-user`, belongs to another account. No server uses it now. */
async function reown({ layout, logger }: State, account: Account): Promise<void> {
  const isGiven = await giveOver(layout.data, account);
  const isInside = layout.socketDirectory.startsWith(layout.directory);
  if (isInside) await giveOver(layout.socketDirectory, account).catch(ignoreMissing);
  if (isGiven)
    logger.info({ directory: layout.data, uid: account.uid }, "gave the data to the account of PostgreSQL");
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

async function spawnAndWait(state: State, binaries: Binaries, signal: AbortSignal): Promise<boolean> {
  const child = await spawnServer(state.layout, binaries, state.account);
  state.pid = child.pid ?? 0;
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  const isWanted = () => Promise.resolve(isAlive() && !signal.aborted);
  if (await waitUntilReady(state.connection, state.layout.data, isWanted)) return true;
  if (isAlive()) await shutDown(state.pid, state.layout.data);
  return false;
}

function watch(state: State): void {
  state.watching = runWatch(state).catch((error: unknown) => {
    if (!state.halt.signal.aborted) fail(state, error);
  });
}

async function runWatch(state: State): Promise<void> {
  const signal = state.halt.signal;
  while (!signal.aborted) {
    await delay(state.owner === null ? OWNER_POLL * (0.5 + Math.random()) : HEALTH_POLL, undefined, {
      signal,
      ref: false,
    });
    if (state.owner === null) await tryTakeOver(state);
    else if ((await inspectProcess(state.pid, state.layout.data)) !== "postgres") await restart(state);
  }
}

async function tryTakeOver(state: State): Promise<void> {
  state.owner = tryLock(state.layout.ownerLock, "exclusive");
  if (state.owner === null) return;
  state.logger.warn(
    { directory: state.layout.directory },
    "the owner of the embedded PostgreSQL is gone; taking over",
  );
  await restart(state);
}

async function restart(state: State): Promise<void> {
  if (state.pid !== 0)
    state.logger.error({ pid: state.pid }, "the embedded PostgreSQL died; starting it again");
  for (let attempt = 1; ; attempt++) {
    try {
      await bringUp(state, state.halt.signal);
      return;
    } catch (error) {
      // Without space for its log a server cannot recover. It can when there is space again; until then nothing is lost.
      if (attempt >= RESTARTS && !(await isDiskFull(state.layout))) throw error;
      state.logger.error({ err: error, attempt }, "the embedded PostgreSQL did not start; trying again");
      const pause = computePause(RESTART_BACKOFF, attempt);
      await delay(pause, undefined, { signal: state.halt.signal });
    }
  }
}

async function isDiskFull({ directory }: Layout): Promise<boolean> {
  return (await readSpace(directory)).free < RECOVERY_BYTES;
}

function fail(state: State, cause: unknown): void {
  state.failure = new EmbeddedPostgresError("The embedded PostgreSQL died and cannot be started again.", {
    cause,
  });
  state.logger.error({ err: cause }, "the embedded PostgreSQL cannot be started again; giving up");
  for (const listener of state.listeners) listener(state.failure);
}

async function leave(state: State): Promise<void> {
  state.halt.abort();
  await state.watching;
  state.members.release();
  state.last = await tryToBeLast(state.layout);
  try {
    if (state.last !== null) await shutDownAsLast(state);
  } finally {
    state.owner?.release();
    state.last?.release();
  }
}

/** Tries for LEAVE_WAIT, since members that leave at the same moment may exclude each other for an instant. */
async function tryToBeLast(layout: Layout): Promise<FileLock | null> {
  const deadline = readMonotonic() + LEAVE_WAIT;
  for (;;) {
    const lock = tryLock(layout.memberLock, "exclusive");
    if (lock !== null || readMonotonic() > deadline) return lock;
    await delay(10 + Math.random() * 30);
  }
}

async function shutDownAsLast(state: State): Promise<void> {
  const { data } = state.layout;
  const running = readPostmaster(data);
  if (running === null || (await inspectProcess(running.pid, data)) !== "postgres") return;
  await shutDown(running.pid, data);
  state.logger.info({ pid: running.pid }, "stopped the embedded PostgreSQL");
}

/**
 * Leaves without the event loop, for a process that is exiting. Never throws: that would keep the process. While
 * another process uses the server, it keeps running and a member takes over.
 */
function leaveNow(state: State): void {
  state.members.release();
  if (state.last === null && !isLastMember(state.layout)) return;
  // The server writes the file some milliseconds after it starts.
  const pid = readPostmaster(state.layout.data)?.pid ?? state.pid;
  if (pid !== 0 && inspectProcessSync(pid, state.layout.data) === "postgres")
    shutDownSync(pid, state.layout.data);
}

/** Without the lock's file the data directory was removed: no other process can use the server for long. */
function isLastMember({ memberLock }: Layout): boolean {
  try {
    return tryLock(memberLock, "exclusive") !== null;
  } catch {
    return !existsSync(memberLock);
  }
}
