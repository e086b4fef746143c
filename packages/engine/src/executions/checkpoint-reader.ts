import { createTurns } from "../base/turns.ts";
import type { ExecutionStore } from "../store/execution-store.ts";

/** A checkpoint as streams send it. */
interface ShownCheckpoint {
  readonly bytes: number;
  /** JSON text of an object; null: it is larger than what a stream sends. */
  readonly text: Uint8Array | null;
}

/** How many are read for streams at the same time: each may have a megabyte, and other callers need the connections. */
const READS_AT_ONCE = 2;

/**
 * Reads the checkpoint that was made `at` this time, or a newer one; null: there is none any more. Streams of the same execution share a query:
 * each of its checkpoints wakes all of them, of which an organisation may have a thousand.
 */
export function createCheckpointReader(
  readCheckpoint: ExecutionStore["readCheckpoint"],
  mostBytes: number,
): (asked: {
  readonly id: string;
  readonly ownerId: string;
  readonly at: number;
}) => Promise<ShownCheckpoint | null> {
  const reads = new Map<string, Promise<ShownCheckpoint | null>>();
  const takeTurn = createTurns(READS_AT_ONCE);
  const read = async (id: string, ownerId: string): Promise<ShownCheckpoint | null> => {
    const text = await readCheckpoint(id, ownerId);
    return text && { bytes: text.length, text: text.length > mostBytes ? null : text };
  };
  return async ({ id, ownerId, at }) => {
    const key = `${ownerId} ${id} ${at}`;
    const known = reads.get(key);
    if (known !== undefined) return await known;
    const shared = takeTurn(() => read(id, ownerId), ownerId).finally(() => reads.delete(key));
    reads.set(key, shared);
    return await shared;
  };
}
