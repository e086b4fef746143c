import { createTurns } from "@platform/engine/base/turns";
import type { FeedStore } from "../store/feed/feed.ts";

/** How many reads run at the same time: starts and polls have most of the connections, which are the same ones. */
const READS_AT_ONCE = 2;

/**
 * The same read; readers that are at the same place and wait for their turn share a query, however many they are. Turns go from reader to reader:
 * requests for pages are not limited, and one caller's would delay all others.
 */
export function shareReads(read: FeedStore["read"]): FeedStore["read"] {
  const reads = new Map<string, ReturnType<FeedStore["read"]>>();
  const takeTurn = createTurns(READS_AT_ONCE);
  return async (reader, after, limit) => {
    const whose = `${reader?.kind ?? ""} ${reader?.id ?? ""}`;
    const key = `${whose} ${after} ${limit}`;
    const known = reads.get(key);
    if (known !== undefined) return await known;
    const shared = takeTurn(() => {
      // From here on it may miss what is committed now.
      reads.delete(key);
      return read(reader, after, limit);
    }, whose);
    reads.set(key, shared);
    return await shared;
  };
}
