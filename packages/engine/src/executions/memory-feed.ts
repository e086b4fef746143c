import { randomBytes } from "node:crypto";
import { Problem } from "@platform/contract/problems";
import { createDeferred } from "../base/deferred.ts";
import { readMonotonic } from "../base/monotonic.ts";
import { SECOND } from "../base/time.ts";
import type { ExecutionRecord } from "../store/execution-store.ts";
import { refuseCursor } from "../store/refuse-cursor.ts";

/** A change of state in memory. */
export interface MemoryFeedEvent {
  /** Counts from 1. */
  readonly position: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly record: ExecutionRecord;
}

/** The last changes of state of one process, in their order. */
export interface MemoryFeed {
  readonly add: (record: ExecutionRecord) => void;
  /** Where a cursor begins; undefined: now, `0`: the oldest that is kept. @throws Problem CURSOR_EXPIRED, INVALID_INPUT */
  readonly findStart: (cursor: string | undefined) => number;
  /** The next events; none once the seconds are over, the signal is aborted or the feed is closed. @throws Problem CURSOR_EXPIRED */
  readonly read: (question: {
    readonly after: number;
    readonly limit: number;
    readonly seconds: number;
    readonly signal: AbortSignal;
  }) => Promise<readonly MemoryFeedEvent[]>;
  /** Names this feed too: positions of the next process are others. */
  readonly encode: (position: number) => string;
  /** Ends all waits. */
  readonly close: () => void;
}

/** Events in memory; the oldest are forgotten first. */
const CAPACITY = 10_000;
const CURSOR = /^([0-9a-f]{8})-(\d{1,15})$/;

/** Empty at first. */
export function createMemoryFeed(capacity = CAPACITY): MemoryFeed {
  const name = randomBytes(4).toString("hex");
  // A ring: the event of a position stands at its remainder.
  const kept: MemoryFeedEvent[] = [];
  const waiting = new Set<() => void>();
  let last = 0;
  let isClosed = false;
  const readFirst = () => Math.max(0, last - capacity);
  const list = (after: number, limit: number): readonly MemoryFeedEvent[] => {
    const events: MemoryFeedEvent[] = [];
    // Of a reader that is so far behind: what it would read next is forgotten.
    if (after < readFirst()) throw new Problem("CURSOR_EXPIRED");
    for (let position = after + 1; position <= last; position += 1) {
      const event = kept[position % capacity];
      if (event === undefined || events.length >= limit) break;
      events.push(event);
    }
    return events;
  };
  const wakeAll = () => {
    for (const wake of waiting) wake();
  };
  return {
    add: (record) => {
      last += 1;
      kept[last % capacity] = { position: last, at: Date.now(), record };
      wakeAll();
    },
    findStart: (cursor) => {
      if (cursor === undefined) return last;
      if (cursor === "0") return readFirst();
      const [, from, text = ""] = CURSOR.exec(cursor) ?? [];
      if (from === undefined) throw refuseCursor();
      const position = Number(text);
      if (from !== name || position < readFirst() || position > last) throw new Problem("CURSOR_EXPIRED");
      return position;
    },
    read: async ({ after, limit, seconds, signal }) => {
      const deadline = readMonotonic() + seconds * SECOND;
      for (;;) {
        const events = list(after, limit);
        const leftMs = deadline - readMonotonic();
        if (events.length > 0 || leftMs <= 0 || signal.aborted || isClosed) return events;
        await waitFor(waiting, leftMs, signal);
      }
    },
    encode: (position) => `${name}-${position}`,
    close: () => {
      isClosed = true;
      wakeAll();
    },
  };
}

async function waitFor(waiting: Set<() => void>, milliseconds: number, signal: AbortSignal): Promise<void> {
  const woken = createDeferred<void>();
  const wake = () => woken.resolve();
  waiting.add(wake);
  signal.addEventListener("abort", wake, { once: true });
  const timer = setTimeout(wake, milliseconds);
  await woken.promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", wake);
  waiting.delete(wake);
}
