import { isFinal } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import { readMonotonic } from "../base/monotonic.ts";
import { MAX_WATCHED } from "../store/watched.ts";
import type { ExecutionRecord, ExecutionStore, StoreEvent } from "../store/execution-store.ts";

/** The longest that a change stays unseen whose event was lost, or was made by another process that sends none: lines, and claims. Milliseconds. */
const LOOK_EVERY_MS = 500;
/** Lines of one execution are read at most so often. Milliseconds. */
const PACE_MS = 100;

/** What a stream waits for, and what it knows. */
export interface Watch {
  readonly id: string;
  readonly ownerId: string;
  /** The latest that is known; null: none is yet. */
  record: ExecutionRecord | null;
  /** Where its next lines begin; missing: with the first; null: it shows none. */
  logPosition: string | null | undefined;
  hasMoreLog: boolean;
  /** Not null: the stream is to end. */
  ending: { readonly problem: Problem | null } | null;
  /** Resolves once there is something to do. */
  readonly more: () => Promise<void>;
  /** Null: nothing waits. */
  wake: (() => void) | null;
  /** What it was woken for is not looked at yet. */
  isDue: boolean;
  pacedUntil: number;
}

type Asked = Pick<Watch, "id" | "ownerId" | "logPosition">;

/** Where the watches read. */
export interface WatchSources {
  readonly find: (id: string, ownerId: string) => Promise<ExecutionRecord | null>;
  readonly readChanges: ExecutionStore["readChanges"];
  /** Milliseconds; default: the monotonic clock. */
  readonly now?: () => number;
}

/** What the streams of this process wait for. */
export interface Watches {
  readonly create: (asked: Asked) => Watch;
  /** Begins to look; returns what ends it. */
  readonly add: (watch: Watch) => () => void;
  readonly stop: (watch: Watch, problem: Problem | null) => void;
  readonly notice: (event: StoreEvent) => void;
  readonly close: () => void;
}

interface State extends Required<WatchSources> {
  /** By the id of the execution. */
  readonly byId: Map<string, Set<Watch>>;
  /** Have more lines, and have read a moment ago. */
  readonly paced: Set<Watch>;
  pacing: NodeJS.Timeout | null;
  looking: NodeJS.Timeout | null;
  isLooking: boolean;
  isClosed: boolean;
}

/** Looks at nothing while there is no watch. */
export function createWatches({ find, readChanges, now = readMonotonic }: WatchSources): Watches {
  const state: State = {
    find,
    readChanges,
    now,
    byId: new Map(),
    paced: new Set(),
    pacing: null,
    looking: null,
    isLooking: false,
    isClosed: false,
  };
  return {
    create: (asked) => createWatch(state, asked),
    add: (watch) => add(state, watch),
    stop: end,
    notice: (event) => notice(state, event),
    close: () => {
      state.isClosed = true;
      for (const watches of state.byId.values()) for (const watch of watches) end(watch, createStopping());
    },
  };
}

function createStopping(): Problem {
  return new Problem("UNAVAILABLE", "The server stops. Connect again to go on.");
}

function createWatch(state: State, { id, ownerId, logPosition }: Asked): Watch {
  const watch: Watch = {
    id,
    ownerId,
    record: null,
    logPosition,
    hasMoreLog: false,
    ending: null,
    wake: null,
    isDue: false,
    pacedUntil: -Infinity,
    more: async () => {
      if (!watch.isDue && watch.ending === null)
        await new Promise<void>((resolve) => {
          watch.wake = resolve;
        });
      watch.wake = null;
      watch.isDue = false;
      watch.pacedUntil = state.now() + PACE_MS;
    },
  };
  return watch;
}

function add(state: State, watch: Watch): () => void {
  const watches = state.byId.get(watch.id) ?? new Set();
  state.byId.set(watch.id, watches.add(watch));
  state.looking ??= setInterval(() => void look(state), LOOK_EVERY_MS);
  if (state.isClosed) end(watch, createStopping());
  return () => {
    watches.delete(watch);
    state.paced.delete(watch);
    if (watches.size === 0) state.byId.delete(watch.id);
    if (state.byId.size > 0) return;
    clearInterval(state.looking ?? undefined);
    clearTimeout(state.pacing ?? undefined);
    state.looking = null;
    state.pacing = null;
  };
}

function end(watch: Watch, problem: Problem | null): void {
  watch.ending ??= { problem };
  wake(watch);
}

function wake(watch: Watch): void {
  watch.isDue = true;
  watch.wake?.();
}

function notice(state: State, event: StoreEvent): void {
  if (event.type === "reset") void look(state);
  if (event.type !== "changed" && event.type !== "log" && event.type !== "progress") return;
  const watches = state.byId.get(event.id);
  if (watches === undefined) return;
  if (event.type === "log") for (const watch of watches) noteLog(state, watch);
  else if (event.type === "changed" && event.record !== undefined)
    for (const watch of watches) noteRecord(watch, event.record);
  else void refresh(state, event.id, watches);
}

/** A final state never changes, and an older one may come late. */
function noteRecord(watch: Watch, record: ExecutionRecord): void {
  const { record: known } = watch;
  if (record.ownerId !== watch.ownerId || (known !== null && isFinal(known.status))) return;
  watch.record = record;
  wake(watch);
}

function noteLog(state: State, watch: Watch): void {
  if (watch.logPosition === null) return;
  watch.hasMoreLog = true;
  if (watch.pacedUntil <= state.now()) return wake(watch);
  state.paced.add(watch);
  state.pacing ??= setTimeout(() => {
    state.pacing = null;
    for (const paced of state.paced) wake(paced);
    state.paced.clear();
  }, PACE_MS);
}

/** One query for each owner that watches it: nearly always one. What fails, the next look brings. */
async function refresh(state: State, id: string, watches: ReadonlySet<Watch>): Promise<void> {
  const owners = new Set([...watches].map(({ ownerId }) => ownerId));
  for (const ownerId of owners) {
    const record = await state.find(id, ownerId).catch(() => null);
    if (record !== null) for (const watch of watches) noteRecord(watch, record);
  }
}

/** Asks for all streams that have shown what they know. */
async function look(state: State): Promise<void> {
  if (state.isLooking) return;
  state.isLooking = true;
  try {
    const waiting = [...state.byId.values()].flatMap((watches) => [...watches].filter(isWaiting));
    for (let at = 0; at < waiting.length; at += MAX_WATCHED)
      await lookAt(state, waiting.slice(at, at + MAX_WATCHED));
  } catch {
    // The store is away: streams stay, and the next look brings what has happened.
  } finally {
    state.isLooking = false;
  }
}

function isWaiting({ wake: waiting, isDue, record }: Watch): boolean {
  return waiting !== null && !isDue && record !== null;
}

async function lookAt(state: State, watches: readonly Watch[]): Promise<void> {
  const changes = await state.readChanges(
    watches.flatMap(({ id, ownerId, record, logPosition }) =>
      record === null ? [] : [{ id, ownerId, status: record.status, logPosition: logPosition ?? null }],
    ),
  );
  for (const { record, hasMoreLog } of changes)
    for (const watch of state.byId.get(record.id) ?? []) {
      if (watch.record?.status !== record.status) noteRecord(watch, record);
      if (hasMoreLog && record.ownerId === watch.ownerId) noteLog(state, watch);
    }
}
