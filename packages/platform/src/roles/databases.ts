import process from "node:process";
import type { DataDirectory } from "../host/data-directory.ts";
import { createDatabase } from "../postgres/database.ts";
import type { ConnectionTarget, Database } from "../postgres/database.ts";
import { startEmbeddedPostgres } from "../postgres/supervisor.ts";
import { createHistoryDatabase, createHistoryStore } from "../store/history/history.ts";
import type { HistoryStore } from "../store/history/history.ts";
import {
  createExecutionDatabase,
  createLargeDatabase,
  createPostgresExecutionStore,
  createVitalDatabase,
} from "../store/executions/execution-store.ts";
import type { NoteCancelled } from "../store/executions/cancel-many.ts";
import type { PostgresExecutionStore } from "../store/executions/execution-store.ts";
import { createFeedStore } from "../store/feed/feed.ts";
import type { FeedStore } from "../store/feed/feed.ts";
import { createMaintenanceDatabase, prepareDatabase } from "../store/prepare.ts";
import type { HostProcess } from "./host-process.ts";

/** The databases of a process. */
export interface Databases {
  /** For ordinary statements. */
  readonly database: Database;
  /** For statements that may take long: migrations, partitions, statistics. */
  readonly maintenance: Database;
  /** All of this process, by what they are for. */
  readonly pools: ReadonlyMap<string, Pick<Database, "countConnections">>;
  /** On connections of its own, so that nothing else keeps leases from being renewed. */
  readonly executionStore: PostgresExecutionStore;
  /** On connections of its own, so that long lists keep nothing else waiting. */
  readonly history: HistoryStore;
  readonly feedStore: FeedStore;
  /** Told by all stores of this process. */
  readonly cancellations: Cancellations;
}

/** Cancellations of many, which come without records. */
interface Cancellations {
  readonly note: NoteCancelled;
  /** From now on; one listener. */
  readonly listen: (listener: NoteCancelled) => void;
}

function createCancellations(): Cancellations {
  let told: NoteCancelled | null = null;
  return { note: (ended) => told?.(ended), listen: (listener) => void (told = listener) };
}

/** Starts the embedded PostgreSQL unless DATABASE_URL is set, connects, and applies new migrations. */
export async function openDatabases(host: HostProcess, data: DataDirectory): Promise<Databases> {
  const { config, logger, closers } = host;
  const target = await findServer(host, data);
  const pools = new Map<string, Database>();
  const open = (name: string, create: typeof createDatabase): Database => {
    const database = create(target, { logger });
    pools.set(name, database);
    closers.add(`${name} database`, database.close);
    return database;
  };
  const database = open("ordinary", createDatabase);
  const maintenance = open("maintenance", createMaintenanceDatabase);
  await prepareDatabase(maintenance, { logger, retentionDays: config.retentionDays });
  const execution = open("execution", createExecutionDatabase);
  const cancellations = createCancellations();
  const executionStore = createPostgresExecutionStore({
    database: execution,
    vital: open("vital", createVitalDatabase),
    large: open("large", createLargeDatabase),
    leaseSeconds: config.leaseSeconds,
    poolBytes: config.poolBytes,
    noteCancelled: cancellations.note,
  });
  closers.add("execution store", executionStore.close);
  const history = createHistoryStore(open("history", createHistoryDatabase), cancellations.note);
  const feedStore = createFeedStore(execution);
  return { database, maintenance, executionStore, feedStore, pools, history, cancellations };
}

async function findServer(host: HostProcess, data: DataDirectory): Promise<ConnectionTarget> {
  const { config, logger, closers, stop, fail } = host;
  if (config.databaseUrl !== null) return { connectionString: config.databaseUrl };
  const postgres = await startEmbeddedPostgres({
    directory: data.postgres,
    user: config.postgresUser ?? undefined,
    logger,
    signal: stop.stopping,
    atExit: (stopNow) => void process.once("exit", stopNow),
  });
  closers.add("PostgreSQL", postgres.stop);
  postgres.onExit(fail);
  return postgres.connection;
}
