import { randomUUID } from "node:crypto";
import process from "node:process";
import type { FastifyInstance } from "fastify";
import { createDispatcher } from "@platform/engine/worker/dispatcher";
import { createExecutions } from "@platform/engine/executions/executions";
import type { Executions } from "@platform/engine/executions/executions";
import { removeTree } from "@platform/engine/files/remove-tree";
import { createHttpServer } from "@platform/engine/http/server";
import { createPythonRuntime } from "@platform/engine/python/python-runtime";
import { startSweeper } from "@platform/engine/queue/sweeper";
import { pino } from "pino";
import type { Logger } from "pino";
import { createBuilder } from "./builder/builder.ts";
import { createVersionFiles } from "./versions/version-files.ts";
import type { VersionFiles } from "./versions/version-files.ts";
import { createVersionSource } from "./versions/version-source.ts";
import { describeSettings, isHelpWanted, readConfig } from "./config/config.ts";
import type { Config } from "./config/config.ts";
import { registerControl } from "./api/platform-api.ts";
import { openDataDirectory, readSecret } from "./host/data-directory.ts";
import type { DataDirectory } from "./host/data-directory.ts";
import { watchDisk } from "./disk/disk-guard.ts";
import type { DiskGuard } from "./disk/disk-guard.ts";
import { readSpace } from "./base/free-space.ts";
import { guardBuilds, guardExecutions } from "./disk/guarded-stores.ts";
import { createReserve } from "./disk/reserve.ts";
import { registerGateway } from "./gateway/gateway.ts";
import { createClosers } from "./host/closers.ts";
import type { Closers } from "./host/closers.ts";
import { createReadiness } from "./host/readiness.ts";
import type { Readiness } from "./host/readiness.ts";
import { checkAddresses, explainListening } from "./host/listen.ts";
import type { Address } from "./host/listen.ts";
import { describeStartError } from "./host/start-error.ts";
import { createStop } from "./host/stop.ts";
import type { Stop } from "./host/stop.ts";
import { startHousekeeping } from "./housekeeping/housekeeping.ts";
import { provideFirstLogin } from "./accounts/first-login.ts";
import { createIdentity } from "./accounts/identity.ts";
import type { Identity } from "./accounts/identity.ts";
import { rotateSigningKey } from "./access/signing-keys.ts";
import { createObjectStore } from "./objects/object-store.ts";
import type { ObjectStore } from "./objects/object-store.ts";
import { createDatabase } from "./postgres/database.ts";
import type { ConnectionTarget, Database } from "./postgres/database.ts";
import { startEmbeddedPostgres } from "./postgres/supervisor.ts";
import {
  createExecutionDatabase,
  createLargeDatabase,
  createPostgresExecutionStore,
  createVitalDatabase,
} from "./store/executions/execution-store.ts";
import type { PostgresExecutionStore } from "./store/executions/execution-store.ts";
import { createMaintenanceDatabase, prepareDatabase } from "./store/prepare.ts";
import { createStores } from "./store/stores.ts";
import type { Stores } from "./store/stores.ts";
import { createLeaseWatchdog } from "./host/lease-watchdog.ts";
import { createNoDataPools } from "./pools/no-data-pools.ts";
import { findPythonTools } from "./roles/python-tools.ts";

/** A client that is slow to send its request must not hold a stop up for as long as it may send. */
const LAST_ANSWERS_WITHIN_MS = 10_000;

/** Everything that the roles of this process share. */
interface Shared {
  readonly config: Config;
  readonly logger: Logger;
  readonly closers: Closers;
  readonly stop: Stop;
  readonly data: DataDirectory;
  readonly secret: string;
  readonly database: Database;
  /** For statements that may take long: migrations, partitions, statistics. */
  readonly maintenance: Database;
  readonly stores: Stores;
  readonly executionStore: PostgresExecutionStore;
  readonly executions: Executions;
  readonly identity: Identity;
  readonly disk: DiskGuard;
  readonly objects: ObjectStore;
  readonly files: VersionFiles;
  readonly readiness: Readiness;
}

async function main(): Promise<void> {
  if (isHelpWanted()) return void process.stdout.write(describeSettings());
  const config = readConfig();
  const logger = createLogger(config);
  const closers = createClosers(logger);
  let starting: Promise<unknown> = Promise.resolve();
  const stop = createStop({
    // What is being started must be there before it can be closed.
    close: () => starting.then(closers.closeAll),
    exit: (code) => process.exit(code),
    onPhase: (phase, signal) =>
      logger.info({ signal }, phase === "draining" ? "stopping" : "ending what still runs"),
  });
  stopOnSignals(stop, logger);
  const started = start(config, logger, closers, stop);
  starting = started.catch(() => undefined);
  try {
    await started;
  } catch (error) {
    await closers.closeAll();
    if (!stop.stopping.aborted) throw error;
  }
}

/** One JSON line an entry on stderr. A reader that went away (a closed terminal or pipe) must not end the platform. */
function createLogger(config: Config): Logger {
  const destination = pino.destination({ dest: 2, sync: true });
  destination.on("error", () => undefined);
  return pino({ level: config.logLevel, base: null }, destination);
}

async function start(config: Config, logger: Logger, closers: Closers, stop: Stop): Promise<void> {
  const began = performance.now();
  const shared = await createShared(config, logger, closers, stop);
  if (config.command === "rotate-signing-key") {
    const retired = await rotateSigningKey(shared.stores.signingKeys, shared.secret);
    logger.info(
      { retired },
      "a new signing key is in use; access tokens signed by the retired ones are refused",
    );
    return closers.closeAll();
  }
  if (config.bootstrapFile !== null) {
    const { apiUrl, gatewayUrl, bootstrapFile: file } = config;
    await provideFirstLogin({ ...shared, database: shared.maintenance, file, urls: { apiUrl, gatewayUrl } });
  }
  const gateway = await createServer(shared);
  const api = await createServer(shared);
  if (config.roles.has("gateway"))
    await registerGateway(gateway, { ...shared.stores, ...shared, gatewayUrl: config.gatewayUrl });
  if (config.roles.has("control")) {
    await registerControl(api, {
      ...shared.stores,
      ...shared,
      gatewayUrl: config.gatewayUrl,
    });
  }
  if (config.roles.has("worker") || config.roles.has("builder")) await startPython(shared);
  closers.add(
    "housekeeping",
    startHousekeeping({ ...shared, database: shared.maintenance, retentionDays: config.retentionDays }),
  );
  for (const [server, address] of [
    [gateway, addressOf(config, "gateway")],
    [api, addressOf(config, "api")],
  ] as const)
    await explainListening(address, () => server.listen({ host: address.host, port: address.port }));
  logger.info(
    {
      roles: [...config.roles],
      gateway: config.gatewayUrl,
      api: config.apiUrl,
      milliseconds: Math.round(performance.now() - began),
    },
    "the platform is ready",
  );
}

function addressOf({ host, gatewayPort, apiPort }: Config, server: "gateway" | "api"): Address {
  return server === "gateway"
    ? { host, port: gatewayPort, flag: "--gateway-port" }
    : { host, port: apiPort, flag: "--api-port" };
}

async function createShared(config: Config, logger: Logger, closers: Closers, stop: Stop): Promise<Shared> {
  if (config.command === "serve")
    await checkAddresses([addressOf(config, "gateway"), addressOf(config, "api")]);
  const data = await openDataDirectory(config.dataDirectory, logger);
  closers.add("run directory", () => removeTree(data.run));
  const disk = await startDiskGuard(config, data, logger);
  closers.add("disk guard", disk.close);
  const secret = await readSecret(data.root, config.secret);
  const target = await connect(config, data, logger, closers, stop);
  const database = createDatabase(target, { logger });
  closers.add("database", database.close);
  const maintenance = createMaintenanceDatabase(target, { logger });
  closers.add("maintenance database", maintenance.close);
  await prepareDatabase(maintenance, { logger, retentionDays: config.retentionDays });
  const executionDatabase = createExecutionDatabase(target, { logger });
  closers.add("execution database", executionDatabase.close);
  const vital = createVitalDatabase(target, { logger });
  closers.add("vital database", vital.close);
  const large = createLargeDatabase(target, { logger });
  closers.add("database for large results", large.close);
  const executionStore = guardExecutions(
    createPostgresExecutionStore({
      database: executionDatabase,
      vital,
      large,
      leaseSeconds: config.leaseSeconds,
    }),
    disk,
  );
  closers.add("execution store", executionStore.close);
  const sweeper = startSweeper({ store: executionStore, leaseSeconds: config.leaseSeconds, logger });
  closers.add("sweeper", sweeper.close);
  const executions = createExecutions({
    store: executionStore,
    inputs: createNoDataPools(),
    retentionDays: config.retentionDays,
    queueLimits: config.queueLimits,
    onUndecided: (versionId) =>
      logger.warn({ versionId }, "checking an input takes too long at the start; it is left to the run"),
  });
  const objects = createObjectStore(data.objects);
  const stores = createStores(database, config.buildQuota);
  return {
    config,
    logger,
    closers,
    stop,
    data,
    secret,
    database,
    maintenance,
    executionStore,
    executions,
    disk,
    objects,
    stores: { ...stores, builds: guardBuilds(stores.builds, disk) },
    identity: createIdentity({ pool: database.pool, secret, baseUrl: config.apiUrl, logger }),
    files: createVersionFiles({ directory: data.versions, objects }),
    readiness: createReadiness({ database, disk, roles: config.roles, stopping: stop.stopping }),
  };
}

/** The reserve is for a database of our own. */
async function startDiskGuard(config: Config, { root }: DataDirectory, logger: Logger): Promise<DiskGuard> {
  const { total } = await readSpace(root);
  return watchDisk({
    directory: root,
    floorBytes: config.minFreeDiskBytes,
    reserve: config.databaseUrl === null ? createReserve(root, total) : null,
    logger,
  });
}

async function connect(
  config: Config,
  data: DataDirectory,
  logger: Logger,
  closers: Closers,
  stop: Stop,
): Promise<ConnectionTarget> {
  if (config.databaseUrl !== null) return { connectionString: config.databaseUrl };
  const postgres = await startEmbeddedPostgres({
    directory: data.postgres,
    user: config.postgresUser ?? undefined,
    logger,
    signal: stop.stopping,
    atExit: (stopNow) => void process.once("exit", stopNow),
  });
  closers.add("PostgreSQL", postgres.stop);
  postgres.onExit((error) => fail(stop, logger, error));
  return postgres.connection;
}

/** Both ports answer whether the process lives and is ready, whatever its roles. */
async function createServer({ logger, executions, closers, readiness }: Shared): Promise<FastifyInstance> {
  const app = createHttpServer({ logger, findFaults: readiness.findFaults });
  closers.add("HTTP server", async () => {
    executions.close();
    const late = setTimeout(() => app.server.closeAllConnections(), LAST_ANSWERS_WITHIN_MS);
    await app.close().finally(() => clearTimeout(late));
  });
  return app;
}

/** The roles that run user code share one Python runtime. */
async function startPython({
  config,
  logger,
  closers,
  stop,
  data,
  disk,
  stores,
  executionStore,
  files,
  readiness,
}: Shared): Promise<void> {
  const { environments, ...tools } = await findPythonTools(config, data);
  const runtime = createPythonRuntime({ runDirectory: data.run, ...tools, logger });
  closers.add("Python", runtime.close);
  closers.add("environments", environments.close);
  const { leaseSeconds, capacity } = config;
  const workerId = randomUUID();
  if (config.roles.has("worker")) {
    const watchdog = createLeaseWatchdog(leaseSeconds);
    closers.add("watchdog", watchdog.close);
    const versions = createVersionSource({ versions: stores.versions, files, environments });
    const dispatcher = createDispatcher({
      store: executionStore,
      versions,
      runtime,
      workerId,
      capacity,
      leaseSeconds,
      isHeldUp: disk.isLow,
      logger,
      inputs: createNoDataPools(),
      onDeadline: watchdog.setDeadline,
    });
    closers.add("worker", () => dispatcher.drain(config.drainSeconds, stop.killing));
    readiness.watchWorker(dispatcher.findFault);
    dispatcher.start();
  }
  if (config.roles.has("builder")) {
    const builder = createBuilder(
      { ...stores, files, environments, runtime, workers: executionStore, workerId, logger },
      { leaseSeconds },
    );
    closers.add("builder", builder.close);
  }
}

/** A closed terminal (SIGHUP) is a wish to stop as well: by default it would end this process and leave PostgreSQL. */
function stopOnSignals(stop: Stop, logger: Logger): void {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, stop.ask);
  process.on("uncaughtException", (error) => fail(stop, logger, error));
  process.on("unhandledRejection", (error) => fail(stop, logger, error));
}

function fail(stop: Stop, logger: Logger, error: unknown): void {
  logger.fatal({ err: error }, "the platform cannot go on");
  stop.fail();
}

main().catch((error: unknown) => {
  process.stderr.write(`${describeStartError(error)}\n`);
  process.exit(1);
});
