import { Client, Pool } from "pg";
import type { PoolClient, PoolConfig } from "pg";
import { SECOND } from "@platform/engine/base/time";
import { ORDINARY, toSessionSettings } from "./limits.ts";
import type { Limits } from "./limits.ts";
import { createListener } from "./listen.ts";
import type { ChannelListener } from "./listen.ts";
import type { Logger } from "@platform/engine/base/logger";
import { isConnectionSpent, retryTransient } from "./retry.ts";
import type { RetryOptions } from "./retry.ts";
import type { SocketConnection } from "./server.ts";

/** One SQL statement. */
export interface Statement {
  /** Prepared once per connection under this name, which must always have the same text. Missing: not prepared. */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Has the same effect when it is executed twice, so it may be repeated when the answer was lost. Default: false. */
  readonly idempotent?: boolean;
  /**
   * The operations (their names in the audit log) whose change this is. It returns a row where it has changed something; the
   * request's entry is then written in the same transaction (store/audit/trail.ts).
   */
  readonly audited?: readonly string[];
}

/** Executes a statement and returns its rows. */
export type RunStatement = <Row extends object>(statement: Statement) => Promise<readonly Row[]>;

/**
 * A pool of connections to PostgreSQL. Statements wait for a server that restarts.
 *
 * @throws Problem UNAVAILABLE when that takes too long: nothing has changed; FateUnknown when it may have
 */
export interface Database {
  /** Executes one statement in a transaction of its own. */
  readonly query: RunStatement;
  /** Executes several in one transaction; a thrown error rolls it back. Repeated only when nothing can have been committed. */
  readonly transaction: <T>(work: (run: RunStatement) => Promise<T>) => Promise<T>;
  /** Listens on a channel, over one connection for all channels. Returns a function that stops it. */
  readonly listen: (channel: string, listener: ChannelListener) => () => void;
  /** Connections of the pool at this moment, and how many statements wait for one. */
  readonly countConnections: () => ConnectionCounts;
  /** For tests that need a connection of their own: no repetition. */
  readonly pool: Pool;
  /** Waits for running statements and closes all connections. */
  readonly close: () => Promise<void>;
}

/** Connections of a pool. */
interface ConnectionCounts {
  readonly busy: number;
  readonly idle: number;
  /** Statements that wait for a connection. */
  readonly waiting: number;
}

/** The embedded server's socket, or a DATABASE_URL. */
export type ConnectionTarget = SocketConnection | { readonly connectionString: string };

/** How a pool is set up. */
export interface DatabaseOptions {
  readonly logger: Logger;
  /** Default 8. */
  readonly maxConnections?: number;
  /** Server settings of every session, e.g. `enable_sort: "off"`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** For how long transient failures are retried; default 10,000. */
  readonly retryMilliseconds?: number;
  /** Default: ORDINARY. */
  readonly limits?: Limits;
}

const DEFAULT_CONNECTIONS = 8;
const DEFAULT_RETRY = 10 * SECOND;

/** Creates a pool, which connects when it is first used. */
export function createDatabase(target: ConnectionTarget, options: DatabaseOptions): Database {
  const limits = options.limits ?? ORDINARY;
  const config = describeConnections(target, options, limits);
  const pool = new Pool(config);
  breakOverdue(pool, limits.holdMs, options.logger);
  const noteBroken = (error: Error) => options.logger.debug({ err: error }, "a database connection broke");
  pool.on("error", noteBroken);
  // The pool handles errors of idle connections only; without this, one that breaks while in use would end the process.
  pool.on("connect", (client) => client.on("error", noteBroken));
  const listener = createListener(config, options.logger);
  const retryMilliseconds = options.retryMilliseconds ?? DEFAULT_RETRY;
  let closed: Promise<void> | null = null;
  return {
    query: (statement) =>
      retryTransient(describeRetry(statement, retryMilliseconds), (markSent) =>
        withClient(pool, markSent, (client) => runOn(client, statement)),
      ),
    transaction: (work) =>
      retryTransient({ retryMilliseconds, idempotent: false }, (markSent) =>
        withClient(pool, markSent, (client) => runTransaction(client, work)),
      ),
    listen: listener.listen,
    countConnections: () => ({
      busy: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    pool,
    close: () => (closed ??= listener.close().then(() => pool.end())),
  };
}

function describeRetry({ idempotent = false }: Statement, retryMilliseconds: number): RetryOptions {
  return { retryMilliseconds, idempotent };
}

function describeConnections(target: ConnectionTarget, options: DatabaseOptions, limits: Limits): PoolConfig {
  const settings = { timezone: "UTC", ...toSessionSettings(limits), ...options.settings };
  return {
    ...target,
    max: options.maxConnections ?? DEFAULT_CONNECTIONS,
    application_name: "platform",
    connectionTimeoutMillis: limits.connectMs,
    idleTimeoutMillis: 60 * SECOND,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10 * SECOND,
    allowExitOnIdle: false,
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(" "),
  };
}

/**
 * Breaks connections that are in use for too long. A running statement then fails like one whose connection broke: it is
 * unknown whether it was executed.
 */
function breakOverdue(pool: Pool, holdMs: number, logger: Logger): void {
  const timers = new WeakMap<PoolClient, NodeJS.Timeout>();
  const breakConnection = (client: PoolClient) => {
    logger.warn({ holdMs }, "the database did not answer in time; breaking the connection");
    // With a running statement this destroys the socket instead of closing the session.
    if (client instanceof Client) void client.end().catch(() => undefined);
  };
  pool.on("acquire", (client) => {
    const timer = setTimeout(() => {
      // After a pause of this process the answer may have arrived already: let the event loop read it first.
      setImmediate(() => {
        if (timers.get(client) === timer) breakConnection(client);
      });
    }, holdMs).unref();
    timers.set(client, timer);
  });
  pool.on("release", (_error, client) => {
    clearTimeout(timers.get(client));
    timers.delete(client);
  });
}

async function withClient<T>(
  pool: Pool,
  markSent: () => void,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  markSent();
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    client.release(isConnectionSpent(error));
    throw error;
  }
}

async function runOn<Row extends object>(client: PoolClient, statement: Statement): Promise<readonly Row[]> {
  const { name, text, values } = statement;
  const result = await client.query<Row>({
    text,
    ...(name === undefined ? {} : { name }),
    ...(values === undefined ? {} : { values: [...values] }),
  });
  // A text of several statements (migrations) returns a list of results.
  return Array.isArray(result) ? [] : result.rows;
}

async function runTransaction<T>(client: PoolClient, work: (run: RunStatement) => Promise<T>): Promise<T> {
  await client.query("begin");
  try {
    const result = await work((statement) => runOn(client, statement));
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
}
