import { Problem } from "@platform/contract/problems";
import { readMonotonic } from "@platform/engine/base/monotonic";

/*
 * Group commit. An item waits only while as many flushes as allowed are under way; all that wait are then flushed together. Measured with 32 callers: 8 times the rate of single inserts that notify, at lower latency.
 */

/** About as long as one try of a flush takes, so that no item waits for several flushes that fail one after the other. */
const MAX_WAIT_MS = 10_000;

/** How items are grouped and flushed. */
export interface BatchOptions<Item, Result> {
  /** Limits of one flush. A single item may be larger than `maxBytes`. */
  readonly maxItems: number;
  readonly maxBytes: number;
  /** How many flushes may be under way at the same time. */
  readonly maxInFlight: number;
  readonly measureBytes: (item: Item) => number;
  /** Items with the same key are never in two concurrent flushes, and keep their order. Missing: no such limit. */
  readonly keyOf?: (item: Item) => string;
  /** Writes all items or none; returns the results in the order of the items. */
  readonly flush: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Milliseconds; default: the monotonic clock. */
  readonly now?: () => number;
}

/** Writes items in groups. */
export interface Batcher<Item, Result> {
  /** Resolves or rejects with the item's flush. */
  readonly add: (item: Item) => Promise<Result>;
  /** Resolves when everything that was added is settled. */
  readonly drain: () => Promise<void>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  /** When it was added, by `now`. */
  readonly since: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

interface State<Item, Result> {
  readonly options: BatchOptions<Item, Result>;
  readonly now: () => number;
  queue: Waiting<Item, Result>[];
  /** Keys of what is under way. */
  readonly keys: Set<string>;
  inFlight: number;
  isScheduled: boolean;
  idle: (() => void)[];
}

/** Flushes items in the order in which they were added. */
export function createBatcher<Item, Result>(options: BatchOptions<Item, Result>): Batcher<Item, Result> {
  const state: State<Item, Result> = {
    options,
    now: options.now ?? readMonotonic,
    queue: [],
    keys: new Set(),
    inFlight: 0,
    isScheduled: false,
    idle: [],
  };
  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        state.queue.push({ item, since: state.now(), resolve, reject });
        schedule(state);
      }),
    drain: async () => {
      if (state.queue.length === 0 && state.inFlight === 0) return;
      await new Promise<void>((resolve) => {
        state.idle.push(resolve);
      });
    },
  };
}

/** Flushes at the end of this turn of the event loop, so that requests that arrived together are written together. */
function schedule<Item, Result>(state: State<Item, Result>): void {
  if (state.isScheduled || state.inFlight >= state.options.maxInFlight) return;
  state.isScheduled = true;
  setImmediate(() => {
    state.isScheduled = false;
    while (state.inFlight < state.options.maxInFlight) {
      const group = takeGroup(state);
      if (group.length === 0) break;
      void flush(state, group);
    }
  });
}

async function flush<Item, Result>(
  state: State<Item, Result>,
  group: readonly Waiting<Item, Result>[],
): Promise<void> {
  const { keyOf } = state.options;
  const keys = new Set(keyOf === undefined ? [] : group.map(({ item }) => keyOf(item)));
  for (const key of keys) state.keys.add(key);
  state.inFlight++;
  await settleGroup(state, group);
  state.inFlight--;
  for (const key of keys) state.keys.delete(key);
  if (state.queue.length > 0) schedule(state);
  else if (state.inFlight === 0) for (const resolve of state.idle.splice(0)) resolve();
}

/** The next items to flush; none when all that wait have keys that are under way. */
function takeGroup<Item, Result>(state: State<Item, Result>): readonly Waiting<Item, Result>[] {
  const { maxItems, maxBytes, measureBytes, keyOf } = state.options;
  const group: Waiting<Item, Result>[] = [];
  let rest: Waiting<Item, Result>[] = [];
  let bytes = 0;
  for (const [index, waiting] of state.queue.entries()) {
    if (keyOf !== undefined && state.keys.has(keyOf(waiting.item))) {
      rest.push(waiting);
      continue;
    }
    bytes += measureBytes(waiting.item);
    if (group.length > 0 && (group.length >= maxItems || bytes > maxBytes)) {
      rest = rest.concat(state.queue.slice(index));
      break;
    }
    group.push(waiting);
  }
  state.queue = rest;
  return group;
}

async function settleGroup<Item, Result>(
  state: State<Item, Result>,
  group: readonly Waiting<Item, Result>[],
): Promise<void> {
  try {
    const results = await state.options.flush(group.map(({ item }) => item));
    for (const [index, waiting] of group.entries()) settleOne(waiting, results[index]);
  } catch (error) {
    // An item that cannot be written fails alone, so the others are tried one by one; without a database all fail.
    const isAway = error instanceof Problem && error.code === "UNAVAILABLE";
    if (isAway) rejectOverdue(state, error);
    if (isAway || group.length === 1) for (const waiting of group) waiting.reject(error);
    else for (const waiting of group) await settleGroup(state, [waiting]);
  }
}

/** Rejects items that have waited long behind the failed flush: they would wait as long again for the same error. */
function rejectOverdue<Item, Result>(state: State<Item, Result>, cause: Problem): void {
  const overdue = state.now() - MAX_WAIT_MS;
  const isOverdue = ({ since }: Waiting<Item, Result>) => since < overdue;
  for (const waiting of state.queue.filter(isOverdue))
    waiting.reject(new Problem("UNAVAILABLE", undefined, { cause }));
  state.queue = state.queue.filter((waiting) => !isOverdue(waiting));
}

function settleOne<Item, Result>(waiting: Waiting<Item, Result>, result: Result | undefined): void {
  if (result === undefined) waiting.reject(new Error("A flush returned fewer results than items."));
  else waiting.resolve(result);
}

/** Many byte strings as one parameter. `starts` counts from 1, as SQL's `substr` does. */
export interface Slices {
  readonly bytes: Buffer;
  readonly starts: readonly number[];
  readonly lengths: readonly number[];
}

/** Joins byte strings into one binary parameter that SQL slices: an array of bytea would be sent as escaped text. */
export function concatenate(parts: readonly Uint8Array[]): Slices {
  const starts: number[] = [];
  const lengths: number[] = [];
  let offset = 1;
  for (const part of parts) {
    starts.push(offset);
    lengths.push(part.byteLength);
    offset += part.byteLength;
  }
  return { bytes: Buffer.concat(parts), starts, lengths };
}

/** The columns of rows, each an array, as SQL's `unnest` takes them. At least one row. */
export function toArrays(rows: readonly (readonly unknown[])[]): readonly (readonly unknown[])[] {
  return (rows[0] ?? []).map((_, index) => rows.map((row) => row[index]));
}
