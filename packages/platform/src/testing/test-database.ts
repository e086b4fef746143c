import { createHash, randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { TEST_TEMPLATE_LOCK } from "../postgres/locks.ts";
import { prepareDatabase } from "../store/prepare.ts";
import { createDatabase } from "../postgres/database.ts";
import { MAINTENANCE } from "../postgres/limits.ts";
import type { ConnectionTarget, Database, DatabaseOptions, Statement } from "../postgres/database.ts";
import type { Logger } from "@platform/engine/base/logger";
import type { SocketConnection } from "../postgres/server.ts";
import { startEmbeddedPostgres } from "../postgres/supervisor.ts";

/** Set by global-setup.ts: where the server of this test run lies. */
export const TEST_DIRECTORY_VARIABLE = "PLATFORM_TEST_POSTGRES";

/** Set by whoever wants to look into a test that failed: databases and folders stay (docs/development.md). */
export const KEEP_VARIABLE = "PLATFORM_TEST_KEEP";

/**
 * The socket directory of a server to test on instead, e.g. one of an older release: it has a superuser "platform", is
 * thrown away afterwards, and needs no password.
 */
const TEST_SOCKET_VARIABLE = "PLATFORM_TEST_SOCKET";

export interface RecordingLogger extends Logger {
  readonly entries: { readonly level: string; readonly message: string; readonly fields: object }[];
}

/** Keeps what was logged, so that tests can look at it and their output stays quiet. */
export function createRecordingLogger(): RecordingLogger {
  const entries: RecordingLogger["entries"] = [];
  const record = (level: string) => (fields: object, message: string) =>
    void entries.push({ level, message, fields });
  return {
    entries,
    debug: record("debug"),
    info: record("info"),
    warn: record("warn"),
    error: record("error"),
  };
}

export interface TestDatabase {
  readonly database: Database;
  readonly target: SocketConnection;
  readonly logger: RecordingLogger;
  /** Another pool on the same database, as another process would have; closed with this one. */
  readonly connect: (options?: Partial<DatabaseOptions>) => Database;
  /** Drops the database. */
  readonly close: () => Promise<void>;
}

/**
 * A database of its own with the current schema, on the one server of the test run (started by the first file that asks).
 * `isEmpty`: without the schema.
 */
export async function createTestDatabase(
  options: { readonly isEmpty?: boolean } = {},
): Promise<TestDatabase> {
  const logger = createRecordingLogger();
  const server = await joinServer(logger);
  // Those of maintenance: whoever comes second waits until the first file has made the template, which took longer than ordinary
  // statements may wait where the machine is busy.
  const admin = createDatabase(
    { ...server, database: "postgres" },
    { logger, maxConnections: 1, limits: MAINTENANCE },
  );
  const template = nameTemplate();
  const name = `test_${randomBytes(6).toString("hex")}`;
  if (options.isEmpty !== true) await provideTemplate(admin, server, logger, template);
  await admin.query({
    text: `create database ${name} ${options.isEmpty === true ? "" : `template ${template}`}`,
  });
  const target = { ...server, database: name };
  const open: Database[] = [];
  const connect = (more: Partial<DatabaseOptions> = {}) => {
    const database = createDatabase(target, { logger, ...more });
    open.push(database);
    return database;
  };
  return {
    database: connect(),
    target,
    logger,
    connect,
    close: async () => {
      await Promise.all(open.map((database) => database.close()));
      if (process.env[KEEP_VARIABLE] === undefined)
        await admin.query({ text: `drop database ${name} with (force)` });
      await admin.close();
    },
  };
}

function getDirectory(): string {
  const directory = process.env[TEST_DIRECTORY_VARIABLE];
  if (directory !== undefined) return directory;
  throw new Error(
    "Tests with a database need testing-global-setup.ts as globalSetup in the vitest configuration.",
  );
}

/** One template for each test run: a server that outlives the run must not serve yesterday's schema. */
function nameTemplate(): string {
  return `template_${createHash("sha256").update(getDirectory()).digest("hex").slice(0, 12)}`;
}

/** Never left again: the server stays until the test run's teardown, the last one to leave, stops it. */
async function joinServer(logger: Logger): Promise<SocketConnection> {
  const socket = process.env[TEST_SOCKET_VARIABLE];
  if (socket !== undefined) return { host: socket, port: 5432, user: "platform", database: "postgres" };
  const directory = getDirectory();
  await mkdir(directory, { recursive: true });
  const server = await startEmbeddedPostgres({ directory: join(directory, "postgres"), logger });
  return server.connection;
}

async function provideTemplate(
  admin: Database,
  server: SocketConnection,
  logger: Logger,
  template: string,
): Promise<void> {
  const client = await admin.pool.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [TEST_TEMPLATE_LOCK]);
    const known = await client.query("select 1 from pg_database where datname = $1", [template]);
    if (known.rows.length > 0) return;
    const unfinished = `${template}_unfinished`;
    await client.query(`drop database if exists ${unfinished}`);
    await client.query(`create database ${unfinished}`);
    await fillTemplate({ ...server, database: unfinished }, logger);
    await client.query(`alter database ${unfinished} rename to ${template}`);
  } finally {
    await client.query("select pg_advisory_unlock($1)", [TEST_TEMPLATE_LOCK]);
    client.release();
  }
}

async function fillTemplate(target: ConnectionTarget, logger: Logger): Promise<void> {
  const database = createDatabase(target, { logger, maxConnections: 1, limits: MAINTENANCE });
  try {
    await prepareDatabase(database, { logger, retentionDays: 30 });
  } finally {
    await database.close();
  }
}

/** The same database, whose host's clock shows `readStep()` more (an interval such as `1 hour`) in every statement. */
export function withClockStep(database: Database, readStep: () => string): Database {
  const shift = (statement: Statement): Statement => {
    const step = readStep();
    return {
      ...statement,
      ...(statement.name === undefined ? {} : { name: `${statement.name} ${step}` }),
      text: statement.text.replaceAll("now()", `(now() + interval '${step}')`),
    };
  };
  return {
    ...database,
    query: (statement) => database.query(shift(statement)),
    transaction: (work) => database.transaction((run) => work((statement) => run(shift(statement)))),
  };
}
