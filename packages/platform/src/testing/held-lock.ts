import { waitUntil } from "@platform/engine/testing/wait-until";
import type { TestDatabase } from "./test-database.ts";

/**
 * Begins several pieces of work while the rows that `lock` selects for update are locked, and lets go when each waits for a lock. Locked
 * is what they write: so all of them have read before one of them writes, unless they keep others from reading.
 */
export async function startAtOnce<T>(
  { database }: TestDatabase,
  lock: { readonly text: string; readonly values: readonly string[] },
  start: () => readonly Promise<T>[],
): Promise<readonly T[]> {
  const client = await database.pool.connect();
  try {
    await client.query("begin");
    await client.query(lock.text, [...lock.values]);
    const started = start();
    const waitForAll = waitUntil(async () => {
      const waiting = await database.query({
        text: "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      });
      return waiting.length >= started.length;
    });
    // What does not wait for the lock ends before all wait.
    await Promise.race([waitForAll.catch(() => undefined), Promise.all(started)]);
    await client.query("commit");
    return await Promise.all(started);
  } finally {
    client.release();
  }
}
