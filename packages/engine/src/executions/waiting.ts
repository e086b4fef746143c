import { formatTimestamp, isFinal } from "@platform/contract/execution";
import type { Waiting } from "@platform/contract/execution";
import type { ProjectKind, Resources } from "@platform/contract/project";
import { createGlimpse } from "../base/glimpse.ts";
import type { Glimpse } from "../base/glimpse.ts";
import { SECOND } from "../base/time.ts";
import { fits } from "../base/capacity.ts";
import { readMonotonic } from "../base/monotonic.ts";
import { kindOf } from "../store/kinds.ts";
import { SURVEY } from "../store/survey.ts";
import type { ExecutionRecord, ExecutionStore, QueuePlace, QueuedState } from "../store/execution-store.ts";
import type { ForeseenStart, StartOutlook } from "../store/start-outlook.ts";
import type { DelayedState } from "../store/held.ts";
import type { LimitLine } from "../store/limit-line.ts";
import { explainLimit, foreseeLimit, takePlaces } from "./waiting-limits.ts";
import { createDurations } from "./durations.ts";
import type { Durations } from "./durations.ts";
import type { RateMeter } from "./rate-meter.ts";

/*
 * What an execution waits for, and when it is worth asking again. All of it is read in the background while records of executions that are
 * not final are read, so that a poll costs no query for it; it may be out of date by a few seconds.
 */

/** Workers and queue are read so often, and not believed when they are older. Milliseconds. */
const READ_EVERY_MS = 3 * SECOND;
const BELIEVED_MS = 10 * SECOND;
/** The rate at which executions end is one of short ones, and tells how the queue moves, from so many a second on. */
const TELLING_RATE = 0.5;
/** Bounds of `Retry-After`. */
const MAX_RETRY_SECONDS = 60;
/** The same where it is known when it can begin at the earliest: before, it can only be cancelled. */
const MAX_RETRY_HELD_SECONDS = 600;
/** A run that takes longer than nine of ten others: ask again after this share of the time that it has taken. */
const LATE_SHARE = 0.1;

/** Behind every other of its rank. */
const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** What estimates are made of. */
export interface WaitingOptions {
  /** How many executions end, whoever runs them. */
  readonly ends: Pick<RateMeter, "perSecond" | "isSettled">;
  /** Milliseconds that never go back; default: the monotonic clock. */
  readonly now?: () => number;
  /** Milliseconds since the epoch; default: the time of day. */
  readonly readTime?: () => number;
}

/** What is known of the platform at the moment; null: unknown. */
interface Situation {
  /** Those that run executions of its kind. */
  readonly workers: readonly Resources[] | null;
  /** Of its kind. */
  readonly queue: readonly QueuePlace[] | null;
  readonly durations: Durations | null;
  /** Ends a second; null: unknown, so few that they say nothing, or of a kind that has hardly a part in them. */
  readonly rate: number | null;
}

/** What executions wait for. */
export interface WaitingTeller {
  /** The record, with `waiting` and `retryAfterSeconds` where it is not final. Without waiting itself. */
  readonly describe: (record: ExecutionRecord) => ExecutionRecord;
  /** What an execution would wait for that is created now, after so many like it of the same owner, and how long such runs take. */
  readonly foresee: (
    start: ForeseenStart,
    outlook: Pick<StartOutlook, "place" | "hasRoom" | "places">,
    before?: number,
  ) => Promise<{ readonly waiting: Waiting; readonly durations: Durations | null }>;
}

/** Reads what it tells in the background. */
export function createWaiting(
  store: ExecutionStore,
  { ends, now = readMonotonic, readTime = Date.now }: WaitingOptions,
): WaitingTeller {
  const often = { everyMs: READ_EVERY_MS, believedMs: BELIEVED_MS, now };
  const reads: Reads = {
    workers: {
      service: createGlimpse(() => store.listWorkers("service"), often),
      backend: createGlimpse(() => store.listWorkers("backend"), often),
    },
    queue: createGlimpse(() => surveyByKind(store), often),
    limits: createGlimpse(store.surveyLimits, often),
    durations: createDurations(store, now),
    rate: (kind) => {
      // Most of what ends are services, and their queue is another one.
      if (kind === "backend") return null;
      const perSecond = ends.isSettled() ? ends.perSecond() : 0;
      return perSecond >= TELLING_RATE ? perSecond : null;
    },
    time: readTime,
  };
  return {
    describe: (record) => {
      if (isFinal(record.status)) return record;
      const kind = readKind(record);
      const situation = {
        workers: reads.workers[kind](),
        queue: reads.queue()?.[kind] ?? null,
        durations: reads.durations(record),
        rate: reads.rate(kind),
      };
      if (record.status !== "PENDING") return describeRunning(record, situation, readTime());
      const { live } = record;
      if (live === undefined || !("held" in live)) return describePending(record, situation, readTime());
      if (live.held === "LIMIT")
        return describeLimited(record, live.limitKey ?? null, {
          limits: reads.limits(),
          durations: situation.durations,
        });
      return describeHeld(record, live, readTime());
    },
    foresee: createForesee(reads),
  };
}

/** What is read in the background. */
interface Reads {
  readonly workers: Readonly<Record<ProjectKind, Glimpse<readonly Resources[]>>>;
  readonly queue: Glimpse<Readonly<Record<ProjectKind, readonly QueuePlace[]>>>;
  readonly limits: Glimpse<readonly LimitLine[]>;
  readonly durations: ReturnType<typeof createDurations>;
  readonly rate: (kind: ProjectKind) => number | null;
  readonly time: () => number;
}

function createForesee({ workers, queue, limits, durations, rate, time }: Reads): WaitingTeller["foresee"] {
  return async (
    { owner, versionId, resources, startAt = -Infinity, limitKey = null },
    { place, hasRoom, places },
    before = 0,
  ) => {
    const kind = kindOf(place.priority);
    const [ofKind, queues, known, lines] = await Promise.all([
      workers[kind].settle(),
      queue.settle(),
      durations.settle({ ownerId: owner.id, versionId }),
      limitKey === null ? [] : limits.settle(),
    ]);
    if (startAt > time()) return { waiting: describeStartAt(startAt, time()), durations: known };
    if (limitKey !== null && places !== undefined) {
      const limit = { places: takePlaces(places, before), lines, durations: known };
      const limited = foreseeLimit({ ownerId: owner.id, limitKey }, limit);
      if (limited !== null) return { waiting: limited, durations: known };
    }
    const wanted = { id: LAST_ID, resources, live: { ...place, isPausing: false } };
    const situation = { workers: ofKind, queue: queues && queues[kind], durations: known, rate: rate(kind) };
    const waiting = explain(wanted, situation, time(), before);
    // Nothing is before it that would take the room.
    const isNext = hasRoom && waiting.position === 0;
    return { waiting: isNext ? { ...waiting, estimateSeconds: 1 } : waiting, durations: known };
  };
}

async function surveyByKind(
  store: Pick<ExecutionStore, "surveyQueue">,
): Promise<Readonly<Record<ProjectKind, readonly QueuePlace[]>>> {
  const places = await store.surveyQueue();
  const of = (kind: ProjectKind) => places.filter(({ priority }) => kindOf(priority) === kind);
  return { service: of("service"), backend: of("backend") };
}

/** For what does not wait in the queue, it does not matter. */
function readKind({ live }: ExecutionRecord): ProjectKind {
  return live !== undefined && "priority" in live ? kindOf(live.priority) : "service";
}

function describeLimited(
  record: ExecutionRecord,
  limitKey: string | null,
  {
    limits,
    durations,
  }: { readonly limits: readonly LimitLine[] | null; readonly durations: Durations | null },
): ExecutionRecord {
  const waiting = explainLimit({ ...record, limitKey }, limits, durations);
  return { ...record, waiting, retryAfterSeconds: boundRetry(waiting.estimateSeconds ?? 1) };
}

function describeHeld(record: ExecutionRecord, { startAt }: DelayedState, time: number): ExecutionRecord {
  if (startAt === null) return { ...record, waiting: { reason: "START_AT" }, retryAfterSeconds: 1 };
  const waiting = describeStartAt(startAt, time);
  const retryAfterSeconds = Math.min(MAX_RETRY_HELD_SECONDS, waiting.estimateSeconds);
  return { ...record, waiting, retryAfterSeconds };
}

function describeStartAt(startAt: number, time: number) {
  return {
    reason: "START_AT",
    startAt: formatTimestamp(startAt),
    estimateSeconds: toSeconds((startAt - time) / SECOND),
  } as const;
}

function describePending(record: ExecutionRecord, situation: Situation, time: number): ExecutionRecord {
  const waiting = explain(record, situation, time, 0);
  return { ...record, waiting, retryAfterSeconds: boundRetry(waiting.estimateSeconds ?? 1) };
}

function explain(
  { id, resources, live }: Pick<ExecutionRecord, "id" | "resources" | "live">,
  situation: Situation,
  time: number,
  before: number,
): Waiting {
  const { workers, queue } = situation;
  if (workers?.length === 0) return { reason: "NO_WORKER" };
  if (workers !== null && !workers.some((capacity) => fits(resources, capacity)))
    return { reason: "NO_LARGE_WORKER" };
  if (live === undefined || !("rank" in live)) return { reason: "QUEUE" };
  if (live.retryAt !== undefined)
    return { reason: "RETRY", estimateSeconds: toSeconds((live.retryAt - time) / SECOND) };
  if (live.isPausing) return { reason: "SETBACK" };
  const found = queue === null ? null : findPosition({ ...live, id }, queue);
  if (found === null) return { reason: "QUEUE" };
  const position = found + before;
  const estimateSeconds = estimateStart(position, resources, situation);
  return { reason: "QUEUE", position, ...(estimateSeconds === null ? {} : { estimateSeconds }) };
}

/** How many are before it; null: beyond what was looked at. */
function findPosition(
  wanted: QueuedState & { readonly id: string },
  queue: readonly QueuePlace[],
): number | null {
  // The number of places that are not behind it.
  let low = 0;
  let high = queue.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const place = queue[middle];
    if (place !== undefined && isBehind(place, wanted)) high = middle;
    else low = middle + 1;
  }
  const last = queue[low - 1];
  if (last === undefined) return 0;
  if (last.id === wanted.id) return last.ahead;
  return low === queue.length && last.ahead + SURVEY.step >= SURVEY.most ? null : last.ahead + 1;
}

function isBehind(place: QueuePlace, wanted: Pick<QueuePlace, "priority" | "rank" | "id">): boolean {
  if (place.priority !== wanted.priority) return place.priority < wanted.priority;
  if (place.rank !== wanted.rank) return place.rank > wanted.rank;
  return place.id > wanted.id;
}

/**
 * After how many seconds it starts, as if those before it were like it: by the rate at which executions end, where many do, else by how long
 * its version runs and how many fit the workers at a time. Null: neither is known.
 */
function estimateStart(
  position: number,
  resources: Resources,
  { rate, durations, workers }: Situation,
): number | null {
  if (rate !== null) return toSeconds(position / rate);
  if (durations === null || workers === null) return null;
  const places = workers.reduce((sum, capacity) => sum + countFitting(resources, capacity), 0);
  return toSeconds(((position / places + 0.5) * durations.typical) / SECOND);
}

function countFitting(wanted: Resources, capacity: Resources): number {
  return Math.floor(Math.min(capacity.cpu / wanted.cpu, capacity.memory / wanted.memory));
}

function describeRunning(record: ExecutionRecord, { durations }: Situation, time: number): ExecutionRecord {
  const { live, startedAt } = record;
  const isPreparing = live !== undefined && "leaseUntil" in live && live.isPreparing;
  const ran = startedAt === null ? 0 : Math.max(0, time - startedAt);
  const retryAfterSeconds = boundRetry(durations === null ? 1 : estimateEnd(durations, ran) / SECOND);
  return isPreparing
    ? { ...record, waiting: { reason: "PREPARING" }, retryAfterSeconds }
    : { ...record, retryAfterSeconds };
}

/** After how many milliseconds a run that has taken so long ends. */
function estimateEnd({ typical, long }: Durations, ran: number): number {
  if (ran < typical) return typical - ran;
  return ran < long ? long - ran : ran * LATE_SHARE;
}

function toSeconds(seconds: number): number {
  return Math.max(1, Math.ceil(seconds));
}

function boundRetry(seconds: number): number {
  return Math.min(MAX_RETRY_SECONDS, toSeconds(seconds));
}
