import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { appendFile, chown, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { getuid, kill } from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { provideBinaries } from "../../packages/platform/src/postgres/binaries.ts";
import { Overdue, within } from "./bounded-wait.ts";

const POLL_MS = 30;
const SECOND = 1_000;
/** Limits for what hangs, not for what is slow: a start may have to recover first. */
const START_WITHIN_MS = 120 * SECOND;
const KILL_WITHIN_MS = 30 * SECOND;
const CONNECT_WITHIN_MS = 60 * SECOND;
const STATEMENT_WITHIN_MS = 90 * SECOND;
const NAME = "platform";

/** A PostgreSQL that processes of the platform reach over TCP, and that can be killed, stopped and told a wrong time. */
export interface FaultyDatabase {
  readonly port: number;
  /** Starts it, and waits until it answers. */
  readonly start: () => Promise<void>;
  /** SIGKILL of the server and of all of its processes, as where a machine loses its power; what the kernel has is kept. */
  readonly kill: () => Promise<void>;
  /** Sends a signal to the server and all of its processes. */
  readonly signal: (signal: "SIGSTOP" | "SIGCONT") => Promise<void>;
  /** From now on all statements see a clock that is ahead by so many seconds. */
  readonly stepClock: (seconds: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Where it is started. */
export interface DatabaseOptions {
  /** Must be open to other users where this one is root. */
  readonly directory: string;
  readonly port: number;
  /** What runs before the program, such as to enter a network namespace, where not even root is ordinary. */
  readonly prefix: readonly string[];
  readonly listenAddresses: string;
}

/**
 * Statements see these functions before PostgreSQL's own; defaults of columns keep the latter, as with
 * packages/platform/src/testing/steered-clock.ts. In the schema that comes first also for new tables: a process that starts looks there for its own.
 */
const STEERED = [
  "create table steered_clock (ahead interval not null)",
  "insert into steered_clock values ('0')",
  `create function now() returns timestamptz stable language sql as
    $$ select pg_catalog.now() + ahead from public.steered_clock $$`,
  `create function clock_timestamp() returns timestamptz volatile language sql as
    $$ select pg_catalog.clock_timestamp() + ahead from public.steered_clock $$`,
  `alter role ${NAME} set search_path = public, pg_catalog`,
];

interface Server {
  readonly options: DatabaseOptions;
  readonly program: string;
  /** Root runs it as another user, as PostgreSQL wants. */
  readonly account: { readonly uid?: number; readonly gid?: number };
  process: ChildProcess | null;
}

/** Creates a cluster with a database `platform`, owned by a role `platform` without a password; it is not running yet. */
export async function createFaultyDatabase(options: DatabaseOptions): Promise<FaultyDatabase> {
  const { directory, port } = options;
  await mkdir(directory, { recursive: true });
  const account = getuid?.() === 0 ? { uid: idOf("-u"), gid: idOf("-g") } : {};
  const binaries = await provideBinaries(
    directory,
    account.uid === undefined ? null : { name: "nobody", ...account, uid: account.uid, gid: account.gid },
  );
  if (account.uid !== undefined) await chown(directory, account.uid, account.gid);
  execFileSync(
    binaries.initdb.path,
    ["-D", join(directory, "data"), "-U", NAME, "--auth=trust", "--no-sync"],
    { ...account, cwd: "/", stdio: "pipe" },
  );
  // It is reached by the processes of this campaign alone.
  await appendFile(join(directory, "data", "pg_hba.conf"), "host all all all trust\n");
  const server: Server = { options, program: binaries.postgres.path, account, process: null };
  let isSteered = false;
  return {
    port,
    start: () => start(server),
    kill: () => within("the end of PostgreSQL", KILL_WITHIN_MS, killAll(server)),
    signal: (signal) => signalAll(server, signal),
    stepClock: async (seconds) => {
      const statements = isSteered ? [] : STEERED;
      const step = [...statements, `update steered_clock set ahead = make_interval(secs => ${seconds})`];
      await within("PostgreSQL to step its clock", STATEMENT_WITHIN_MS, run(server, NAME, step));
      isSteered = true;
    },
    close: () => within("the end of PostgreSQL", KILL_WITHIN_MS, killAll(server)),
  };
}

function idOf(flag: "-u" | "-g"): number {
  return Number(execFileSync("id", [flag, "nobody"]).toString());
}

async function start(server: Server): Promise<void> {
  const deadline = performance.now() + START_WITHIN_MS;
  let log = launch(server);
  while (!(await isReady(server))) {
    if (performance.now() > deadline)
      throw new Overdue(`PostgreSQL did not answer within ${START_WITHIN_MS / SECOND} s:\n${log()}`);
    await delay(POLL_MS);
    // As where processes of the one that was killed still hold its memory.
    if (server.process?.exitCode !== null) log = launch(server);
  }
}

/** Returns what reads the end of its log. */
function launch(server: Server): () => string {
  const { directory, port, prefix, listenAddresses } = server.options;
  const settings = {
    listen_addresses: listenAddresses,
    port,
    unix_socket_directories: directory,
    max_connections: 200,
    // The machine does not lose its power in a campaign: what the kernel has is written.
    fsync: "off",
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const words = [...prefix, server.program, "-D", join(directory, "data"), ...flags];
  const account = prefix.length === 0 ? server.account : {};
  const child = spawn(words[0] ?? "", words.slice(1), {
    ...account,
    cwd: "/",
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log = (log + text).slice(-4_000)));
  server.process = child;
  return () => log;
}

async function isReady(server: Server): Promise<boolean> {
  try {
    const made = await run(server, "postgres", [`select 1 from pg_database where datname = '${NAME}'`]);
    if (made === 0) await run(server, "postgres", [`create database ${NAME}`]);
    return true;
  } catch {
    return false;
  }
}

/** Returns how many rows the last statement had. Over the socket in the file system, which no cut reaches. */
async function run(server: Server, database: string, statements: readonly string[]): Promise<number> {
  const { directory: host, port } = server.options;
  const client = new Client({ host, port, user: NAME, database, connectionTimeoutMillis: CONNECT_WITHIN_MS });
  client.on("error", () => undefined);
  try {
    await client.connect();
    let rows = 0;
    for (const text of statements) rows = (await client.query(text)).rowCount ?? 0;
    return rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function killAll(server: Server): Promise<void> {
  const { process: child } = server;
  if (child === null || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  await signalAll(server, "SIGKILL");
  await gone;
  // Processes of the server that have not been told yet hold its memory, in which no other may start.
  await delay(POLL_MS);
}

async function signalAll({ process: child }: Server, signal: NodeJS.Signals): Promise<void> {
  const pid = child?.pid;
  if (pid === undefined) return;
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  const pids = [pid, ...children.trim().split(" ").filter(Boolean).map(Number)];
  for (const each of pids) {
    try {
      kill(each, signal);
    } catch {
      // It may be gone since the list was read.
    }
  }
}
