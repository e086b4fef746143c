import { isFinal } from "@platform/contract/execution";
import { createTurns } from "../base/turns.ts";
import type { ExecutionStore, LogPage } from "../store/execution-store.ts";
import type { Watch } from "./watches.ts";

/** What is read next for a stream. */
export interface NextLines extends Pick<LogPage, "lines" | "position"> {
  /** Whether to read on at once. */
  readonly hasMore: boolean;
}

/** How many pages are read for streams at the same time: other callers have most of the connections. */
const READS_AT_ONCE = 2;

/**
 * Reads the next lines of a stream; null: it shows none. Streams that are at the same place share a query. Of an execution that has ended it has
 * more until the last line was read.
 */
export function createLogReader(
  readLog: ExecutionStore["readLog"],
  pageBytes: number,
): (watch: Watch) => Promise<NextLines | null> {
  const reads = new Map<string, Promise<LogPage | null>>();
  const takeTurn = createTurns(READS_AT_ONCE);
  const readShared = (id: string, ownerId: string, position: string | undefined) => {
    const key = `${ownerId} ${id} ${position ?? ""}`;
    const known = reads.get(key);
    if (known !== undefined) return known;
    const read = takeTurn(() => {
      // From here on it may miss lines that are written now.
      reads.delete(key);
      return readLog(id, ownerId, position, pageBytes);
    }, ownerId);
    reads.set(key, read);
    return read;
  };
  return async (watch) => {
    if (watch.logPosition === null) return null;
    watch.hasMoreLog = false;
    const isEnded = watch.record !== null && isFinal(watch.record.status);
    const page = await readShared(watch.id, watch.ownerId, watch.logPosition);
    if (page === null) return null;
    const hasMore = page.nextCursor !== null && (isEnded || page.lines.length >= pageBytes);
    return { lines: page.lines, position: page.position, hasMore };
  };
}
