import { waitUntil } from "@platform/engine/testing/wait-until";
import type { TestDatabase } from "./test-database.ts";

/**
 * Begins several pieces of work while the organisation's row is locked, and lets go when each waits for a lock, so that none has ended
 * before the others have begun.
 */
export async function startAtOnce<T>(
  { database }: TestDatabase,
  organisationId: string,
  start: () => readonly Promise<T>[],
): Promise<readonly T[]> {
  const client = await database.pool.connect();
  try {
    await client.query("begin");
    await client.query("select id from organisation where id = $1 for update", [organisationId]);
    const started = start();
    const waitForAll = waitUntil(async () => {
      const waiting = await database.query({
        text: "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      });
      return waiting.length === started.length;
    });
    // What does not wait for the lock ends before all wait.
    await Promise.race([waitForAll.catch(() => undefined), Promise.all(started)]);
    await client.query("commit");
    return await Promise.all(started);
  } finally {
    client.release();
  }
}
