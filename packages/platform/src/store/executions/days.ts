import { DAY } from "@platform/engine/base/time";
import { getLowestUuid } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { PARTITION_LOCK } from "../../postgres/locks.ts";

/** While DDL waits for a lock, all other statements on the table wait behind it: give up and try again later. */
const LOCK_TIMEOUT = "2s";

/** SQLSTATE: where tables of a day are named, another process has dropped them meanwhile. */
export const UNDEFINED_TABLE = "42P01";

/** A day, UTC, that the tables of executions have partitions for. */
export interface Day {
  /** `YYYYMMDD`. */
  readonly name: string;
  /** Milliseconds since the epoch; exclusive. */
  readonly end: number;
  /** The lowest id of the day, and that of the next. */
  readonly from: string;
  readonly to: string;
}

/** `20261120` for a time of that day. */
export function formatDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10).replaceAll("-", "");
}

/** @param name `YYYYMMDD` */
export function readDay(name: string): Day {
  const start = Date.parse(`${name.slice(0, 4)}-${name.slice(4, 6)}-${name.slice(6, 8)}T00:00:00Z`);
  return { name, end: start + DAY, from: getLowestUuid(start), to: getLowestUuid(start + DAY) };
}

/** Runs `work` in a transaction that holds PARTITION_LOCK; null when another process holds it. */
export async function underLock<T>(
  database: Database,
  work: (run: RunStatement) => Promise<T>,
): Promise<T | null> {
  return database.transaction(async (run) => {
    if (!(await tryLock(run))) return null;
    await run({ text: `set local lock_timeout = '${LOCK_TIMEOUT}'` });
    return work(run);
  });
}

async function tryLock(run: RunStatement): Promise<boolean> {
  const [row] = await run<{ locked: boolean }>({
    text: "select pg_try_advisory_xact_lock($1) as locked",
    values: [PARTITION_LOCK],
  });
  return row?.locked === true;
}

/** The lowest id of the day after tomorrow: lookups need not go beyond it, whatever clock has made an id. */
export function findEndOfTomorrow(): string {
  return getLowestUuid((Math.floor(Date.now() / DAY) + 2) * DAY);
}
