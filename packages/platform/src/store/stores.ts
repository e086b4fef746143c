import type { Database } from "../postgres/database.ts";
import { createAccessKeyStore } from "./access-keys.ts";
import { createAccessStore } from "./access.ts";
import { createApplicationStore } from "./applications.ts";
import { createAuditLog } from "./audit/log.ts";
import { auditChanges } from "./audit/trail.ts";
import { createBackendStore } from "./backends.ts";
import { createBuildHistory } from "./builds/build-history.ts";
import { createBuildStore } from "./builds/builds.ts";
import type { BuildStoreOptions } from "./builds/builds.ts";
import type { NoteCancelled } from "./executions/cancel-many.ts";
import { createFigureStore } from "./instance/figures.ts";
import { createInstanceStore } from "./instance/instance.ts";
import { createProcessStore } from "./instance/processes.ts";
import { createWorkerOperations } from "./instance/operate-workers.ts";
import { createListingStore } from "./listings.ts";
import { createMarketplaceStore } from "./marketplace.ts";
import { createMeasures } from "./measures.ts";
import { createDataPoolStore } from "./pools/data-pools.ts";
import { DEFAULT_POOL_BYTES, createPoolFileStore } from "./pools/pool-files.ts";
import { createPoolGrantStore } from "./pools/pool-grants.ts";
import { createPoolShareStore } from "./pools/pool-shares.ts";
import { createReferenceStore } from "./pools/references.ts";
import { createUploadStore } from "./pools/uploads.ts";
import { createResultFileStore } from "./pools/result-files.ts";
import { createPlanStore } from "./plans.ts";
import { createPlatformBackendStore } from "./platform-backends.ts";
import { createPolicyStore } from "./policies.ts";
import { createQuantumBudgetStore } from "./quantum-budgets.ts";
import { createQuantumCache } from "./quantum-cache.ts";
import { createQuantumCalibrationStore } from "./quantum-calibrations.ts";
import { createQuantumJobStore } from "./quantum-jobs.ts";
import { createQuantumSessionStore } from "./quantum-sessions.ts";
import { createScheduleRunStore } from "./schedules/runs.ts";
import { createScheduleStore } from "./schedules/schedules.ts";
import { createServiceExecutionStore } from "./service-executions.ts";
import { createServiceStore } from "./services.ts";
import { createSigningKeyStore } from "./signing-keys.ts";
import { createRateBucketStore } from "./rate-buckets.ts";
import { createSubscriptionStore } from "./subscriptions.ts";
import { createUsageStore } from "./usage/usage.ts";
import { createVersionStore } from "./versions/versions.ts";
import { createVariableStore } from "./variables.ts";
import { createDeliveryStore } from "./webhooks/deliveries.ts";
import { createWebhookStore } from "./webhooks/webhooks.ts";

/** All stores but that of executions. */
export type Stores = ReturnType<typeof createStores>;

/** Limits of one organisation, and of builders. */
export interface StoreOptions extends BuildStoreOptions {
  /** What the files of its data pools may take; default 100 GB. */
  readonly poolBytes?: number;
  /** Default: nobody is told. */
  readonly noteCancelled?: NoteCancelled;
}

/** Creates one store for each kind of record. */
export function createStores(given: Database, options: StoreOptions = {}) {
  const database = auditChanges(given);
  const { noteCancelled = () => undefined } = options;
  return {
    services: createServiceStore(database),
    policies: createPolicyStore(database),
    plans: createPlanStore(database),
    listings: createListingStore(database),
    marketplace: createMarketplaceStore(database),
    versions: createVersionStore(database),
    backends: createBackendStore(database),
    platformBackends: createPlatformBackendStore(database),
    quantumJobs: createQuantumJobStore(database),
    serviceExecutions: createServiceExecutionStore(given),
    quantumCalibrations: createQuantumCalibrationStore(database),
    quantumCache: createQuantumCache(given),
    quantumSessions: createQuantumSessionStore(database),
    quantumBudgets: createQuantumBudgetStore(database),
    builds: createBuildStore(database, options),
    buildHistory: createBuildHistory(database),
    applications: createApplicationStore(database, noteCancelled),
    accessKeys: createAccessKeyStore(database),
    subscriptions: createSubscriptionStore(database, noteCancelled),
    signingKeys: createSigningKeyStore(database),
    rateBuckets: createRateBucketStore(given),
    access: createAccessStore(database),
    usage: createUsageStore(database),
    auditLog: createAuditLog(database),
    variables: createVariableStore(database),
    dataPools: createDataPoolStore(database),
    poolShares: createPoolShareStore(database),
    poolGrants: createPoolGrantStore(database),
    resultFiles: createResultFileStore(database),
    references: createReferenceStore(database),
    poolFiles: createPoolFileStore(database, options.poolBytes ?? DEFAULT_POOL_BYTES),
    measures: createMeasures(given),
    instance: createInstanceStore(given),
    figures: createFigureStore(given),
    processes: createProcessStore(given),
    workers: createWorkerOperations(database),
    webhooks: createWebhookStore(database),
    deliveries: createDeliveryStore(database),
    schedules: createScheduleStore(database),
    scheduleRuns: createScheduleRunStore(database),
    uploads: createUploadStore(database, options.poolBytes ?? DEFAULT_POOL_BYTES),
  };
}
