import { CLASS_WAIT_MINUTES } from "@platform/contract/policy";
import { MINUTE } from "@platform/engine/base/time";
import type { ExecutionStore } from "@platform/engine/store/execution-store";
import { nameStored } from "@platform/engine/python/port/run-output";
import { createDatabase } from "../../postgres/database.ts";
import type { ConnectionTarget, Database, DatabaseOptions } from "../../postgres/database.ts";
import { LARGE, VITAL } from "../../postgres/limits.ts";
import { createBatchStore } from "./batches.ts";
import { cancelExecution } from "./cancel.ts";
import type { NoteCancelled } from "./cancel-many.ts";
import { createNewClaims } from "./claim-new.ts";
import { createClaim } from "./claim.ts";
import type { UnansweredClaims } from "./claim.ts";
import { createCreator } from "./create.ts";
import { createEvents } from "./events.ts";
import type { Events } from "./events.ts";
import { createExpiry } from "./expire.ts";
import { createForesight } from "./foresee.ts";
import { ENDS_IN_FLIGHT, createFinisher, finishWithOutput } from "./finish.ts";
import { finishPersisted } from "./finish-persisted.ts";
import type { PersistedEnding } from "./finish-persisted.ts";
import { retryExecution } from "./retry.ts";
import { giveBackClaim } from "./give-back.ts";
import { wasRemoved } from "./kept.ts";
import { findStarted } from "./idempotency-keys.ts";
import { renewLeases } from "./lease.ts";
import { createLogWriter } from "./log.ts";
import type { LogWriter } from "./log.ts";
import { measureQueue } from "./measure-queue.ts";
import type { QueueMeasure } from "./measure-queue.ts";
import { notePreparing } from "./preparing.ts";
import { noteHandle } from "./resumed.ts";
import { createProgressWriter, readCheckpoint } from "./progress.ts";
import { readDigests } from "./read-digests.ts";
import { readChanges } from "./read-changes.ts";
import { readLog } from "./read-log.ts";
import { countDelayed, countPending, findExecution, listExecutions, readResult } from "./read.ts";
import { createRelease } from "./release.ts";
import { surveyLimits } from "./survey-limits.ts";
import { surveyQueue } from "./survey-queue.ts";
import { createPromotion } from "./promote.ts";
import type { ReadHorizon } from "./queue-horizon.ts";
import { createQueueHorizon } from "./queue-horizon.ts";
import { createSweep } from "./sweep.ts";
import { DEFAULT_POOL_BYTES } from "../pools/pool-files.ts";
import { warmUp } from "./warm-up.ts";
import { listWorkers, removeWorker, reportWorker } from "./workers.ts";

/**
 * Makes the planner choose one plan per statement, of index lookups. Without statistics it would otherwise sort the whole
 * queue for each claim (measured: 15 times slower at 4,000 queued), or hash a day's executions to end one, and keep that
 * plan. In return, no statement may join two long lists: with nested loops that is quadratic.
 */
const SESSION_SETTINGS = {
  plan_cache_mode: "force_generic_plan",
  // Up to PostgreSQL 17 a disabled step has a cost so high that the server compiles the plan: 1 s for each claim.
  jit: "off",
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_sort: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
} as const;

/** A pool for the statements of the execution store, with SESSION_SETTINGS. */
export function createExecutionDatabase(target: ConnectionTarget, options: DatabaseOptions): Database {
  return createDatabase(target, { ...options, settings: { ...SESSION_SETTINGS, ...options.settings } });
}

/** For three ends, a claim, a renewal, and a flush of log lines or a sweep at the same time. */
const VITAL_CONNECTIONS = 6;

/**
 * The same for statements that renew leases and end executions. With connections of their own, slow reads cannot make a
 * worker lose its leases.
 */
export function createVitalDatabase(target: ConnectionTarget, options: DatabaseOptions): Database {
  return createExecutionDatabase(target, { maxConnections: VITAL_CONNECTIONS, limits: VITAL, ...options });
}

/** The same for ends with large results, which may take longer than vital statements. */
export function createLargeDatabase(target: ConnectionTarget, options: DatabaseOptions): Database {
  return createExecutionDatabase(target, { maxConnections: ENDS_IN_FLIGHT, limits: LARGE, ...options });
}

const DEFAULT_LEASE_SECONDS = 30;

/** The store of executions in PostgreSQL. */
export interface PostgresExecutionStore extends ExecutionStore {
  /** `finish` of an execution whose result is stored in a data pool besides. */
  readonly finishPersisted: (ending: PersistedEnding) => Promise<boolean>;
  /** What waits, for whoever watches the platform. */
  readonly measureQueue: () => Promise<QueueMeasure>;
  /** Prepares connections for the first start and its end; see warm-up.ts. */
  readonly warmUp: () => Promise<void>;
  /** Waits for what is being written. The caller closes the databases. */
  readonly close: () => Promise<void>;
}

/** What the store works with. */
interface PostgresExecutionStoreOptions {
  readonly database: Database;
  readonly vital?: Database;
  readonly large?: Database;
  /** Length of the workers' leases; default 30. */
  readonly leaseSeconds?: number;
  /** What the data pools of one organisation may hold; default 100 GB. */
  readonly poolBytes?: number;
  /** For how long something waits behind a higher class before it gets that class; default `CLASS_WAIT_MINUTES`. */
  readonly classWaitMs?: number;
  /** Default: nobody is told. */
  readonly noteCancelled?: NoteCancelled;
}

/**
 * Creates the store. `database` comes from createExecutionDatabase, its schema from prepareDatabase; `vital` from
 * createVitalDatabase, `large` from createLargeDatabase (without these, all share one pool).
 */
export function createPostgresExecutionStore({
  database,
  vital = database,
  large = vital,
  leaseSeconds = DEFAULT_LEASE_SECONDS,
  poolBytes = DEFAULT_POOL_BYTES,
  classWaitMs = CLASS_WAIT_MINUTES * MINUTE,
  noteCancelled = () => undefined,
}: PostgresExecutionStoreOptions): PostgresExecutionStore {
  const events = createEvents(database);
  const unanswered: UnansweredClaims = new Map();
  const newClaims = createNewClaims(events, unanswered);
  const readHorizon = createQueueHorizon(database);
  const creator = createCreator(database, events, { newClaims, readHorizon });
  const finisher = createFinisher({ vital, large }, events);
  // On the same connections as ends, since an end waits for the last lines.
  const log = createLogWriter(vital, events.emitLog);
  const progress = createProgressWriter(vital, events);
  return {
    create: creator.add,
    foresee: createForesight(database),
    findStarted: (ownerId, key) => findStarted(database, ownerId, key),
    ...createReads(database),
    ...createBatchStore(database, noteCancelled),
    cancel: (id, ownerId) => cancelExecution(database, events, id, ownerId),
    claim: createClaim(vital, events, unanswered),
    onCreate: newClaims.subscribe,
    renew: (workerId, claims, leaseSeconds) => renewLeases(vital, workerId, claims, leaseSeconds),
    finish: async (claim, outcome) => {
      // Lines that come after the end would be dropped by the fence.
      await log.drainExecution(claim.id);
      const output = nameStored(outcome);
      if (output === null) return finisher.add({ claim, outcome });
      return finishWithOutput(vital, events, { ending: { claim, outcome }, output });
    },
    finishPersisted: async (ending) => {
      await log.drainExecution(ending.claim.id);
      return finishPersisted(large, events, ending, poolBytes);
    },
    ...createReturns(vital, events, log),
    noteHandle: (claim, handle) => noteHandle(vital, claim, handle),
    notePreparing: (claim, isPreparing) => notePreparing(vital, claim, isPreparing),
    appendLog: log.append,
    noteProgress: (claim, update) => progress.add({ claim, update }),
    sweep: createRound(vital, events, { readHorizon, leaseSeconds, classWaitMs }),
    expire: createExpiry(vital, events, { leaseSeconds }),
    releaseDue: createRelease(vital, events, { leaseSeconds }),
    report: (report) => reportWorker(vital, report),
    leave: (workerId) => removeWorker(vital, workerId),
    listWorkers: (kind = "service") => listWorkers(database, kind),
    subscribe: events.subscribe,
    measureQueue: () => measureQueue(database),
    warmUp: async () => warmUp(database, vital),
    close: async () => {
      await Promise.all([creator.drain(), finisher.drain(), log.drain(), progress.drain()]);
      events.close();
    },
  };
}

/** What every process does again and again. */
function createRound(
  vital: Database,
  events: Events,
  {
    readHorizon,
    leaseSeconds,
    classWaitMs,
  }: Required<Pick<PostgresExecutionStoreOptions, "leaseSeconds" | "classWaitMs">> & {
    readonly readHorizon: ReadHorizon;
  },
): ExecutionStore["sweep"] {
  const sweep = createSweep(vital, events, { leaseSeconds });
  const promote = createPromotion(vital, { readHorizon, waitMs: classWaitMs });
  return async () => {
    const swept = await sweep();
    await promote();
    return swept;
  };
}

/** What has a claim wait again. */
function createReturns(
  vital: Database,
  events: Events,
  log: LogWriter,
): Pick<ExecutionStore, "giveBack" | "retry"> {
  return {
    giveBack: async (claim, pauseSeconds) => {
      await log.drainExecution(claim.id);
      return giveBackClaim(vital, events, claim, pauseSeconds);
    },
    retry: async (claim, outcome, pauseSeconds) => {
      await log.drainExecution(claim.id);
      return retryExecution(vital, events, { claim, outcome, pauseSeconds });
    },
  };
}

/** What changes nothing. */
function createReads(database: Database) {
  return {
    find: (id, ownerId) => findExecution(database, id, ownerId),
    readResult: (id, ownerId) => readResult(database, id, ownerId),
    readDigests: (id, ownerId) => readDigests(database, id, ownerId),
    readCheckpoint: (id, ownerId) => readCheckpoint(database, id, ownerId),
    surveyQueue: () => surveyQueue(database),
    surveyLimits: () => surveyLimits(database),
    readLog: (id, ownerId, cursor, pageBytes) => readLog(database, { id, ownerId, cursor, pageBytes }),
    readChanges: (watched) => readChanges(database, watched),
    wasRemoved: (id) => wasRemoved(database, id),
    list: (ownerId, filter) => listExecutions(database, ownerId, filter),
    countPending: () => countPending(database),
    countDelayed: () => countDelayed(database),
  } satisfies Partial<ExecutionStore>;
}
