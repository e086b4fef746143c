import { isFinal } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import { readMonotonic } from "../base/monotonic.ts";
import type { TraceContext } from "../base/trace-context.ts";
import { NO_TRACER } from "../base/tracer.ts";
import type { Tracer } from "../base/tracer.ts";
import { createUuidV7 } from "../base/uuid.ts";
import { mapRecords } from "../store/map-records.ts";
import { createWaiting } from "./waiting.ts";
import { DEFAULT_QUEUE_LIMITS, createAdmission } from "./admission.ts";
import type { Admission, QueueLimits } from "./admission.ts";
import type { ResultStore } from "../content/result-store.ts";
import { createBatches } from "./batches.ts";
import type { Batches } from "./batches.ts";
import type { StartItem } from "./start-items.ts";
import { createInputValidator } from "../input-schema/input-validator.ts";
import type { InputValidator } from "../input-schema/input-validator.ts";
import type {
  ExecutionRecord,
  ExecutionStore,
  InputSource,
  ListFilter,
  NewExecution,
  ResultTargets,
  LogPage,
  Page,
  StoreEvent,
  StoredResult,
} from "../store/execution-store.ts";
import type { ExecutionDigests } from "../store/digests.ts";
import type { IdempotencyKey } from "../store/idempotency.ts";
import type { Owner } from "../store/owner.ts";
import type { VersionTarget } from "../versions/runnable-version.ts";
import { applyPolicy } from "./start-policy.ts";
import type { AllowsHigh } from "./start-policy.ts";
import { requireCounted } from "./priced.ts";
import { createRateMeter } from "./rate-meter.ts";
import { createRecordCache } from "./record-cache.ts";
import type { RecordCache } from "./record-cache.ts";
import { PERMANENT, boundKeptDays, createRetention, withExpiry } from "./retention.ts";
import type { RetentionDays } from "./retention.ts";
import { findOutputPool, findPools } from "./find-pools.ts";
import { pinNamed } from "./pin-inputs.ts";
import { createBatchRehearsal } from "./rehearse-batch.ts";
import { createRehearsal } from "./rehearse.ts";
import type { Rehearsal } from "./rehearse.ts";
import { acceptStartBody } from "./start-body.ts";
import { chooseTimes, isLater, requireNear } from "./start-times.ts";
import { requireWebhooks } from "./start-webhooks.ts";
import type { StartWebhooks } from "./start-webhooks.ts";
import { createFollowers } from "./followers.ts";
import type { Follow, FollowRequest } from "./followers.ts";
import { createWaitRoom } from "./places.ts";
import type { Leave, PlaceLimits } from "./places.ts";
import { createStreamRoom } from "./stream-room.ts";
import type { StreamRoom } from "./stream-room.ts";
import { createWaiters } from "./waiters.ts";
import type { Waiters } from "./waiters.ts";

/** What a start has sent. */
interface StartRequest {
  readonly body: Uint8Array;
  /** What it is to be called; missing: any new id. */
  readonly id?: string;
  /** Where it belongs in a trace of the caller's; missing: nowhere. */
  readonly trace?: TraceContext | null;
  /** See `NewExecution`. */
  readonly annotation?: NewExecution["annotation"];
  readonly key?: IdempotencyKey | undefined;
  /** Who starts it counts what it costs. */
  readonly isCounted?: boolean;
}

/** The use cases of executions. The caller names the owner; executions of other owners are treated as if they did not exist. */
export interface Executions {
  /** Accepts an execution; it is stored durably when this resolves. With a key, see `create` of the store. @throws Problem */
  readonly start: (owner: Owner, target: VersionTarget, given: StartRequest) => Promise<ExecutionRecord>;
  /** What a start would do now; nothing is created, stored or counted. @throws Problem that the start would throw */
  readonly rehearse: (owner: Owner, target: VersionTarget, body: Uint8Array) => Promise<Rehearsal>;
  /** The same of a batch, item by item. @throws Problem where the batch itself would be refused */
  readonly rehearseBatch: ReturnType<typeof createBatchRehearsal>;
  /** See `findStarted` of the store. */
  readonly findStarted: (ownerId: string, key: IdempotencyKey) => Promise<ExecutionRecord | null>;
  /** The state if it is known without a query, so that polling is cheap. */
  readonly peek: (id: string, ownerId: string) => ExecutionRecord | undefined;
  /** @throws Problem EXECUTION_NOT_FOUND, RESULT_EXPIRED, as all methods that take an id */
  readonly state: (id: string, ownerId: string) => Promise<ExecutionRecord>;
  /**
   * Takes a place among the requests that wait for executions of an organisation; null: there are as many as there may be. Each holds a
   * connection.
   */
  readonly enterWait: (organisationId: string) => Leave | null;
  /** The final state, or the state when the seconds are over or the caller has disconnected. */
  readonly wait: (
    id: string,
    ownerId: string,
    seconds: number,
    signal: AbortSignal,
  ) => Promise<ExecutionRecord>;
  /** @throws Problem RESULT_NOT_READY */
  readonly result: (id: string, ownerId: string) => Promise<FinalResult>;
  /** What a receipt is made of. @throws Problem RESULT_NOT_READY */
  readonly digests: (
    id: string,
    ownerId: string,
  ) => Promise<{ readonly record: ExecutionRecord; readonly digests: ExecutionDigests }>;
  /** @throws Problem LOG_EXPIRED, and INVALID_INPUT for a cursor that is not the `nextCursor` of a page */
  readonly log: (id: string, ownerId: string, cursor?: string) => Promise<LogPage>;
  /** The states and log lines of one execution until its end. */
  readonly follow: (asked: FollowRequest) => Follow;
  readonly list: (ownerId: string, filter: ListFilter) => Promise<Page<ExecutionRecord>>;
  /** The state after the request. A RUNNING execution stays RUNNING until its worker has ended it. */
  readonly cancel: (id: string, ownerId: string) => Promise<ExecutionRecord>;
  readonly batches: Batches;
  /** Where content of results is that is not in a row. */
  readonly results: Pick<ResultStore, "read">;
  readonly close: () => void;
}

/** What a final execution has left. */
interface FinalResult {
  readonly record: ExecutionRecord;
  /** Null unless SUCCEEDED. */
  readonly output: StoredResult | null;
  /** The last checkpoint, as JSON text of an object; null: it SUCCEEDED, or has made none. */
  readonly partial: Uint8Array | null;
}

/** Seconds after which a caller should ask again for a result that is not ready (`Retry-After`), where no estimate says so. */
const RETRY_AFTER_SECONDS = 1;

/** The stores and limits of the use cases; only `store` and `inputs` are required. */
export interface ExecutionsOptions {
  readonly store: ExecutionStore;
  readonly inputs: InputSource;
  /** Missing: starts that name a URL are refused. */
  readonly webhooks?: StartWebhooks;
  /** Missing: all results are in rows. */
  readonly results?: Pick<ResultStore, "read">;
  /** Missing: results are stored nowhere besides. */
  readonly targets?: ResultTargets;
  /** An expired id is distinguished from one that never existed. Missing: executions are kept permanently. */
  readonly retentionDays?: RetentionDays;
  /** Default `DEFAULT_QUEUE_LIMITS`. */
  readonly queueLimits?: QueueLimits;
  /** Default: one of its own, with `STREAM_LIMITS`. */
  readonly room?: StreamRoom;
  /** Requests that wait for an end. Default `WAIT_LIMITS`. */
  readonly waitLimits?: PlaceLimits;
  /** Missing: no traces are written. */
  readonly tracer?: Tracer;
  /** Missing: no service has the priority high. */
  readonly allowsHigh?: AllowsHigh;
  /** Milliseconds since the epoch; default: the time of day. */
  readonly now?: () => number;
  /** Called when input of this version was not checked at the start because the check takes too long. */
  readonly onUndecided?: (versionId: string) => void;
}

/** One per process. It subscribes to the store's events until `close`; the store itself is closed by its creator. */
export function createExecutions(options: ExecutionsOptions): Executions {
  const { inputs, room = createStreamRoom(), retentionDays = PERMANENT, now = Date.now } = options;
  const ends = createRateMeter(readMonotonic);
  const kept = withExpiry(options.store, retentionDays);
  const waiting = createWaiting(kept, { ends });
  const store = mapRecords(kept, waiting.describe);
  const cache = createRecordCache(store);
  const waiters = createWaiters(cache.find);
  const validator = createInputValidator(options.onUndecided);
  const admission = createAdmission({ store, limits: options.queueLimits ?? DEFAULT_QUEUE_LIMITS });
  const retention = createRetention({ days: retentionDays, wasRemoved: store.wasRemoved, now });
  const state: Executions["state"] = async (id, ownerId) =>
    retention.requireKept(id, await cache.find(id, ownerId));
  const followers = createFollowers({ store, room, find: state, requireLog: retention.requireLog });
  const unsubscribe = store.subscribe((event) => {
    if (event.type === "changed" && (event.record === undefined || isFinal(event.record.status))) ends.add();
    noteChange(event, cache, waiters);
    followers.notice(event);
  });

  const { targets, webhooks, tracer = NO_TRACER, allowsHigh = () => false } = options;
  const guards = { validator, admission, retentionDays, allowsHigh, now };
  const parts = { store, inputs, targets, cache, waiting, tracer, webhooks, ...guards };
  return {
    start: createStart(parts),
    rehearse: createRehearsal(parts),
    rehearseBatch: createBatchRehearsal(parts),
    batches: createBatches({ store, startItem: createStartItem(parts) }),
    findStarted: store.findStarted,
    peek: (id, ownerId) => {
      const known = cache.peek(id, ownerId);
      return known === undefined || retention.hasExpired(known) ? undefined : known;
    },
    state,
    enterWait: createWaitRoom(options.waitLimits),
    wait: async (id, ownerId, seconds, signal) => {
      const record = await state(id, ownerId);
      if (isFinal(record.status) || seconds <= 0) return record;
      return (await waiters.wait(id, ownerId, seconds, signal)) ?? record;
    },
    result: createReadResult(store, state),
    digests: createReadDigests(store, state),
    log: async (id, ownerId, cursor) => {
      retention.requireLog(await state(id, ownerId));
      const page = await store.readLog(id, ownerId, cursor);
      if (page === null) throw await retention.describeMissing(id);
      return page;
    },
    follow: followers.follow,
    results: options.results ?? NO_RESULTS,
    list: (ownerId, filter) => store.list(ownerId, filter),
    cancel: async (id, ownerId) => retention.requireKept(id, await store.cancel(id, ownerId)),
    close: () => {
      unsubscribe();
      admission.close();
      waiters.close();
      followers.close();
    },
  };
}

/** Before anybody else looks for it. */
function noteChange(event: StoreEvent, cache: RecordCache, waiters: Waiters): void {
  if (event.type === "reset") cache.clear();
  if (event.type === "progress") cache.forget(event.id);
  if (event.type !== "changed") return;
  if (event.record) cache.put(event.record);
  else cache.forget(event.id);
  waiters.notify(event.id, event.record ?? null);
}

const NO_RESULTS: Pick<ResultStore, "read"> = {
  read: async () => {
    throw new Error("there is no store of results");
  },
};

interface StartParts {
  readonly store: ExecutionStore;
  readonly inputs: InputSource;
  readonly targets: ResultTargets | undefined;
  readonly webhooks: StartWebhooks | undefined;
  readonly cache: RecordCache;
  readonly validator: InputValidator;
  readonly admission: Admission;
  readonly retentionDays: RetentionDays;
  readonly tracer: Tracer;
  readonly allowsHigh: AllowsHigh;
  readonly now: () => number;
}

function createStart({ tracer, ...parts }: StartParts): Executions["start"] {
  return async (owner, target, given) => {
    const trace = tracer.start(given.trace ?? null, target.id);
    let started: ExecutionRecord | null = null;
    try {
      started = await start(parts, owner, target, { ...given, trace: trace.context });
      return started;
    } finally {
      trace.end(started?.id ?? null);
    }
  };
}

async function start(
  { store, inputs, targets, webhooks, cache, validator, admission, ...rules }: Omit<StartParts, "tracer">,
  owner: Owner,
  target: VersionTarget,
  { body: bytes, id = createUuidV7(), key, trace = null, annotation, isCounted = false }: StartRequest,
): Promise<ExecutionRecord> {
  requireCounted(target, isCounted);
  const { retentionDays, allowsHigh, now } = rules;
  const body = acceptStartBody(bytes);
  requireNear(body.startAt, { now: now(), keptDays: retentionDays.result });
  requireWebhooks(body, webhooks);
  validator(target.id, target.inputSchema, body);
  const kept = boundKeptDays(target.kept, retentionDays);
  const named = {
    body,
    pools: findPools(target.inputSchema, body),
    output: findOutputPool(target.inputSchema, body),
  };
  // Pinned within: who is refused has nothing looked at.
  const place = { ownerId: owner.id, isDelayed: isLater(body.startAt, now()) };
  const record = await admission.admit(place, async () => {
    if (body.webhookUrl !== undefined) await webhooks?.prepare(owner);
    return store.create({
      id,
      owner,
      versionId: target.id,
      resources: target.resources,
      ...applyPolicy(target, allowsHigh),
      ...chooseTimes(body),
      ...(body.webhookUrl === undefined ? {} : { webhookUrl: body.webhookUrl }),
      body: body.bytes,
      ...(await pinNamed({ inputs, targets }, named, owner)),
      ...(kept === undefined ? {} : { kept }),
      ...(trace === null ? {} : { trace }),
      ...(annotation === undefined ? {} : { annotation }),
      ...(key === undefined ? {} : { key }),
    });
  });
  // What was created earlier may have changed since it was read.
  if (record.isRepeated !== true) cache.add(record);
  return record;
}

/** The same for one item of a batch, whose lane stands between it and what it asks of files. */
function createStartItem(parts: StartParts): StartItem {
  return {
    references: parts,
    start: ({ id, owner, target, bytes, trace, lane: { inputs, targets } }) =>
      createStart({ ...parts, inputs, targets })(owner, target, { body: bytes, id, trace }),
  };
}

function createReadResult(store: ExecutionStore, state: Executions["state"]): Executions["result"] {
  return async (id, ownerId) => {
    const record = await state(id, ownerId);
    requireFinal(record, "result");
    if (record.status !== "SUCCEEDED") {
      const hasCheckpoint = (record.progress?.checkpointAt ?? null) !== null;
      return {
        record,
        output: null,
        partial: hasCheckpoint ? await store.readCheckpoint(id, ownerId) : null,
      };
    }
    const output = await store.readResult(id, ownerId);
    if (output === null) throw new Problem("RESULT_EXPIRED");
    return { record, output, partial: null };
  };
}

function createReadDigests(store: ExecutionStore, state: Executions["state"]): Executions["digests"] {
  return async (id, ownerId) => {
    const record = await state(id, ownerId);
    requireFinal(record, "receipt");
    const digests = await store.readDigests(id, ownerId);
    const isGone = digests === null || (record.status === "SUCCEEDED" && digests.result === null);
    if (isGone) throw new Problem("RESULT_EXPIRED");
    return { record, digests };
  };
}

/** @throws Problem RESULT_NOT_READY */
function requireFinal({ status, retryAfterSeconds }: ExecutionRecord, what: "result" | "receipt"): void {
  if (isFinal(status)) return;
  throw new Problem("RESULT_NOT_READY", `The execution is ${status}; its ${what} is not there yet.`, {
    headers: { "retry-after": String(retryAfterSeconds ?? RETRY_AFTER_SECONDS) },
  });
}
