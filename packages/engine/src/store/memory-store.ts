import { EventEmitter } from "node:events";
import { canMove, formatTimestamp, isFinal } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import { LOG_PAGE_BYTES } from "./execution-store.ts";
import { readMonotonic } from "../base/monotonic.ts";
import { chooseNext, findRank, sortByRank } from "./memory-queue.ts";
import type { Queued } from "./memory-queue.ts";
import { createMemoryWorkers } from "./memory-workers.ts";
import type { LogLine, Outcome } from "../python/port/runtime.ts";
import type {
  Claim,
  ClaimKey,
  ExecutionRecord,
  ExecutionStore,
  ListFilter,
  LogPage,
  NewExecution,
  Page,
  StoreEvent,
  StoredResult,
} from "./execution-store.ts";

/** Finished executions that are remembered; the oldest go first. */
const MAX_FINISHED = 10_000;
const SECOND = 1_000;
const CANCELLED_BEFORE = { code: "CANCELLED", detail: "The execution was cancelled before it began." };

interface Entry extends Queued {
  readonly execution: NewExecution;
  record: ExecutionRecord;
  attempt: number;
  workerId: string | null;
  /** On the monotonic clock, as `notBefore`. */
  leaseUntil: number;
  setbacks: number;
  notBefore: number;
  isCancelRequested: boolean;
  result: StoredResult | null;
  readonly log: LogLine[];
}

/** The store of `platform serve`: everything in this process, gone with it. */
export function createMemoryStore(): ExecutionStore {
  const entries = new Map<string, Entry>();
  const events = new EventEmitter<{ event: [StoreEvent] }>().setMaxListeners(0);
  const emit = (event: StoreEvent) => void events.emit("event", event);
  const findOwned = (id: string, ownerId: string) => {
    const entry = entries.get(id);
    return entry?.record.ownerId === ownerId ? entry : undefined;
  };
  const move = (entry: Entry, change: Partial<ExecutionRecord> & Pick<ExecutionRecord, "status">) => {
    if (!canMove(entry.record.status, change.status))
      throw new Error(`${entry.record.status} cannot become ${change.status}`);
    entry.record = { ...entry.record, ...change, ...(isFinal(change.status) ? { endedAt: Date.now() } : {}) };
    emit({ type: "changed", id: entry.record.id, record: entry.record });
  };
  const listReady = () =>
    sortByRank(
      [...entries.values()].filter(
        ({ record, notBefore }) => record.status === "PENDING" && notBefore <= readMonotonic(),
      ),
    );
  const workers = createMemoryWorkers();

  return {
    create: async (execution) => {
      const known = entries.get(execution.id);
      if (known !== undefined) {
        if (known.record.ownerId !== execution.owner.id) throw new Problem("CONFLICT", "The id is taken.");
        return known.record;
      }
      const entry = createEntry(execution, findRank(execution, entries.values()));
      entries.set(execution.id, entry);
      forgetOldest(entries);
      emit({ type: "pending" });
      return entry.record;
    },
    find: async (id, ownerId) => findOwned(id, ownerId)?.record ?? null,
    readResult: async (id, ownerId) => findOwned(id, ownerId)?.result ?? null,
    readLog: async (id, ownerId, cursor) => {
      const entry = findOwned(id, ownerId);
      return entry === undefined ? null : readLogPage(entry, cursor);
    },
    list: async (ownerId, filter) => listEntries([...entries.values()], ownerId, filter),
    cancel: async (id, ownerId) => {
      const entry = findOwned(id, ownerId);
      if (entry === undefined) return null;
      if (entry.record.status === "PENDING")
        move(entry, {
          status: "FAILED",
          failure: CANCELLED_BEFORE,
        });
      if (entry.record.status === "RUNNING") {
        entry.isCancelRequested = true;
        emit({ type: "cancel", id });
      }
      return entry.record;
    },
    claim: async ({ workerId, limit, free, leaseSeconds, excludedVersionIds, onlyId }) => {
      const ready = listReady().filter(
        ({ record }) =>
          !excludedVersionIds.includes(record.versionId) && (onlyId === undefined || record.id === onlyId),
      );
      const claims: Claim[] = chooseNext(ready, limit, free).map((entry) => {
        entry.workerId = workerId;
        entry.attempt += 1;
        entry.leaseUntil = readMonotonic() + leaseSeconds * SECOND;
        move(entry, { status: "RUNNING", startedAt: Date.now() });
        return { ...entry.execution, attempt: entry.attempt, workerId, setbacks: entry.setbacks };
      });
      const isDrained = [...entries.values()].every((entry) => entry.record.status !== "PENDING");
      return { claims, isDrained };
    },
    renew: async (_workerId, claims, leaseSeconds) => {
      const held = claims.flatMap((claim) => {
        const entry = entries.get(claim.id);
        return entry !== undefined && isHeld(entry, claim) ? [entry] : [];
      });
      for (const entry of held) entry.leaseUntil = readMonotonic() + leaseSeconds * SECOND;
      const heldIds = new Set(held.map((entry) => entry.record.id));
      return {
        lost: claims.map((claim) => claim.id).filter((id) => !heldIds.has(id)),
        cancelled: held.filter((entry) => entry.isCancelRequested).map((entry) => entry.record.id),
        busy: [],
      };
    },
    finish: async (claim, outcome) => {
      const entry = entries.get(claim.id);
      if (entry === undefined) return false;
      if (!isHeld(entry, claim)) return entry.record.status === outcome.status && isOfClaim(entry, claim);
      if (outcome.status === "SUCCEEDED")
        entry.result = { result: outcome.result, metadata: outcome.metadata };
      move(entry, { status: outcome.status, failure: toFailure(outcome) });
      return true;
    },
    giveBack: async (claim, pauseSeconds) => {
      const entry = entries.get(claim.id);
      if (entry === undefined) return false;
      if (!isHeld(entry, claim)) return wasGivenBack(entry, claim);
      entry.workerId = null;
      if (pauseSeconds !== null) entry.setbacks += 1;
      entry.notBefore = readMonotonic() + (pauseSeconds ?? 0) * SECOND;
      const state = entry.isCancelRequested
        ? ({ status: "FAILED", failure: CANCELLED_BEFORE } as const)
        : ({ status: "PENDING" } as const);
      move(entry, { ...state, startedAt: null });
      emit({ type: "pending" });
      return true;
    },
    appendLog: async (claim, lines) => {
      const entry = entries.get(claim.id);
      if (entry !== undefined && isHeld(entry, claim)) for (const line of lines) entry.log.push(line);
    },
    sweep: async () => {
      const late = [...entries.values()].filter(
        (entry) => entry.record.status === "RUNNING" && entry.leaseUntil < readMonotonic(),
      );
      for (const entry of late)
        move(entry, {
          status: "UNKNOWN",
          failure: { code: "WORKER_LOST", detail: "The worker vanished after user code had begun." },
        });
      return late.length;
    },
    countPending: async () => {
      const counts = new Map<string, number>();
      for (const { record } of entries.values()) {
        if (record.status === "PENDING") counts.set(record.ownerId, (counts.get(record.ownerId) ?? 0) + 1);
      }
      return counts;
    },
    report: async (report) => workers.report(report, listReady()),
    leave: async (workerId) => workers.leave(workerId),
    listWorkers: async () => workers.list(),
    subscribe: (listener) => {
      events.on("event", listener);
      return () => void events.off("event", listener);
    },
  };
}

function createEntry(execution: NewExecution, rank: number): Entry {
  const { id, owner, versionId, resources } = execution;
  const record: ExecutionRecord = {
    id,
    ownerId: owner.id,
    versionId,
    resources,
    status: "PENDING",
    createdAt: Date.now(),
    startedAt: null,
    endedAt: null,
    failure: null,
  };
  return {
    execution,
    record,
    rank,
    attempt: 0,
    workerId: null,
    leaseUntil: 0,
    setbacks: 0,
    notBefore: -Infinity,
    isCancelRequested: false,
    result: null,
    log: [],
  };
}

function forgetOldest(entries: Map<string, Entry>): void {
  if (entries.size <= MAX_FINISHED) return;
  for (const [id, entry] of entries) {
    if (!isFinal(entry.record.status)) continue;
    entries.delete(id);
    return;
  }
}

function isHeld(entry: Entry, claim: ClaimKey): boolean {
  return entry.record.status === "RUNNING" && isOfClaim(entry, claim);
}

function isOfClaim(entry: Entry, claim: ClaimKey): boolean {
  return entry.workerId === claim.workerId && entry.attempt === claim.attempt;
}

function wasGivenBack({ attempt, workerId }: Entry, claim: ClaimKey): boolean {
  return attempt > claim.attempt || (attempt === claim.attempt && workerId === null);
}

function toFailure(outcome: Outcome): ExecutionRecord["failure"] {
  return outcome.status === "SUCCEEDED" ? null : { code: outcome.code, detail: outcome.detail };
}

/** The cursor counts lines. */
function readLogPage({ log, record }: Entry, cursor = "0"): LogPage {
  if (!/^\d{1,15}$/.test(cursor))
    throw new Problem("INVALID_INPUT", "The cursor is not one that this log has given out.");
  const lines: string[] = [];
  let bytes = 0;
  for (const line of log.slice(Number(cursor))) {
    if (bytes >= LOG_PAGE_BYTES) break;
    const text = JSON.stringify(toLogEntry(line));
    lines.push(text);
    bytes += Buffer.byteLength(text);
  }
  const next = Number(cursor) + lines.length;
  return {
    lines: Buffer.from(`[${lines.join(",")}]`),
    nextCursor: next >= log.length && isFinal(record.status) ? null : String(next),
  };
}

function toLogEntry(line: LogLine): Readonly<Record<string, string>> {
  return { timestamp: formatTimestamp(line.time), severity: line.severity, message: line.message };
}

/** Ids are UUIDv7, so their order is that of creation, and an id is a cursor. */
function listEntries(entries: readonly Entry[], ownerId: string, filter: ListFilter): Page<ExecutionRecord> {
  const matching = entries
    .map((entry) => entry.record)
    .filter((record) => record.ownerId === ownerId)
    .filter((record) => filter.status === undefined || record.status === filter.status)
    .filter((record) => filter.createdAfter === undefined || record.createdAt >= filter.createdAfter)
    .filter((record) => filter.createdBefore === undefined || record.createdAt < filter.createdBefore)
    .filter((record) => filter.cursor === undefined || record.id < filter.cursor)
    .sort((a, b) => (a.id < b.id ? 1 : -1));
  const items = matching.slice(0, filter.limit);
  return { items, nextCursor: matching.length > filter.limit ? (items.at(-1)?.id ?? null) : null };
}
