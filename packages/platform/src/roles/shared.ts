import { join } from "node:path";
import { createExecutions } from "@platform/engine/executions/executions";
import type { Executions } from "@platform/engine/executions/executions";
import { createStreamRoom } from "@platform/engine/executions/stream-room";
import { removeTree } from "@platform/engine/files/remove-tree";
import type { InputSource } from "@platform/engine/store/execution-store";
import { createIdentity } from "../accounts/identity.ts";
import type { Identity } from "../accounts/identity.ts";
import { createMailer } from "../accounts/mailer.ts";
import { readSpace } from "../base/files.ts";
import { watchDisk } from "../disk/disk-guard.ts";
import type { DiskGuard } from "../disk/disk-guard.ts";
import { guardBuilds, guardExecutions } from "../disk/guarded-stores.ts";
import { limitResults } from "../disk/result-quota.ts";
import { createReserve } from "../disk/reserve.ts";
import { createFeed } from "../feed/feed.ts";
import type { FeedAnswers } from "../feed/answer-feed.ts";
import { openDataDirectory, readSecret } from "../host/data-directory.ts";
import type { DataDirectory } from "../host/data-directory.ts";
import { createReadiness } from "../host/readiness.ts";
import type { Readiness } from "../host/readiness.ts";
import { createKeptObjects } from "../objects/kept-objects.ts";
import type { ObjectStore, Objects } from "../objects/object-store.ts";
import { createObjectResults } from "../objects/object-results.ts";
import type { ResultStore } from "@platform/engine/content/result-store";
import { createJsonCheck } from "@platform/engine/json-check/json-check";
import type { JsonCheck } from "@platform/engine/json-check/json-check";
import { sumOutputs } from "../store/executions/output-bytes.ts";
import { createPinnedFileLimits } from "../metering/pinned-file-limits.ts";
import { createDataPools } from "../pools/data-pools.ts";
import { persistResults } from "../pools/persist-results.ts";
import { createResultTargets } from "../pools/result-targets.ts";
import type { HistoryStore } from "../store/history/history.ts";
import type { PostgresExecutionStore } from "../store/executions/execution-store.ts";
import type { Database } from "../postgres/database.ts";
import { createObjectRows } from "../store/objects/object-rows.ts";
import { createStores } from "../store/stores.ts";
import type { PlatformSecret } from "../secrets/key-ring.ts";
import type { Stores } from "../store/stores.ts";
import { createStartWebhooks } from "../webhooks/webhooks.ts";
import { createVersionFiles } from "../versions/version-files.ts";
import type { VersionFiles } from "../versions/version-files.ts";
import { openDatabases } from "./databases.ts";
import type { Databases } from "./databases.ts";
import type { HostProcess } from "./host-process.ts";
import { openObjectStore } from "./object-store.ts";
import type { OpenedStore } from "./object-store.ts";

/** What the roles of one process share. */
export interface Shared extends HostProcess {
  readonly data: DataDirectory;
  readonly disk: DiskGuard;
  /** The platform's secret: keys for encryption at rest are derived from it. */
  readonly secret: PlatformSecret;
  /** For statements that may take long. */
  readonly maintenance: Databases["maintenance"];
  readonly pools: Databases["pools"];
  readonly cancellations: Databases["cancellations"];
  readonly stores: Stores;
  readonly executionStore: PostgresExecutionStore;
  readonly history: HistoryStore;
  /** Input by reference. */
  readonly inputs: InputSource;
  readonly executions: Executions;
  readonly feeds: FeedAnswers;
  readonly identity: Identity;
  readonly objects: Objects;
  /** Where they are stored; for housekeeping. */
  readonly objectStore: ObjectStore;
  /** Results that are too large for rows. */
  readonly results: ResultStore;
  /** What is wrong with the store of objects; null: nothing. */
  readonly explainObjects: OpenedStore["explain"];
  readonly jsonCheck: JsonCheck;
  readonly files: VersionFiles;
  readonly readiness: Readiness;
}

/** Opens the data directory. @throws StartError */
export async function openData({ config, logger, closers }: HostProcess): Promise<DataDirectory> {
  const data = await openDataDirectory(config.dataDirectory, logger);
  closers.add("run directory", () => removeTree(data.run));
  return data;
}

/** Opens databases, which applies new migrations, and stores. @throws StartError, EmbeddedPostgresError, Problem UNAVAILABLE */
export async function createShared(host: HostProcess, data: DataDirectory): Promise<Shared> {
  const { config, logger, closers, stop } = host;
  const disk = await startDiskGuard(host, data);
  const others = config.otherSecret === null ? [] : [config.otherSecret];
  const secret = { current: await readSecret(data.root, config.secret), others };
  const { database, executionStore: unguarded, ...databases } = await openDatabases(host, data);
  const { leaseSeconds, resultQuotaBytes: quotaBytes } = config;
  const stores = createStores(database, {
    quota: config.buildQuota,
    poolBytes: config.poolBytes,
    leaseSeconds,
    noteCancelled: databases.cancellations.note,
  });
  const { store: objectStore, explain: explainObjects } = await openObjectStore(host, data, disk);
  const objects = createKeptObjects(objectStore, createObjectRows(database, config.retentionDays));
  const limited = limitResults(unguarded, { sumBytes: (id) => sumOutputs(database, id), quotaBytes });
  const executionStore = persistResults(guardExecutions(limited, disk), { objects, logger });
  const jsonCheck = createJsonCheck();
  closers.add("check of JSON", jsonCheck.close);
  const results = createObjectResults({ objects, isHeldUp: disk.isLow });
  const inputs = createDataPools({
    references: stores.references,
    objects,
    jsonCheck,
    directory: join(data.run, "looked-at"),
    maxBytes: config.maxReferenceBytes,
    poolLimits: config.poolLimits,
    fileLimits: createPinnedFileLimits(stores.rateBuckets, config.startsPerSecond),
  });
  const given = { stores, secret, store: executionStore, inputs, results };
  return {
    ...host,
    ...databases,
    data,
    disk,
    secret,
    stores: { ...stores, builds: guardBuilds(stores.builds, disk) },
    executionStore,
    feeds: createSharedFeeds(host, databases.feedStore, unguarded),
    inputs,
    executions: createSharedExecutions(host, given),
    results,
    jsonCheck,
    identity: createSharedIdentity(host, database),
    objects,
    objectStore,
    explainObjects,
    files: createVersionFiles({ directory: data.versions, objects }),
    readiness: createReadiness({
      database,
      disk,
      explainObjects,
      roles: config.roles,
      stopping: stop.stopping,
    }),
  };
}

function createSharedFeeds(
  { logger, closers }: HostProcess,
  store: Databases["feedStore"],
  executions: PostgresExecutionStore,
): FeedAnswers {
  const feed = createFeed({ store, executions, logger });
  closers.add("feed", feed.close);
  return { feed, room: createStreamRoom() };
}

/** Mails that are being sent are waited for. */
function createSharedIdentity({ config, logger, closers }: HostProcess, database: Database): Identity {
  const mailer = createMailer(config.mail, logger);
  closers.add("mailer", mailer.close);
  const { signUpMode, oidc, apiUrl } = config;
  return createIdentity({ database, signUpMode, oidc, mailer, apiUrl });
}

/** The reserve is only for the embedded database. */
async function startDiskGuard(
  { config, logger, closers }: HostProcess,
  data: DataDirectory,
): Promise<DiskGuard> {
  const { total } = await readSpace(data.root);
  const disk = await watchDisk({
    directory: data.root,
    floorBytes: config.minFreeDiskBytes,
    reserve: config.databaseUrl === null ? createReserve(data.root, total) : null,
    logger,
  });
  closers.add("disk guard", disk.close);
  return disk;
}

function createSharedExecutions(
  { config, logger, tracer }: HostProcess,
  {
    stores,
    secret,
    ...parts
  }: {
    readonly stores: Pick<Stores, "webhooks" | "resultFiles">;
    readonly secret: PlatformSecret;
    readonly store: PostgresExecutionStore;
    readonly inputs: InputSource;
    readonly results: ResultStore;
  },
): Executions {
  return createExecutions({
    ...parts,
    webhooks: createStartWebhooks(stores.webhooks, secret),
    targets: createResultTargets(stores.resultFiles),
    ...(tracer === undefined ? {} : { tracer }),
    retentionDays: {
      result: config.retentionDays,
      log: config.logRetentionDays,
      most: config.maxRetentionDays,
    },
    queueLimits: config.queueLimits,
    allowsHigh: (organisationId) => config.highPriorityOrganisations.has(organisationId),
    onUndecided: (versionId) =>
      logger.warn({ versionId }, "an input takes too long to check at the start; the run checks it"),
  });
}
