import { open, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { spawnTrusted } from "@platform/engine/host/processes";
import type { ChildProcess } from "@platform/engine/host/processes";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { Client } from "pg";
import { getCode } from "@platform/engine/base/thrown";
import { CREATE_DATABASE_LOCK } from "./locks.ts";
import { findInitializer, giveOver } from "./account.ts";
import type { Account } from "./account.ts";
import type { Binaries } from "./binaries.ts";
import { EmbeddedPostgresError, USE_DATABASE_URL } from "./errors.ts";
import { SERVER_PORT, createSocketDirectory, makePrivateFolder } from "./layout.ts";
import type { Layout } from "./layout.ts";
import { waitUntilGone, waitUntilGoneSync } from "./postmaster.ts";

/** The role that the platform logs in as. */
export const SUPERUSER = "platform";

/** How to connect to the embedded server, as options of `pg`. `host` is the folder of the socket. */
export interface SocketConnection {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

/**
 * Passed on the command line at every start, so that a new release of the platform can change them. With these, all
 * processes together use less than 160 MB of PSS when idle. Settings of durability keep PostgreSQL's safe defaults.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: "",
  unix_socket_permissions: "0700",
  port: String(SERVER_PORT),
  fsync: "on",
  max_connections: "150",
  shared_buffers: "64MB",
  work_mem: "4MB",
  maintenance_work_mem: "32MB",
  autovacuum_max_workers: "2",
  // No replica follows the embedded server.
  wal_level: "minimal",
  max_wal_senders: "0",
  max_logical_replication_workers: "0",
  max_wal_size: "1GB",
  io_method: "sync",
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  log_checkpoints: "off",
  logging_collector: "off",
};

const ENVIRONMENT = { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };

/** Creates the data directory with `initdb`, under another name first, so that an interrupted one is not used. */
export async function initializeData(
  layout: Layout,
  binaries: Binaries,
  account: Account | null,
): Promise<void> {
  const unfinished = `${layout.data}.new`;
  await rm(unfinished, { recursive: true, force: true });
  const initializer = await findInitializer(account);
  await makePrivateFolder(unfinished, initializer);
  const child = spawnTrusted(
    binaries.initdb,
    ["-D", unfinished, "-U", SUPERUSER, "--auth=trust", "--locale=C", "-E", "UTF8", "--no-instructions"],
    {
      cwd: "/",
      env: ENVIRONMENT,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
      ...asAccount(initializer),
    },
  );
  const output: string[] = [];
  child.stdout?.on("data", (chunk: Buffer) => output.push(chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => output.push(chunk.toString()));
  // It has a process group of its own, so it would outlive this process.
  const killGroup = () => child.pid !== undefined && process.kill(-child.pid, "SIGKILL");
  process.once("exit", killGroup);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  }).finally(() => process.off("exit", killGroup));
  if (code !== 0) {
    throw new EmbeddedPostgresError(
      `initdb could not create a database in ${layout.data}: ${output.join("").trim()} ${USE_DATABASE_URL}`,
    );
  }
  if (account !== null) await giveOver(unfinished, account);
  await rename(unfinished, layout.data);
}

function asAccount(account: Account | null): { uid?: number; gid?: number } {
  return account === null ? {} : { uid: account.uid, gid: account.gid };
}

/** @throws EmbeddedPostgresError when the data was written by another major version of PostgreSQL, which cannot read it */
export async function checkMajorVersion(layout: Layout, binaries: Binaries): Promise<void> {
  const written = (await readFile(join(layout.data, "PG_VERSION"), "utf8")).trim();
  if (Number(written) === binaries.major) return;
  throw new EmbeddedPostgresError(
    `The data in ${layout.data} was written by PostgreSQL ${written}; this release of the platform brings PostgreSQL ` +
      `${binaries.major}, which cannot read it. To move: start the previous release, run "pg_dump -h ${layout.socketDirectory} ` +
      `-p ${SERVER_PORT} -U ${SUPERUSER} -Fc -f platform.dump platform" with PostgreSQL ${written}'s client programs, stop it, move ${layout.data} ` +
      `away, start this release once, and load with "pg_restore -h ${layout.socketDirectory} -p ${SERVER_PORT} ` +
      `-U ${SUPERUSER} -d platform --clean --if-exists platform.dump". ${USE_DATABASE_URL}`,
  );
}

/** Starts the server in a session of its own, so that Ctrl-C in the terminal does not reach it. */
export async function spawnServer(
  layout: Layout,
  binaries: Binaries,
  account: Account | null,
): Promise<ChildProcess> {
  await createSocketDirectory(layout, account);
  await rotateLog(layout.log);
  const settings = Object.entries({ ...SETTINGS, unix_socket_directories: layout.socketDirectory });
  const log = await open(layout.log, "a", 0o600);
  try {
    const child = spawnTrusted(
      binaries.postgres,
      ["-D", layout.data, ...settings.flatMap(([name, value]) => ["-c", `${name}=${value}`])],
      {
        cwd: "/",
        env: ENVIRONMENT,
        stdio: ["ignore", log.fd, log.fd],
        detached: true,
        ...asAccount(account),
      },
    );
    await new Promise((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    child.unref();
    return child;
  } finally {
    await log.close();
  }
}

const MAX_LOG_BYTES = 10 * MEGABYTE;

async function rotateLog(path: string): Promise<void> {
  const size = await stat(path).then(
    (file) => file.size,
    () => 0,
  );
  if (size > MAX_LOG_BYTES) await rename(path, `${path}.1`);
}

const LOG_TAIL_LINES = 8;

/** The last lines of the server's log; empty when there is none. */
export async function readLogTail(layout: Layout): Promise<string> {
  const text = await readFile(layout.log, "utf8").catch(() => "");
  return text.trim().split("\n").slice(-LOG_TAIL_LINES).join("\n");
}

/** A server that does not answer (a stopped process, a frozen disk) must not block the caller. */
const ASK_LIMITS = { connectionTimeoutMillis: 5000, query_timeout: 5000 };
const CREATE_LIMITS = { connectionTimeoutMillis: 10_000, query_timeout: 60_000 };

/** Whether the server accepts connections now, and uses this data directory. */
export async function answers(connection: SocketConnection, dataDirectory: string): Promise<boolean> {
  const client = new Client({ ...connection, database: "postgres", ...ASK_LIMITS });
  // A server that dies meanwhile also emits "error"; the promises below reject as well.
  client.on("error", () => undefined);
  try {
    await client.connect();
    const result = await client.query<{ data_directory: string }>("show data_directory");
    return result.rows[0]?.data_directory === dataDirectory;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

const READY_POLL_MILLISECONDS = 10;
/** Crash recovery of a large write-ahead log may take long; the server answers "starting up" meanwhile. */
const READY_MILLISECONDS = 120_000;

/** Polls until the server answers; false when `isAlive` is false, or after two minutes. */
export async function waitUntilReady(
  connection: SocketConnection,
  dataDirectory: string,
  isAlive: () => Promise<boolean>,
): Promise<boolean> {
  const deadline = readMonotonic() + READY_MILLISECONDS;
  while (readMonotonic() < deadline) {
    if (await answers(connection, dataDirectory)) return true;
    if (!(await isAlive())) return false;
    await delay(READY_POLL_MILLISECONDS);
  }
  return false;
}

/** Creates the platform's database unless it exists. Concurrent processes wait for each other. */
export async function createPlatformDatabase(connection: SocketConnection): Promise<void> {
  const client = new Client({ ...connection, database: "postgres", ...CREATE_LIMITS });
  client.on("error", () => undefined);
  await client.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [CREATE_DATABASE_LOCK]);
    const known = await client.query("select 1 from pg_database where datname = $1", [connection.database]);
    if (known.rows.length === 0)
      await client.query(`create database ${client.escapeIdentifier(connection.database)}`);
  } finally {
    // The lock is released with the connection.
    await client.end();
  }
}

const FAST_SHUTDOWN_MILLISECONDS = 30_000;
const IMMEDIATE_SHUTDOWN_MILLISECONDS = 10_000;

/**
 * Fast shutdown (https://www.postgresql.org/docs/18/server-shutdown.html), then immediate shutdown when that takes too long.
 * Both keep every commit.
 *
 * @throws EmbeddedPostgresError when the server does not stop
 */
export async function shutDown(pid: number, dataDirectory: string): Promise<void> {
  signal(pid, "SIGINT");
  if (await waitUntilGone(pid, dataDirectory, FAST_SHUTDOWN_MILLISECONDS, true)) return;
  signal(pid, "SIGQUIT");
  if (await waitUntilGone(pid, dataDirectory, IMMEDIATE_SHUTDOWN_MILLISECONDS, true)) return;
  throw new EmbeddedPostgresError(
    `PostgreSQL (process ${pid}) does not stop. Find out why before starting the platform again.`,
  );
}

/** How long the fast shutdown may take when nothing else can be waited for, then the immediate one. */
const EXIT_FAST_MILLISECONDS = 5_000;
const EXIT_IMMEDIATE_MILLISECONDS = 2_000;
const EXIT_KILL_MILLISECONDS = 1_000;

/**
 * Like `shutDown`, for the "exit" event of this process: blocks it, for eight seconds at most. Never throws. The last
 * resort is SIGKILL, which the server's other processes notice and follow; every commit is kept even then.
 */
export function shutDownSync(pid: number, dataDirectory: string): void {
  const steps = [
    ["SIGINT", EXIT_FAST_MILLISECONDS],
    ["SIGQUIT", EXIT_IMMEDIATE_MILLISECONDS],
    ["SIGKILL", EXIT_KILL_MILLISECONDS],
  ] as const;
  for (const [name, milliseconds] of steps) {
    try {
      signal(pid, name);
    } catch {
      return;
    }
    if (waitUntilGoneSync(pid, dataDirectory, milliseconds)) return;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (getCode(error) !== "ESRCH") throw error;
  }
}
