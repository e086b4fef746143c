import { DAY } from "@platform/engine/base/time";
import type { Database, RunStatement } from "../../postgres/database.ts";
import type { Logger } from "@platform/engine/base/logger";
import { PARTITION_LOCK } from "../../postgres/locks.ts";
import { closeDays } from "./close-days.ts";
import { formatDay, readDay, underLock } from "./days.ts";
import { removeExpired } from "./kept.ts";
import { removeEarly } from "./remove-early.ts";

/** The partitioned tables. */
const TABLES = ["execution", "execution_input", "execution_result", "execution_log"] as const;

const DAYS_BEHIND = 1;
const DAYS_AHEAD = 7;
/** What the maintenance works with. */
export interface PartitionOptions {
  readonly logger: Logger;
  /** Executions that ended longer ago are dropped, with input, result and log, unless their service says otherwise. */
  readonly retentionDays: number;
  /** The same for their logs; default: as long as the executions. */
  readonly logRetentionDays?: number;
  /** Milliseconds since the epoch. */
  readonly now?: number;
}

type Dated = PartitionOptions & { readonly now: number };

/** What the maintenance has done. Days are `YYYYMMDD`. */
export interface PartitionReport {
  readonly created: readonly string[];
  readonly dropped: readonly string[];
  /** Executions, and parts of logs, that were kept for longer or shorter than their day, and have expired. */
  readonly expired: number;
  /** Rows in the default partition: 0 unless the partition of a day was missing or an id has a wrong time. */
  readonly strays: number;
}

/**
 * Creates the partitions from yesterday to a week ahead, drops those past retention and updates the planner's statistics.
 * Call it before the first execution and then every hour. Only one process does it at a time; null when another one is doing it. Each day is dropped in a
 * transaction of its own, so that a lock on one old day delays neither new partitions nor the drop of other days.
 */
export async function maintainPartitions(
  database: Database,
  options: PartitionOptions,
): Promise<PartitionReport | null> {
  const now = options.now ?? Date.now();
  const created = await underLock(database, async (run) => createDays(run, await listDays(run), now));
  if (created === null) return null;
  const dropped = await closeDays(database, { ...options, now });
  const expired = await removeRest(database, { ...options, now });
  // Outside the transactions, so that ANALYZE of a large table does not prolong their locks.
  for (const name of await listFilled(database))
    await database.query({ text: `analyze ${name}`, idempotent: true });
  const strays = await countStrays(database.query);
  if (strays > 0) {
    options.logger.error(
      { strays },
      "executions are in the default partition: the partition of their day was missing",
    );
  }
  return { created, dropped, expired, strays };
}

/** What is not removed with a day: no failure of one keeps the others from being removed. Returns how many had days of their own. */
async function removeRest(database: Database, options: Dated): Promise<number> {
  const note = (error: unknown) => {
    options.logger.warn({ err: error }, "what has expired could not be removed; trying again later");
    return 0;
  };
  await deleteStrays(database, options).catch(note);
  const early = await removeEarly(database, options.now).catch(note);
  return early + (await removeExpired(database, options.now).catch(note));
}

/** Creates the partitions, waiting for other processes that do so: afterwards today's partitions exist. */
export async function ensurePartitions(database: Database, options: PartitionOptions): Promise<void> {
  await database.transaction(async (run) => {
    await run({ text: "select pg_advisory_xact_lock($1)", values: [PARTITION_LOCK] });
    await createDays(run, await listDays(run), options.now ?? Date.now());
  });
}

async function listDays(run: RunStatement): Promise<ReadonlySet<string>> {
  const rows = await run<{ day: string }>({
    text: `select right(c.relname, 8) as day from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'execution'::regclass and c.relname ~ '^execution_p[0-9]{8}$'`,
  });
  return new Set(rows.map(({ day }) => day));
}

/**
 * The partitions of more than ten pages. PostgreSQL takes one that was never analysed for at least as large, which suits a day
 * that is about to begin. One that was analysed while it was empty counts as empty until it is analysed again: each of its
 * indexes then seems as good as the primary key for finding one row.
 */
async function listFilled(database: Database): Promise<readonly string[]> {
  const rows = await database.query<{ name: string }>({
    text: `select inhrelid::regclass::text as name from pg_inherits
      where inhparent = any ($1::regclass[]) and pg_relation_size(inhrelid) > 10 * current_setting('block_size')::int`,
    values: [TABLES],
    idempotent: true,
  });
  return rows.map(({ name }) => name);
}

async function createDays(
  run: RunStatement,
  known: ReadonlySet<string>,
  now: number,
): Promise<readonly string[]> {
  const today = Math.floor(now / DAY) * DAY;
  const created: string[] = [];
  for (let offset = -DAYS_BEHIND; offset <= DAYS_AHEAD; offset++) {
    const day = formatDay(today + offset * DAY);
    if (known.has(day)) continue;
    for (const table of TABLES) await createPartition(run, table, day);
    created.push(day);
  }
  return created;
}

/** Attaches a new table: this takes a weaker lock on the parent, and rows of the default partition can be moved first. */
async function createPartition(
  run: RunStatement,
  table: (typeof TABLES)[number],
  day: string,
): Promise<void> {
  const name = `${table}_p${day}`;
  const { from, to } = readDay(day);
  // Every execution is updated at least twice; free space on its page lets the new row versions stay there.
  const storage = table === "execution" ? "with (fillfactor = 70)" : "";
  await run({
    text: `create table ${name} (like ${table} including defaults including constraints including storage) ${storage}`,
  });
  await run({
    text: `with moved as (delete from ${table}_default where id >= '${from}' and id < '${to}' returning *)
      insert into ${name} select * from moved`,
  });
  await run({
    text: `alter table ${table} attach partition ${name} for values from ('${from}') to ('${to}')`,
  });
}

/** SQL: when an execution `e` that has ended expires, in a statement whose $2 is the number of days unless its service says otherwise. */
const EXPIRY = "e.ended_at + make_interval(days => coalesce(e.result_days, $2::int))";

const STRAYS_AT_ONCE = 1000;

async function deleteStrays(database: Database, { now, retentionDays }: Dated): Promise<void> {
  for (;;) {
    const rows = await database.query({
      text: `with expired as (
          delete from execution_default where id in (
            select id from execution_default e where ${EXPIRY} < to_timestamp($1::float8 / 1000) limit ${STRAYS_AT_ONCE}
          ) returning id
        ), inputs as (
          delete from execution_input_default where id in (select id from expired)
        ), results as (
          delete from execution_result_default where id in (select id from expired)
        ), outputs as (
          delete from execution_output where execution_id in (select id from expired)
        ), reports as (
          delete from execution_progress where execution_id in (select id from expired)
        ), attempts as (
          delete from execution_attempt where execution_id in (select id from expired)
        ), logs as (
          delete from execution_log_default where id in (select id from expired)
        )
        select id from expired`,
      values: [now, retentionDays],
      idempotent: true,
    });
    if (rows.length < STRAYS_AT_ONCE) return;
  }
}

async function countStrays(run: RunStatement): Promise<number> {
  const [row] = await run<{ count: number }>({
    text: "select count(*)::int as count from execution_default",
  });
  return row?.count ?? 0;
}
