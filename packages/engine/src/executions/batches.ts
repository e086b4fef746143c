import { setTimeout as delay } from "node:timers/promises";
import type { ExecutionStatus } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import { createCache } from "../base/cache.ts";
import { readMonotonic } from "../base/monotonic.ts";
import { SECOND } from "../base/time.ts";
import type { TraceContext } from "../base/trace-context.ts";
import { createUuidV7 } from "../base/uuid.ts";
import type { BatchRecord, BatchStore, NewBatch, OpenedBatch } from "../store/batches.ts";
import type { IdempotencyKey } from "../store/idempotency.ts";
import type { Owner } from "../store/owner.ts";
import type { VersionTarget } from "../versions/runnable-version.ts";
import { toBatch } from "./batch-view.ts";
import type { BatchView } from "./batch-view.ts";
import { cancelAll, cancelInSteps } from "./cancel-batch.ts";
import { createHold } from "./batch-hold.ts";
import type { Hold } from "./batch-hold.ts";
import { createPacer } from "./pacer.ts";
import { splitItems } from "./split-items.ts";
import { refuseUncertain, startItems } from "./start-items.ts";
import type { GrantedStarts, StartItem } from "./start-items.ts";

/*
 * A batch is created with the ids of its executions before any of them: whoever repeats its request with the same key finds it, and goes on
 * with the same ids, so that nothing is started twice. One request at a time starts its executions, by a hold that it renews; what that
 * one has refused is started by nobody, and is written down with the end of its work, which is when the batch is complete.
 */

/** A batch that is to be started. */
interface BatchRequest {
  readonly body: Uint8Array;
  readonly key?: IdempotencyKey | undefined;
  readonly trace?: TraceContext | null;
  /** The version to start; asked only where something is to be started. @throws Problem */
  readonly findTarget: () => VersionTarget | Promise<VersionTarget>;
  /** Counts so many starts; fewer may be granted, and `refusal` says why. Missing: they are not counted. */
  readonly countStarts?: (count: number) => Promise<GrantedStarts>;
}

/** The use cases of batches. Batches of other owners are treated as if they did not exist. */
export interface Batches {
  /** What has an id in the view is stored durably when it resolves. @throws Problem */
  readonly start: (owner: Owner, given: BatchRequest) => Promise<BatchView>;
  /** What the owner's key has started; null: no batch. @throws Problem IDEMPOTENCY_CONFLICT when it was used with another request */
  readonly findStarted: (ownerId: string, key: IdempotencyKey) => Promise<BatchView | null>;
  /** At most a second old. @throws Problem NOT_FOUND */
  readonly progress: (id: string, ownerId: string) => Promise<BatchView>;
  /** Its state after the request. @throws Problem NOT_FOUND */
  readonly cancel: (id: string, ownerId: string) => Promise<BatchView>;
}

/** What batches work with. */
export interface BatchesOptions {
  readonly store: BatchStore;
  readonly startItem: StartItem;
}

/** A request with the key of one that is under way waits for it so long: longer than the hold of one that was killed. */
const WAIT_FOR_OTHER_MS = 20 * SECOND;
const ASK_OTHER_MS = 100;
/** Progress is read from the store this often at most. */
const PROGRESS_TTL_MS = 1 * SECOND;
const FINAL_TTL_MS = 60 * SECOND;
/** Each with up to a thousand states. */
const MAX_CACHED = 100;

/** Holds nothing that has to be closed. */
export function createBatches(options: BatchesOptions): Batches {
  const { store } = options;
  const pace = createPacer();
  const cache = createCache<BatchView>({
    maxEntries: MAX_CACHED,
    ttlMs: (view) => (toBatch(view, NO_ITEMS).terminal ? FINAL_TTL_MS : PROGRESS_TTL_MS),
  });
  // One of each batch at a time: while its start is under way, each asks the database ten times a second whether that has stopped.
  const cancels = createCache<BatchView>({ maxEntries: 1, ttlMs: 0 });
  const read = async (batch: BatchRecord | null): Promise<BatchView> => {
    if (batch === null) throw refuseUnknown();
    return { batch, states: await readStates(store, batch), isRepeated: false };
  };
  return {
    start: async (owner, given) => {
      const items: Uint8Array[] = [];
      for (const item of splitItems(given.body)) {
        if (item !== null) items.push(item);
        await pace();
      }
      return await openAndStart({ ...options, pace }, owner, { ...given, items });
    },
    findStarted: async (ownerId, key) => {
      const batch = await store.findKeyedBatch(ownerId, key);
      return batch === null ? null : { ...(await read(batch)), isRepeated: true };
    },
    progress: (id, ownerId) =>
      cache.get(`${ownerId} ${id}`, async () => await read(await store.findBatch(id, ownerId))),
    cancel: (id, ownerId) =>
      cancels.get(`${ownerId} ${id}`, async () => {
        const found = await read(await store.findBatch(id, ownerId));
        // What has ended is not changed, as a single execution is not.
        if (toBatch(found, NO_ITEMS).terminal) return found;
        const batch = await store.cancelBatch(id, ownerId);
        if (batch === null) throw refuseUnknown();
        await cancelAll(store, batch);
        const view = await read(await store.findBatch(id, ownerId));
        cache.set(`${ownerId} ${id}`, view);
        return view;
      }),
  };
}

const NO_ITEMS = { offset: 0, limit: 0 } as const;

interface Tools extends BatchesOptions {
  readonly pace: () => Promise<void>;
}

interface SplitRequest extends Omit<BatchRequest, "body"> {
  readonly items: readonly Uint8Array[];
}

/** Until this request has started the batch, or another one has. */
async function openAndStart(tools: Tools, owner: Owner, given: SplitRequest): Promise<BatchView> {
  const target = await findTarget(given);
  const created = {
    id: createUuidV7(),
    ownerId: owner.id,
    itemIds: given.items.map(() => createUuidV7()),
    holder: createUuidV7(),
    ...(given.key === undefined ? {} : { key: given.key }),
  };
  const until = readMonotonic() + WAIT_FOR_OTHER_MS;
  // What this request has begun and another one has taken over: some of it may have been started.
  let begun: BatchRecord | null = null;
  for (;;) {
    const turn: Turn = await tryStart(tools, { owner, given, target, created }).catch((cause: unknown) => {
      throw begun === null ? cause : refuseUncertain({ batch: begun, key: given.key }, cause);
    });
    if (turn.view !== null) return turn.view;
    begun ??= turn.begun;
    if (readMonotonic() >= until)
      throw begun === null ? refuseBusy() : refuseUncertain({ batch: begun, key: given.key }, refuseBusy());
    await delay(ASK_OTHER_MS);
  }
}

interface Turn {
  /** Null: another request starts it. */
  readonly view: BatchView | null;
  /** Null: this one has not. */
  readonly begun: BatchRecord | null;
}

interface Start extends Pick<Begun, "owner" | "given" | "target"> {
  readonly created: NewBatch;
}

async function tryStart(tools: Tools, { owner, given, target, created }: Start): Promise<Turn> {
  const since = readMonotonic();
  const opened = await openBatch(tools.store, created, target);
  const { batch, isRepeated } = opened;
  if (opened.holder === "nobody") {
    // Who has cancelled it may have taken it over from this request, which has started some of it since.
    if (batch.isCancelled) await cancelInSteps(tools.store, batch);
    return { view: { batch, states: await readStates(tools.store, batch), isRepeated }, begun: null };
  }
  if (opened.holder !== "own") return { view: null, begun: null };
  const { holder } = created;
  const hold = createHold(tools.store, { id: batch.id, holder, since });
  const view = await start(tools, { owner, given, target, hold, holder, opened }).finally(hold.close);
  return { view, begun: batch };
}

async function findTarget({ findTarget: find, key }: SplitRequest): Promise<VersionTarget | Problem> {
  try {
    return await find();
  } catch (error) {
    if (key !== undefined && error instanceof Problem && error.status < 500) return error;
    throw error;
  }
}

/** Where nothing can be started, only what was before: that is answered, and the rest of its items is refused. */
async function openBatch(
  store: BatchStore,
  created: NewBatch,
  target: VersionTarget | Problem,
): Promise<OpenedBatch> {
  const opened = await store.openBatch(created, !(target instanceof Problem));
  if (opened !== null) return opened;
  throw target instanceof Problem ? target : new Error("a batch was neither created nor found");
}

/** A batch of which this request has the hold. */
interface Begun {
  readonly owner: Owner;
  readonly given: SplitRequest;
  readonly target: VersionTarget | Problem;
  readonly hold: Hold;
  readonly holder: string;
  readonly opened: OpenedBatch;
}

/** Null: another request has taken it over meanwhile. */
async function start({ store, startItem, pace }: Tools, begun: Begun): Promise<BatchView | null> {
  const { owner, given, target, hold, holder, opened } = begun;
  const { batch, isRepeated } = opened;
  const { items, countStarts, key, trace = null } = given;
  const known = isRepeated ? await readStates(store, batch) : NOTHING_STARTED;
  const started = await startItems(
    { startItem, pace },
    {
      owner,
      batch,
      hold,
      key,
      items,
      known,
      target,
      trace,
      ...(countStarts === undefined ? {} : { countStarts }),
    },
  );
  if (started === null) return null;
  try {
    const settled = await store.settleBatch(batch.id, holder, started.refusals);
    if (settled === null) return null;
    if (!settled.isCancelled) return { batch: settled, states: started.states, isRepeated };
    await cancelInSteps(store, settled);
    return { batch: settled, states: await readStates(store, settled), isRepeated };
  } catch (cause) {
    throw refuseUncertain({ batch, key }, cause);
  }
}

const NOTHING_STARTED: ReadonlyMap<string, ExecutionStatus> = new Map();

async function readStates(
  store: BatchStore,
  { itemIds, ownerId }: BatchRecord,
): Promise<ReadonlyMap<string, ExecutionStatus>> {
  return await store.readStates(itemIds, ownerId);
}

function refuseUnknown(): Problem {
  return new Problem("NOT_FOUND", "There is no such batch.");
}

function refuseBusy(): Problem {
  return new Problem(
    "CONFLICT",
    "A request with this Idempotency-Key is under way. Send this one again in 5 s.",
    { headers: { "retry-after": "5" } },
  );
}
