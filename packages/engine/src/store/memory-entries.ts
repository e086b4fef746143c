import { EventEmitter } from "node:events";
import { canMove, isFinal } from "@platform/contract/execution";
import { readMonotonic } from "../base/monotonic.ts";
import type { LogLine } from "../python/port/runtime.ts";
import type { DelayedState, HeldReason } from "./held.ts";
import { findRank, getPriority, isQueued, sortByRank } from "./memory-queue.ts";
import type { Queued } from "./memory-queue.ts";
import type { FailedAttempt } from "./retry-rules.ts";
import { findStartBy, getStartBy } from "./start-deadline.ts";
import type { ExecutionRecord, NewExecution, StoreEvent, StoredResult } from "./execution-store.ts";

/** Maximum number of finished executions in memory; the oldest are removed first. */
const MAX_FINISHED = 10_000;

/** All that the store in memory keeps of one execution. */
export interface Entry extends Queued {
  readonly execution: NewExecution;
  record: ExecutionRecord;
  priority: number;
  rank: number;
  held: HeldReason | null;
  /** Number of claims so far. */
  attempt: number;
  /** Holder of the latest claim; null before the first and after a claim was given back. */
  workerId: string | null;
  /** On the monotonic clock, as `notBefore`. */
  leaseUntil: number;
  /** How many times it was given back because it could not be started. */
  setbacks: number;
  /** Those that failed and are followed by another. */
  readonly attempts: (FailedAttempt & { readonly attempt: number })[];
  /** The attempt whose worker has noted that it prepares it; null: none. */
  preparingAttempt: number | null;
  /** It can be claimed from this time on. */
  notBefore: number;
  isCancelRequested: boolean;
  /** Of what it has begun elsewhere; null: nothing is kept. */
  handle: string | null;
  /** Null unless SUCCEEDED. */
  result: StoredResult | null;
  /** Null: it has made none. */
  checkpoint: Uint8Array | null;
  readonly log: LogLine[];
}

/** The data that both halves of the store in memory, for callers and for workers, work on. */
export interface MemoryEntries {
  readonly byId: ReadonlyMap<string, Entry>;
  readonly add: (execution: NewExecution, rank: number) => Entry;
  readonly findOwned: (id: string, ownerId: string) => Entry | undefined;
  /** Changes a record and emits the event. @throws Error when the table of status transitions does not contain the change */
  readonly move: (entry: Entry, change: Partial<ExecutionRecord> & Pick<ExecutionRecord, "status">) => void;
  /** The executions that wait and are not held, in the order of the queue. */
  readonly listPending: () => readonly Entry[];
  /** Those of them that can be claimed now. */
  readonly listReady: () => readonly Entry[];
  readonly emit: (event: StoreEvent) => void;
  readonly subscribe: (listener: (event: StoreEvent) => void) => () => void;
}

/** Told of each state of each execution, in order, at once. */
export type NoteState = (record: ExecutionRecord) => void;

/** Holds nothing at first; everything is lost with the process. */
export function createMemoryEntries(noteState: NoteState = () => undefined): MemoryEntries {
  const byId = new Map<string, Entry>();
  const events = new EventEmitter<{ event: [StoreEvent] }>().setMaxListeners(0);
  const emit = (event: StoreEvent) => void events.emit("event", event);
  const listPending = () => sortByRank([...byId.values()].filter(isQueued));
  return {
    byId,
    emit,
    add: (execution, rank) => {
      const entry = createEntry(execution, rank);
      noteState(entry.record);
      byId.set(execution.id, entry);
      forgetOldest(byId);
      return entry;
    },
    findOwned: (id, ownerId) => {
      const entry = byId.get(id);
      return entry?.record.ownerId === ownerId ? entry : undefined;
    },
    move: (entry, change) => {
      if (!canMove(entry.record.status, change.status))
        throw new Error(`${entry.record.status} cannot become ${change.status}`);
      const end = isFinal(change.status) ? { endedAt: Date.now() } : {};
      entry.record = { ...entry.record, ...change, ...end };
      noteState(entry.record);
      emit({ type: "changed", id: entry.record.id, record: entry.record });
    },
    listPending,
    listReady: () => listPending().filter((entry) => !isPausing(entry) && !isLate(entry)),
    subscribe: (listener) => {
      events.on("event", listener);
      return () => void events.off("event", listener);
    },
  };
}

/** The record with what is true of it at this moment. */
export function readLive(entry: Entry): ExecutionRecord {
  const { record, priority, rank, held, leaseUntil, preparingAttempt, attempt } = entry;
  if (record.status === "PENDING" && held !== null) return { ...record, live: readHeld(entry, held) };
  if (record.status === "PENDING")
    return {
      ...record,
      live: { priority, rank, isPausing: isPausing(entry), ...readRetry(entry) },
    };
  if (record.status !== "RUNNING") return record;
  const left = leaseUntil - readMonotonic();
  return { ...record, live: { leaseUntil: Date.now() + left, isPreparing: preparingAttempt === attempt } };
}

function readHeld({ execution }: Entry, held: HeldReason): DelayedState {
  const { startAt = null, limitKey } = execution;
  return { held, startAt, ...(limitKey === undefined ? {} : { limitKey }) };
}

function readRetry(entry: Entry): { readonly retryAt?: number } {
  const { attempts, setbacks, notBefore } = entry;
  if (attempts.length === 0 || setbacks > 0 || !isPausing(entry)) return {};
  return { retryAt: Date.now() + notBefore - readMonotonic() };
}

function isPausing({ notBefore }: Pick<Entry, "notBefore">): boolean {
  return notBefore > readMonotonic();
}

/** Whether it is past the deadline of its start: a time of day, as that before which it does not begin. */
export function isLate({ record }: Pick<Entry, "record">): boolean {
  const startBy = getStartBy(record);
  return startBy !== null && startBy <= Date.now();
}

/** Whether an attempt before may have left something elsewhere: nothing ends it before an attempt has looked after that. */
export function isResumed({ execution, attempts }: Pick<Entry, "execution" | "attempts">): boolean {
  return execution.retries?.resumes === true && attempts.length > 0;
}

function createEntry(execution: NewExecution, rank: number): Entry {
  const { id, owner, versionId, resources, kept, startAt } = execution;
  const createdAt = Date.now();
  const startBy = findStartBy(execution, createdAt);
  const record: ExecutionRecord = {
    id,
    ownerId: owner.id,
    versionId,
    resources,
    status: "PENDING",
    createdAt,
    startedAt: null,
    endedAt: null,
    sandboxLevel: null,
    failure: null,
    ...(kept === undefined ? {} : { kept }),
    ...(startBy === null ? {} : { startBy }),
  };
  return {
    execution,
    record,
    priority: getPriority(execution),
    rank,
    held: startAt !== undefined && startAt > createdAt ? "START_AT" : findLimit(execution),
    attempt: 0,
    workerId: null,
    leaseUntil: 0,
    preparingAttempt: null,
    setbacks: 0,
    attempts: [],
    notBefore: -Infinity,
    isCancelRequested: false,
    handle: null,
    result: null,
    checkpoint: null,
    log: [],
  };
}

/** With the place of one that starts now, but one turn later: it is older than those whose turn it is. */
export function putIntoQueue({ byId }: Pick<MemoryEntries, "byId">, entry: Entry): void {
  entry.rank = findRank(entry, byId.values()) + 1;
  entry.held = null;
}

/** What holds an execution whose time has come. */
export function findLimit({ limitKey }: Pick<NewExecution, "limitKey">): HeldReason | null {
  return limitKey === undefined ? null : "LIMIT";
}

function forgetOldest(entries: Map<string, Entry>): void {
  if (entries.size <= MAX_FINISHED) return;
  for (const [id, entry] of entries) {
    if (!isFinal(entry.record.status)) continue;
    entries.delete(id);
    return;
  }
}
