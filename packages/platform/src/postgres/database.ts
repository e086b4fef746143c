import { Client, Pool } from "pg";
import type { PoolClient, PoolConfig } from "pg";
import { SECOND } from "@platform/engine/base/time";
import { ORDINARY, toSessionSettings } from "./limits.ts";
import type { Limits } from "./limits.ts";
import { createListener } from "./listen.ts";
import type { ChannelListener } from "./listen.ts";
import type { Logger } from "../base/logger.ts";
import { isConnectionSpent, retryTransient } from "./retry.ts";
import type { RetryOptions } from "./retry.ts";
import type { SocketConnection } from "./server.ts";

/** One SQL statement. */
export interface Statement {
  /** Prepared once per connection under this name; one name, one text. */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Doing it twice is like doing it once: it may be repeated when the answer was lost. */
  readonly idempotent?: boolean;
}

export type RunStatement = <Row extends object>(statement: Statement) => Promise<readonly Row[]>;

/** The one way to PostgreSQL. Waits out a restart of the server; throws Problem UNAVAILABLE when that takes too long. */
export interface Database {
  /** Runs one statement in a transaction of its own and gives its rows. */
  readonly query: RunStatement;
  /** Runs several in one transaction; a thrown error rolls it back. Repeated only where surely nothing has happened. */
  readonly transaction: <T>(work: (run: RunStatement) => Promise<T>) => Promise<T>;
  /** Hears NOTIFY on a channel, over one shared connection; returns how to stop. */
  readonly listen: (channel: string, listener: ChannelListener) => () => void;
  /** For libraries that bring their own SQL. */
  readonly pool: Pool;
  readonly close: () => Promise<void>;
}

export type ConnectionTarget = SocketConnection | { readonly connectionString: string };

export interface DatabaseOptions {
  readonly logger: Logger;
  /** Shown in pg_stat_activity. */
  readonly applicationName?: string;
  readonly maxConnections?: number;
  /** Server settings of every session, e.g. `enable_sort: "off"`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** For how long transient failures are waited out, in milliseconds. */
  readonly retryMilliseconds?: number;
  /** Default: ORDINARY. */
  readonly limits?: Limits;
}

const DEFAULT_CONNECTIONS = 8;
const DEFAULT_RETRY = 10 * SECOND;

/** Opens a pool on the embedded server's socket or on a DATABASE_URL; connects when first used. */
export function createDatabase(target: ConnectionTarget, options: DatabaseOptions): Database {
  const limits = options.limits ?? ORDINARY;
  const config = describeConnections(target, options, limits);
  const pool = new Pool(config);
  breakOverdue(pool, limits.holdMs, options.logger);
  const noteBroken = (error: Error) => options.logger.debug({ err: error }, "a database connection broke");
  pool.on("error", noteBroken);
  // The pool listens to idle connections only; one that breaks while it is lent out would end the process.
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
    application_name: options.applicationName ?? "platform",
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
 * Breaks connections that stay lent out too long, whoever borrowed them. The statement under way then fails as one whose
 * connection broke, which is what callers know how to take: its fate is not known.
 */
function breakOverdue(pool: Pool, holdMs: number, logger: Logger): void {
  const timers = new WeakMap<PoolClient, NodeJS.Timeout>();
  const breakConnection = (client: PoolClient) => {
    logger.warn({ holdMs }, "the database did not answer in time; breaking the connection");
    // With a statement under way this destroys the socket instead of saying goodbye.
    if (client instanceof Client) void client.end().catch(() => undefined);
  };
  pool.on("acquire", (client) => {
    const timer = setTimeout(() => {
      // After a pause of this process the answer may have arrived already; it is read before the verdict.
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
  // Several statements in one text (migrations) give a list of results.
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
