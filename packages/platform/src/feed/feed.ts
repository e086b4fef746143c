import { createDeferred } from "@platform/engine/base/deferred";
import { Problem } from "@platform/contract/problems";
import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND } from "@platform/engine/base/time";
import type { Logger } from "@platform/engine/base/logger";
import type { StoreEvent } from "@platform/engine/store/execution-store";
import { findStart } from "../store/feed/feed.ts";
import type { FeedEvent, FeedReader, FeedStore } from "../store/feed/feed.ts";
import { shareReads } from "./share-reads.ts";

/*
 * The feed in one process: it gives committed changes their positions, and wakes who waits for them. While somebody waits here it does so at
 * each event of the store and twice a second; otherwise once a second, as every process, so that nothing is left without a position.
 * Whatever wakes a reader, it reads from its own position: a lost event delays it, and it misses nothing.
 */

const TICK_MS = 0.5 * SECOND;
/** Between two rounds: changes that come together get their positions together. */
const PACE_MS = 5;
/** Changes of a round whose readers are looked for one by one; beyond it, all are woken. */
const MAX_MATCHED = 1_000;

/** Some events, and the position behind them. */
interface FeedPage {
  readonly events: readonly FeedEvent[];
  readonly position: number;
}

/** What is asked of the feed. */
interface FeedQuestion {
  /** Whose events; null: all. */
  readonly reader: FeedReader | null;
  /** A position that was given; `null`: from now on. */
  readonly after: number;
  readonly limit: number;
  /** For how long to wait where there is none. */
  readonly seconds: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** The feed of changes of state, for readers of this process. */
export interface Feed {
  /** Where a cursor begins; undefined: now. @throws Problem CURSOR_EXPIRED, INVALID_INPUT */
  readonly findStart: (cursor: string | undefined) => Promise<number>;
  /** The next events; none once the seconds are over. */
  readonly read: (question: FeedQuestion) => Promise<FeedPage>;
  /** Ends all waits, and the work in the background. */
  readonly close: () => Promise<void>;
}

/** What the feed works with. */
export interface FeedOptions {
  readonly store: Pick<FeedStore, "sequence" | "read" | "readRange">;
  readonly executions: { readonly subscribe: (listener: (event: StoreEvent) => void) => () => void };
  readonly logger: Logger;
}

interface State extends FeedOptions {
  /** For readers, of which there may be thousands. */
  readonly readShared: FeedStore["read"];
  /** By `keyOf` the reader. */
  readonly waiting: Map<string, Set<() => void>>;
  /** Up to where readers were woken. Whatever reads from now on sees all up to there. */
  seen: number;
  round: Promise<void> | null;
  /** Something has happened since the round began. */
  isDue: boolean;
  endedAt: number;
  ticks: number;
  isClosed: boolean;
}

/** Starts giving positions at once. */
export function createFeed(options: FeedOptions): Feed {
  const state: State = {
    ...options,
    readShared: shareReads(options.store.read),
    waiting: new Map(),
    seen: 0,
    round: null,
    isDue: false,
    endedAt: -Infinity,
    ticks: 0,
    isClosed: false,
  };
  const { store, executions } = options;
  const unsubscribe = executions.subscribe(({ type }) => {
    if (state.waiting.size > 0 && (type === "changed" || type === "pending" || type === "reset"))
      begin(state);
  });
  const timer = setInterval(() => {
    state.ticks += 1;
    if (state.waiting.size > 0 || state.ticks % 2 === 0) begin(state);
  }, TICK_MS);
  return {
    findStart: async (cursor) => {
      if (cursor === undefined) return await store.sequence();
      return findStart(cursor, await store.readRange());
    },
    read: (question) => read(state, question),
    close: async () => {
      state.isClosed = true;
      clearInterval(timer);
      unsubscribe();
      wakeAll(state);
      await state.round;
    },
  };
}

/** One round at a time; what happens during it gets another one. */
function begin(state: State): void {
  state.isDue = true;
  if (state.isClosed) return;
  state.round ??= run(state).finally(() => {
    state.round = null;
    if (state.isDue) begin(state);
  });
}

async function run(state: State): Promise<void> {
  const pauseMs = state.endedAt + PACE_MS - readMonotonic();
  if (pauseMs > 0)
    await new Promise((resolve) => {
      setTimeout(resolve, pauseMs);
    });
  state.isDue = false;
  try {
    await step(state);
  } catch (error) {
    // Readers poll by themselves once they have waited; the next round gives the positions.
    state.logger.debug({ err: error }, "the feed could not be written");
  }
  state.endedAt = readMonotonic();
}

async function step(state: State): Promise<void> {
  const head = await state.store.sequence();
  const after = state.seen;
  if (head === after) return;
  const keys = await findWoken(state, after, head);
  // Not before: where they cannot be read, the next round wakes their readers.
  state.seen = head;
  if (keys === null) wakeAll(state);
  else for (const key of keys) wake(state.waiting.get(key));
}

/** Whose changes are behind a position; null: perhaps of all. */
async function findWoken(
  { waiting, store }: State,
  after: number,
  head: number,
): Promise<ReadonlySet<string> | null> {
  if (waiting.size === 0) return new Set();
  // The first round, many changes, or a database that was restored from a backup.
  if (after === 0 || head - after > MAX_MATCHED || head < after) return null;
  const events = await store.read(null, after, MAX_MATCHED);
  return new Set(events.flatMap(listKeys));
}

function keyOf(reader: FeedReader | null): string {
  return reader === null ? "" : `${reader.kind} ${reader.id}`;
}

function listKeys({ applicationId, organisationId, providerId }: FeedEvent): readonly string[] {
  return ["", `application ${applicationId}`, `organisation ${organisationId}`, `organisation ${providerId}`];
}

function wake(waiting: Iterable<() => void> | undefined): void {
  for (const resolve of waiting ?? []) resolve();
}

function wakeAll(state: State): void {
  for (const waiting of state.waiting.values()) wake(waiting);
}

async function read(state: State, question: FeedQuestion): Promise<FeedPage> {
  const { reader, limit, seconds, signal } = question;
  let { after } = question;
  if (state.isClosed) throw new Problem("UNAVAILABLE", "The server stops. Connect again to go on.");
  const deadline = readMonotonic() + seconds * SECOND;
  for (;;) {
    // Before the query, so that what is committed during it wakes.
    const waiting = wait(state, keyOf(reader), signal);
    const { seen } = state;
    const events = await state.readShared(reader, after, limit).catch((error: unknown) => {
      waiting.leave();
      throw error;
    });
    const leftMs = deadline - readMonotonic();
    const last = events.at(-1);
    if (last !== undefined || leftMs <= 0 || signal.aborted || state.isClosed) {
      waiting.leave();
      return { events, position: last?.position ?? Math.max(after, seen) };
    }
    // There is none up to here. Who has none for a week is not left at a place that expires.
    after = Math.max(after, seen);
    begin(state);
    await waiting.until(leftMs);
  }
}

interface Waiting {
  /** Resolves once something is there for the reader, the time is over, or its caller is gone. */
  readonly until: (milliseconds: number) => Promise<void>;
  readonly leave: () => void;
}

function wait(state: State, key: string, signal: AbortSignal): Waiting {
  const all = state.waiting.get(key) ?? new Set();
  const woken = createDeferred<void>();
  const resolve = () => woken.resolve();
  state.waiting.set(key, all.add(resolve));
  signal.addEventListener("abort", resolve, { once: true });
  const leave = () => {
    signal.removeEventListener("abort", resolve);
    all.delete(resolve);
    if (all.size === 0 && state.waiting.get(key) === all) state.waiting.delete(key);
  };
  return {
    leave,
    until: async (milliseconds) => {
      const timer = setTimeout(resolve, milliseconds);
      await woken.promise;
      clearTimeout(timer);
      leave();
    },
  };
}
