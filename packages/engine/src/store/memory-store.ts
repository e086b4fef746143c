import { createHash } from "node:crypto";
import { formatTimestamp, isFinal } from "@platform/contract/execution";
import { LOG_PAGE_BYTES } from "@platform/contract/limits";
import { Problem } from "@platform/contract/problems";
import type { Resources } from "@platform/contract/project";
import { fits } from "../base/capacity.ts";
import type { ContentName } from "../content/result-store.ts";
import type { LogLine } from "../python/port/runtime.ts";
import { CANCELLED_BETWEEN } from "./retry-rules.ts";
import { CANCELLED_BEFORE } from "./execution-store.ts";
import { refuseCursor } from "./refuse-cursor.ts";
import type {
  ExecutionRecord,
  ExecutionStore,
  ListFilter,
  LogPage,
  NewExecution,
  Page,
} from "./execution-store.ts";
import type { ExecutionDigests } from "./digests.ts";
import { createClaims, createEnds } from "./memory-claims.ts";
import { createMemoryBatches } from "./memory-batches.ts";
import { createMemoryEntries, isResumed, readLive } from "./memory-entries.ts";
import { createMemoryKeys } from "./memory-keys.ts";
import type { MemoryKeys } from "./memory-keys.ts";
import { toFirstAnswer } from "./idempotency.ts";
import type { IdempotencyKey, StartStore } from "./idempotency.ts";
import type { Entry, MemoryEntries, NoteState } from "./memory-entries.ts";
import { kindOf } from "./kinds.ts";
import { findRank, getPriority } from "./memory-queue.ts";
import { createReleases } from "./memory-held.ts";
import { createMemoryLimits } from "./memory-limits.ts";
import type { MemoryLimits } from "./memory-limits.ts";
import { SURVEY, isSurveyed } from "./survey.ts";
import { createMemoryWorkers } from "./memory-workers.ts";
import type { MemoryWorkers } from "./memory-workers.ts";

/** A store in memory, which is told the limits of services: it knows no policies. */
export interface MemoryStore extends ExecutionStore, Pick<MemoryLimits, "setLimits"> {}

/** The store of `platform serve`: in the memory of this process, lost at its end. */
export function createMemoryStore(noteState?: NoteState): MemoryStore {
  const entries = createMemoryEntries(noteState);
  const workers = createMemoryWorkers();
  const keys = createMemoryKeys();
  const records = createRecords(entries);
  const limits = createMemoryLimits(entries);
  return {
    ...createStarts(entries, keys, { listWorkers: workers.list, findPlaces: limits.findPlaces }),
    ...records,
    ...createMemoryBatches(entries, { keys, cancel: records.cancel }),
    ...createReads(entries),
    ...createClaims(entries),
    ...createEnds(entries),
    ...createReleases(entries, limits),
    setLimits: limits.setLimits,
    surveyLimits: limits.surveyLimits,
    countPending: async () => countPending(entries, false),
    countDelayed: async () => countPending(entries, true),
    surveyQueue: async () =>
      KINDS.flatMap((kind) =>
        entries
          .listPending()
          .filter(({ priority }) => kindOf(priority) === kind)
          .slice(0, SURVEY.most)
          .map(({ record, priority, rank }, ahead) => ({ priority, rank, id: record.id, ahead }))
          .filter(({ ahead }) => isSurveyed(ahead)),
      ),
    report: async (report) => workers.report(report, entries.listReady()),
    leave: async (workerId) => workers.leave(workerId),
    listWorkers: async (kind = "service") => workers.list(kind),
    subscribe: entries.subscribe,
  };
}

const KINDS = ["backend", "service"] as const;

/** By owner. */
function countPending({ byId }: MemoryEntries, isDelayed: boolean): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { record, held } of byId.values()) {
    if (record.status === "PENDING" && (held === "START_AT") === isDelayed)
      counts.set(record.ownerId, (counts.get(record.ownerId) ?? 0) + 1);
  }
  return counts;
}

/** How executions come to be there. */
function createStarts(
  entries: MemoryEntries,
  keys: MemoryKeys,
  {
    listWorkers,
    findPlaces,
  }: Pick<MemoryLimits, "findPlaces"> & { readonly listWorkers: MemoryWorkers["list"] },
): StartStore {
  const findStarted = (ownerId: string, key: IdempotencyKey): ExecutionRecord | null => {
    const known = keys.find(ownerId, key);
    if (known === null) return null;
    const record = entries.findOwned(known.id, ownerId)?.record ?? toFirstAnswer(known);
    return { ...record, isRepeated: true };
  };
  const placeNew = (execution: Pick<NewExecution, "owner" | "resources" | "priority">) => {
    const priority = getPriority(execution);
    return { priority, rank: findRank({ execution, priority }, entries.byId.values()) };
  };
  return {
    findStarted: async (ownerId, key) => findStarted(ownerId, key),
    foresee: async (start) => {
      const { owner, limitKey } = start;
      const places = limitKey === undefined ? null : findPlaces(limitKey, owner.id);
      return {
        place: placeNew(start),
        hasRoom: hasRoom(start, listWorkers(kindOf(getPriority(start))), entries.byId.values()),
        ...(places === null ? {} : { places }),
      };
    },
    create: async (execution) => {
      const known = entries.byId.get(execution.id);
      if (known !== undefined) {
        if (known.record.ownerId !== execution.owner.id) throw new Problem("CONFLICT", "The id is taken.");
        return known.record;
      }
      const { key, owner } = execution;
      const started = key === undefined ? null : findStarted(owner.id, key);
      if (started !== null) return started;
      // A copy from before the event: a worker of this process may claim the execution during it.
      const entry = entries.add(execution, placeNew(execution).rank);
      const record = entry.held === null ? entry.record : readLive(entry);
      if (key !== undefined) keys.add(key, record);
      entries.emit({ type: entry.held === null ? "pending" : "held" });
      return record;
    },
  };
}

/** One worker runs all of a kind. */
function hasRoom(
  wanted: Pick<NewExecution, "resources" | "priority">,
  [worker]: readonly Resources[],
  entries: Iterable<Entry>,
): boolean {
  if (worker === undefined) return false;
  const kind = kindOf(getPriority(wanted));
  let { cpu, memory } = worker;
  for (const { record, priority } of entries) {
    if (record.status !== "RUNNING" || kindOf(priority) !== kind) continue;
    cpu -= record.resources.cpu;
    memory -= record.resources.memory;
  }
  return fits(wanted.resources, { cpu, memory });
}

/** The operations of callers on their executions. */
function createRecords(entries: MemoryEntries): Pick<ExecutionStore, "find" | "list" | "cancel"> {
  return {
    find: async (id, ownerId) => {
      const entry = entries.findOwned(id, ownerId);
      return entry === undefined ? null : readLive(entry);
    },
    list: async (ownerId, filter) => listEntries([...entries.byId.values()], ownerId, filter),
    cancel: async (id, ownerId) => {
      const entry = entries.findOwned(id, ownerId);
      if (entry === undefined) return null;
      if (entry.record.status === "PENDING" && !isResumed(entry))
        entries.move(entry, {
          status: "FAILED",
          failure: entry.attempts.length === 0 ? CANCELLED_BEFORE : CANCELLED_BETWEEN,
        });
      if (!isFinal(entry.record.status)) {
        entry.isCancelRequested = true;
        entries.emit({ type: "cancel", id });
      }
      return entry.record;
    },
  };
}

/** What executions have left, and what changes of them. */
function createReads(
  entries: MemoryEntries,
): Pick<ExecutionStore, "readResult" | "readDigests" | "readCheckpoint" | "readLog" | "readChanges"> {
  return {
    readResult: async (id, ownerId) => entries.findOwned(id, ownerId)?.result ?? null,
    readDigests: async (id, ownerId) => {
      const entry = entries.findOwned(id, ownerId);
      return entry === undefined ? null : describeDigests(entry);
    },
    readCheckpoint: async (id, ownerId) => entries.findOwned(id, ownerId)?.checkpoint ?? null,
    readLog: async (id, ownerId, cursor, pageBytes = LOG_PAGE_BYTES) => {
      const entry = entries.findOwned(id, ownerId);
      return entry === undefined ? null : readLogPage(entry, pageBytes, cursor);
    },
    readChanges: async (watched) =>
      watched.flatMap(({ id, ownerId, status, logPosition }) => {
        const entry = entries.findOwned(id, ownerId);
        if (entry === undefined) return [];
        const hasMoreLog = logPosition !== null && Number(logPosition) < entry.log.length;
        return hasMoreLog || entry.record.status !== status ? [{ record: entry.record, hasMoreLog }] : [];
      }),
  };
}

function describeDigests({ execution, result }: Entry): ExecutionDigests {
  const { body, references } = execution;
  return {
    input: { ...nameContent(body), references },
    result: result === null ? null : (result.output?.result ?? nameContent(result.result)),
    files: result?.output?.files ?? [],
    metadata: result?.metadata ?? null,
  };
}

function nameContent(content: Uint8Array): ContentName {
  return { hash: createHash("sha256").update(content).digest("hex"), bytes: content.byteLength };
}

/** The cursor counts lines. */
function readLogPage({ log, record }: Entry, pageBytes: number, cursor = "0"): LogPage {
  if (!/^\d{1,15}$/.test(cursor)) throw refuseCursor();
  const lines: string[] = [];
  let bytes = 0;
  for (let at = Number(cursor); at < log.length && bytes < pageBytes; at += 1) {
    const line = log[at];
    if (line === undefined) break;
    const text = JSON.stringify(toLogEntry(line));
    lines.push(text);
    bytes += Buffer.byteLength(text);
  }
  const next = Number(cursor) + lines.length;
  return {
    lines: Buffer.from(`[${lines.join(",")}]`),
    nextCursor: next >= log.length && isFinal(record.status) ? null : String(next),
    position: String(next),
  };
}

function toLogEntry(line: LogLine): Readonly<Record<string, string>> {
  return { timestamp: formatTimestamp(line.time), severity: line.severity, message: line.message };
}

/** Ids are UUIDv7, so their order is that of creation, and an id is a cursor. */
function listEntries(entries: readonly Entry[], ownerId: string, filter: ListFilter): Page<ExecutionRecord> {
  const matching = entries
    .map(readLive)
    .filter((record) => record.ownerId === ownerId)
    .filter((record) => filter.status === undefined || record.status === filter.status)
    .filter((record) => filter.createdAfter === undefined || record.createdAt >= filter.createdAfter)
    .filter((record) => filter.createdBefore === undefined || record.createdAt < filter.createdBefore)
    .filter((record) => filter.cursor === undefined || record.id < filter.cursor)
    .sort((a, b) => (a.id < b.id ? 1 : -1));
  const items = matching.slice(0, filter.limit);
  return { items, nextCursor: matching.length > filter.limit ? (items.at(-1)?.id ?? null) : null };
}
