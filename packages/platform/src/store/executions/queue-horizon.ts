import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND, DAY } from "@platform/engine/base/time";
import { getLowestUuid, readUuidTime } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";
import { isQueued } from "./queue-rows.ts";

const ASK_EVERY_MS = 60 * SECOND;
const ASK_AGAIN_MS = 1 * SECOND;

/**
 * Reads a lower bound of the ids of all executions that wait in the queue or run, so that lookups can skip the partitions of older days:
 * normally the first id of yesterday, an older one when an older execution waits or runs. Refreshed in the background
 * once a minute; what is created in between has a higher id. What is released in between may have a lower one: until then starts do not see it, as
 * claims do, so that for a minute a start that finds an idle worker may come before it.
 */
export type ReadHorizon = () => Promise<string>;

/** The first call waits for an answer, later ones use the last. */
export function createQueueHorizon(database: Database): ReadHorizon {
  /** When the oldest execution was created, in milliseconds since the epoch; Infinity: there is none; null: unknown. */
  let oldest: number | null = null;
  let nextAt = -Infinity;
  let asking: Promise<void> = Promise.resolve();
  const ask = async (): Promise<void> => {
    nextAt = readMonotonic() + ASK_EVERY_MS;
    try {
      oldest = await findOldest(database);
    } catch {
      // The last answer stays in use; without one, yesterday is used until the next try.
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

/** Compares ids as text, so that the planner uses the indexes of queue and leases instead of walking those of ids. */
async function findOldest(database: Database): Promise<number> {
  const [row] = await database.query<{ id: string | null }>({
    name: "execution-oldest",
    text: `select least(
        (select min(e.id::text) from execution e where ${isQueued("e")}),
        (select min(e.id::text) from execution e where e.lease_until is not null)
      ) as id`,
    idempotent: true,
  });
  const id = row?.id ?? null;
  return id === null ? Infinity : (readUuidTime(id) ?? 0);
}
