import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND, DAY } from "@platform/engine/base/time";
import { getLowestUuid, readUuidTime } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";

const ASK_EVERY_MS = 60 * SECOND;
const ASK_AGAIN_MS = 1 * SECOND;

/**
 * The id from which on all executions lie that wait or run: normally yesterday's first, so that lookups of them leave out
 * the other days' partitions, and an older one where the queue is longer. Asked for in the background once a minute: what is created
 * in between is younger.
 */
export type ReadHorizon = () => Promise<string>;

export function createQueueHorizon(database: Database): ReadHorizon {
  /** When the oldest was created, in milliseconds; Infinity: there is none. */
  let oldest: number | null = null;
  let nextAt = -Infinity;
  let asking: Promise<void> = Promise.resolve();
  const ask = async (): Promise<void> => {
    nextAt = readMonotonic() + ASK_EVERY_MS;
    try {
      oldest = await findOldest(database);
    } catch {
      // The last answer goes on to hold; without one, only the first start waits for it.
      oldest ??= Infinity;
      nextAt = readMonotonic() + ASK_AGAIN_MS;
    }
  };
  return async () => {
    if (readMonotonic() >= nextAt) asking = ask();
    if (oldest === null) await asking;
    const yesterday = (Math.floor(Date.now() / DAY) - 1) * DAY;
    return getLowestUuid(Math.min(yesterday, oldest ?? Infinity));
  };
}

/** As text, so that no plan walks a day's ids: the queue and the leases have indexes of their own. */
async function findOldest(database: Database): Promise<number> {
  const [row] = await database.query<{ id: string | null }>({
    name: "execution-oldest",
    text: `select least(
        (select min(e.id::text) from execution e where e.status = 'PENDING'),
        (select min(e.id::text) from execution e where e.lease_until is not null)
      ) as id`,
    idempotent: true,
  });
  const id = row?.id ?? null;
  return id === null ? Infinity : (readUuidTime(id) ?? 0);
}
