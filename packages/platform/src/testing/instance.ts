import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import pino from "pino";
import { createExecutions } from "@platform/engine/executions/executions";
import type { Executions } from "@platform/engine/executions/executions";
import { createJsonCheck } from "@platform/engine/json-check/json-check";
import { createHttpServer } from "@platform/engine/http/server";
import { createMemoryStore } from "@platform/engine/store/memory-store";
import type { ExecutionStore, InputSource } from "@platform/engine/store/execution-store";
import { registerPlatformApi } from "../api/platform-api.ts";
import { registerQuantumApi } from "../quantum/quantum-api.ts";
import type { UploadLimits } from "../api/upload-gate.ts";
import { registerGateway } from "../gateway/gateway.ts";
import { createExecutionTokens } from "../access/execution-tokens.ts";
import { createIdentity } from "../accounts/identity.ts";
import type { Identity } from "../accounts/identity.ts";
import type { Mailer } from "../accounts/mailer.ts";
import type { OidcSettings, SignUpMode } from "../config/accounts.ts";
import { createStreamRoom } from "@platform/engine/executions/stream-room";
import type { StreamRoom } from "@platform/engine/executions/stream-room";
import { createFeed } from "../feed/feed.ts";
import { createFeedStore } from "../store/feed/feed.ts";
import { createKeptObjects } from "../objects/kept-objects.ts";
import { createLocalObjects } from "../objects/local-objects.ts";
import type { ObjectStore, Objects } from "../objects/object-store.ts";
import type { Database } from "../postgres/database.ts";
import type { BuildQuota } from "../store/builds/build-quota.ts";
import { createPinnedFileLimits } from "../metering/pinned-file-limits.ts";
import { createDataPools } from "../pools/data-pools.ts";
import { PARTS } from "../pools/part-files.ts";
import type { PartPace } from "../pools/part-pace.ts";
import { createResultTargets } from "../pools/result-targets.ts";
import { createObjectRows } from "../store/objects/object-rows.ts";
import { createHistoryStore } from "../store/history/history.ts";
import { createStores } from "../store/stores.ts";
import type { Stores } from "../store/stores.ts";
import { createStartWebhooks } from "../webhooks/webhooks.ts";
import { createRecordingLogger } from "./test-database.ts";

export const TEST_GATEWAY_URL = "http://gateway.test:8080";
export const TEST_API_URL = "http://api.test:8090";
export const TEST_SECRET = { current: "a secret for tests, the same in every instance", others: [] };

const TEST_SETTINGS = [
  {
    name: "sign-up",
    variable: "PLATFORM_SIGN_UP",
    value: "invitation",
    source: "default",
    secret: false,
    help: "Who can create an account",
  },
] as const;

/** Of the data pools that an execution of an instance reads as folders. */
export const TEST_POOL_LIMITS = { files: 4, bytes: 1_000 };
/** Size of the largest file of a data pool, and what an organisation may store in its pools. */
export const MAX_TEST_FILE = 100_000;
export const TEST_POOL_BYTES = 300_000;

/** One process's worth of gateway and platform API on a database: two of them on one database are two hosts. */
export interface TestInstance {
  readonly gateway: FastifyInstance;
  readonly api: FastifyInstance;
  readonly database: Database;
  readonly identity: Identity;
  readonly stores: Stores;
  readonly executions: Executions;
  readonly inputs: InputSource;
  readonly objects: Objects;
  readonly close: () => Promise<void>;
}

export interface TestInstanceOptions {
  readonly database: Database;
  readonly executionStore?: ExecutionStore;
  /** Of readers of the feeds. */
  readonly room?: StreamRoom;
  readonly maxArchiveBytes?: number;
  readonly uploadLimits?: UploadLimits;
  readonly uploadPace?: PartPace;
  readonly parts?: Parameters<typeof registerPlatformApi>[1]["parts"];
  /** What stands between the platform and its store of objects. */
  readonly wrapStore?: (store: ObjectStore) => ObjectStore;
  readonly isDiskLow?: () => boolean;
  /** Whether the store of objects is known to be away. */
  readonly isStoreAway?: () => boolean;
  readonly quota?: BuildQuota;
  /** Clock of what is remembered of users; one that stands still forgets nothing by itself. */
  readonly elapsed?: () => number;
  readonly signUpMode?: SignUpMode;
  readonly mailer?: Mailer;
  readonly oidc?: OidcSettings;
  /** Starts of one application; default 1000. */
  readonly startsPerSecond?: number;
  /** Changes of one user through the platform API; default: more than a test makes. */
  readonly writesPerSecond?: number;
  readonly highPriorityOrganisations?: ReadonlySet<string>;
  /** Data directory; otherwise one that goes with the instance. */
  readonly directory?: string;
}

export async function createTestInstance(options: TestInstanceOptions): Promise<TestInstance> {
  const { database } = options;
  const own = options.directory === undefined ? await mkdtemp(join(tmpdir(), "platform-instance-")) : null;
  const directory = options.directory ?? own ?? "";
  const logger = createRecordingLogger();
  const stores = createStores(database, { quota: options.quota, poolBytes: TEST_POOL_BYTES });
  const { elapsed, signUpMode, mailer, oidc } = options;
  const identity = createIdentity({
    database,
    apiUrl: TEST_API_URL,
    ...(elapsed === undefined ? {} : { elapsed }),
    ...(signUpMode === undefined ? {} : { signUpMode }),
    ...(mailer === undefined ? {} : { mailer }),
    ...(oidc === undefined ? {} : { oidc }),
  });
  const objects = createKeptObjects(
    (options.wrapStore ?? ((store) => store))(createLocalObjects(join(directory, "objects"))),
    createObjectRows(database, 30),
  );
  const jsonCheck = createJsonCheck();
  const inputs = createDataPools({
    ...stores,
    objects,
    jsonCheck,
    directory: join(directory, "looked-at"),
    maxBytes: MAX_TEST_FILE - 1,
    poolLimits: TEST_POOL_LIMITS,
    fileLimits: createPinnedFileLimits(stores.rateBuckets, options.startsPerSecond ?? 1_000),
  });
  const store = options.executionStore ?? createMemoryStore();
  const { highPriorityOrganisations = new Set() } = options;
  const executions = createExecutions({
    store,
    inputs,
    targets: createResultTargets(stores.resultFiles),
    webhooks: createStartWebhooks(stores.webhooks, TEST_SECRET),
    allowsHigh: (organisationId) => highPriorityOrganisations.has(organisationId),
  });
  const feed = createFeed({
    store: createFeedStore(database),
    executions: store,
    logger,
  });
  const feeds = { feed, room: options.room ?? createStreamRoom() };
  const gateway = createServer();
  await registerGateway(gateway, {
    ...stores,
    executions,
    feeds,
    logger,
    secret: TEST_SECRET,
    gatewayUrl: TEST_GATEWAY_URL,
    startsPerSecond: options.startsPerSecond ?? 1_000,
  });
  const api = createServer();
  const { maxArchiveBytes, uploadLimits, uploadPace, parts } = options;
  const history = createHistoryStore(database);
  const shared = await registerPlatformApi(api, {
    ...stores,
    identity,
    executions,
    history,
    feeds,
    objects,
    partsDirectory: join(directory, "objects", PARTS),
    secret: TEST_SECRET,
    disk: { isLow: () => options.isDiskLow?.() ?? false },
    explainObjects: () =>
      options.isStoreAway?.() === true ? { code: "OBJECTS_UNAVAILABLE", detail: "It is away." } : null,
    gatewayUrl: TEST_GATEWAY_URL,
    apiUrl: TEST_API_URL,
    writesPerSecond: options.writesPerSecond ?? 100_000,
    highPriorityOrganisations,
    startsPerSecond: options.startsPerSecond ?? 1_000,
    maxFileBytes: MAX_TEST_FILE,
    retentionDays: 30,
    logRetentionDays: 7,
    maxRetentionDays: 60,
    version: "0.0.0",
    host: {
      settings: TEST_SETTINGS,
      isDatabaseEmbedded: true,
      floorBytes: 1_000,
      readSpace: async () => ({ free: 2_000, total: 3_000 }),
    },
    ...(maxArchiveBytes === undefined ? {} : { maxArchiveBytes }),
    ...(uploadLimits === undefined ? {} : { uploadLimits }),
    ...(uploadPace === undefined ? {} : { uploadPace }),
    ...(parts === undefined ? {} : { parts }),
  });
  await registerQuantumApi(api, {
    ...stores,
    ...shared,
    executions,
    history,
    executionTokens: createExecutionTokens(TEST_SECRET),
  });
  return {
    gateway,
    api,
    database,
    identity,
    stores,
    executions,
    inputs,
    objects,
    close: async () => {
      await Promise.all([gateway.close(), api.close(), jsonCheck.close()]);
      executions.close();
      await feed.close();
      if (own !== null) await rm(own, { recursive: true, force: true });
    },
  };
}

function createServer(): FastifyInstance {
  return createHttpServer({ logger: pino({ level: "silent" }) });
}
