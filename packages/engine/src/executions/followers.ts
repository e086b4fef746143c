import { isFinal } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import { KILOBYTE } from "../base/bytes.ts";
import type { ExecutionRecord, ExecutionStore, StoreEvent } from "../store/execution-store.ts";
import type { Owner } from "../store/owner.ts";
import { createCheckpointReader } from "./checkpoint-reader.ts";
import { createLogReader } from "./log-reader.ts";
import type { NextLines } from "./log-reader.ts";
import type { StreamRoom } from "./stream-room.ts";
import { createWatches } from "./watches.ts";
import type { Watch, WatchSources } from "./watches.ts";

/*
 * Streams of single executions. A stream pulls: while its caller does not read, it asks for nothing and keeps nothing but its position, from
 * which it goes on in the store. Events of the store, and one query for all streams every half second, only say that there is more
 * (watches.ts), so a lost one delays a stream, and no stream has a timer of its own.
 */

/** What a stream says, in this order: the current state, lines and states, the rest of the lines, the final state, the end. */
export type ExecutionEvent =
  | { readonly type: "state"; readonly record: ExecutionRecord }
  /** `lines`: JSON text of an array; `position`: where to go on behind them. */
  | { readonly type: "log"; readonly lines: Uint8Array; readonly position: string }
  /** The run has said how far it is; its state is the same. */
  | { readonly type: "progress"; readonly record: ExecutionRecord }
  /** A checkpoint that it has made, stored at this time; `text`: JSON text of an object, null: it is larger than what a stream sends. */
  | {
      readonly type: "partial";
      readonly at: number;
      readonly bytes: number;
      readonly text: Uint8Array | null;
    }
  | { readonly type: "end" }
  /** The platform ends the stream before the execution has ended. */
  | { readonly type: "closed"; readonly problem: Problem };

/** Which execution to follow, and from where. */
export interface FollowRequest {
  readonly id: string;
  readonly owner: Owner;
  /** `position` of the last lines that the caller has; missing: from the first line; null: no lines. */
  readonly logPosition?: string | null;
}

/** The stream of one execution. */
export interface Follow {
  /** The first call of `next` rejects as `state` and `log` do, or where too many streams are open. */
  readonly events: AsyncGenerator<ExecutionEvent, void>;
  /** Ends it: with `closed` where there is a problem. */
  readonly stop: (problem: Problem | null) => void;
}

/** The open streams of this process. */
export interface Followers {
  readonly follow: (asked: FollowRequest) => Follow;
  /** To be called for the events of the store. */
  readonly notice: (event: StoreEvent) => void;
  /** Ends all streams. */
  readonly close: () => void;
}

/** Where streams read. */
interface FollowersOptions {
  readonly store: Pick<ExecutionStore, "readLog" | "readChanges" | "readCheckpoint">;
  readonly room: StreamRoom;
  /** @throws Problem EXECUTION_NOT_FOUND, RESULT_EXPIRED */
  readonly find: WatchSources["find"];
  /** @throws Problem LOG_EXPIRED */
  readonly requireLog: (record: ExecutionRecord) => void;
}

/** About what a stream that is not read has in memory. */
const PAGE_BYTES = 32 * KILOBYTE;

/** No stream is open at first. */
export function createFollowers(options: FollowersOptions): Followers {
  const { store, room, find, requireLog } = options;
  const { readLog, readChanges, readCheckpoint } = store;
  const watches = createWatches({ find, readChanges });
  const readPage = createLogReader(readLog, PAGE_BYTES);
  const readShown = createCheckpointReader(readCheckpoint, PAGE_BYTES);
  return {
    follow: (asked) => {
      const { id, owner, logPosition } = asked;
      const watch = watches.create({ id, ownerId: owner.id, logPosition });
      const events = follow(watch, {
        enter: () => {
          const leave = room.take(owner.organisationId);
          const remove = watches.add(watch);
          return () => {
            remove();
            leave();
          };
        },
        find,
        requireLog,
        readPage,
        readShown,
      });
      return { events, stop: (problem) => watches.stop(watch, problem) };
    },
    notice: watches.notice,
    close: watches.close,
  };
}

interface FollowParts {
  /** Counts and registers the stream; returns what takes it back. */
  readonly enter: () => () => void;
  readonly find: WatchSources["find"];
  readonly requireLog: FollowersOptions["requireLog"];
  readonly readPage: ReturnType<typeof createLogReader>;
  readonly readShown: ReturnType<typeof createCheckpointReader>;
}

async function* follow(watch: Watch, parts: FollowParts): AsyncGenerator<ExecutionEvent, void> {
  const leave = parts.enter();
  try {
    let shown = await begin(watch, parts);
    let page = await parts.readPage(watch);
    yield { type: "state", record: shown };
    let partialAt: number | null = null;
    for (; watch.ending === null; page = await parts.readPage(watch)) {
      // From before the lines are read: those of a final state are then all there.
      const record: ExecutionRecord = watch.record ?? shown;
      if (!isFinal(record.status)) yield* describeChange(shown, record);
      const partial = await readPartial(watch, { record, partialAt }, parts.readShown);
      if (partial !== null) yield partial;
      partialAt = record.progress?.checkpointAt ?? partialAt;
      shown = record;
      yield* readLines(watch, page, parts.readPage);
      if (watch.ending === null && isFinal(record.status)) {
        yield { type: "state", record };
        yield { type: "end" };
        return;
      }
      await watch.more();
    }
    if (watch.ending.problem !== null) yield { type: "closed", problem: watch.ending.problem };
  } finally {
    leave();
  }
}

/** A state says how far it is as well. */
function describeChange(shown: ExecutionRecord, record: ExecutionRecord): readonly ExecutionEvent[] {
  if (record.status !== shown.status || record.attempts?.length !== shown.attempts?.length)
    return [{ type: "state", record }];
  const hasProgressed = JSON.stringify(record.progress) !== JSON.stringify(shown.progress);
  return hasProgressed && record.progress !== undefined ? [{ type: "progress", record }] : [];
}

/** The checkpoint of this record where it is newer than the one that was sent, and no result supersedes it. */
async function readPartial(
  { id, ownerId }: Watch,
  { record, partialAt }: { readonly record: ExecutionRecord; readonly partialAt: number | null },
  readShown: FollowParts["readShown"],
): Promise<ExecutionEvent | null> {
  const at = record.progress?.checkpointAt ?? null;
  if (at === null || at === partialAt || record.status === "SUCCEEDED") return null;
  const shown = await readShown({ id, ownerId, at });
  return shown && { type: "partial", at, ...shown };
}

/** The first state. After the stream is registered: a change during the query is not missed. */
async function begin(
  watch: Watch,
  { find, requireLog }: Pick<FollowParts, "find" | "requireLog">,
): Promise<ExecutionRecord> {
  const found = await find(watch.id, watch.ownerId);
  watch.record ??= found;
  const { record } = watch;
  if (record === null) throw new Problem("EXECUTION_NOT_FOUND");
  if (watch.logPosition !== null) chooseLog(watch, record, requireLog);
  return record;
}

/** What there is of lines at present; of an execution that has ended, all. */
async function* readLines(
  watch: Watch,
  first: NextLines | null,
  readPage: FollowParts["readPage"],
): AsyncGenerator<ExecutionEvent, void> {
  let page = first;
  while (page !== null && watch.ending === null) {
    const { lines, position, hasMore } = page;
    watch.logPosition = position;
    if (lines.length > EMPTY_ARRAY.length) yield { type: "log", lines, position };
    page = hasMore ? await readPage(watch) : null;
  }
}

/** Without the log where that has expired, unless the caller goes on in it. @throws Problem LOG_EXPIRED */
function chooseLog(watch: Watch, record: ExecutionRecord, requireLog: FollowersOptions["requireLog"]): void {
  try {
    requireLog(record);
  } catch (error) {
    if (watch.logPosition !== undefined) throw error;
    watch.logPosition = null;
  }
}

const EMPTY_ARRAY = "[]";
