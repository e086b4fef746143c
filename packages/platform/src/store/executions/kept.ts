import { DAY } from "@platform/engine/base/time";
import { readUuidTime } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../../postgres/database.ts";

/*
 * The tables of executions are partitioned by day, and every statement on executions of all days locks all of their partitions. So a day
 * is dropped on schedule, when what the platform keeps by default has expired (close-days.ts); what is kept for longer moves to tables
 * that only reads look at: `kept_execution`, `kept_result`, `kept_log`. Inputs do not: nothing reads them after the end.
 */

/** Nothing is moved before it is so old. */
const MOVED_AFTER = 1 * DAY;

/** Whether the execution with this id may have been moved: whoever does not find it looks there too. */
export function mayBeMoved(id: string): boolean {
  return (readUuidTime(id) ?? Infinity) < Date.now() - MOVED_AFTER;
}

/**
 * SQL: for how many days the log of the execution `alias` is kept. Null: as the platform keeps others now. Where the logs of its day have
 * been removed, those that were kept then: other days for the future bring none of them back.
 */
export function selectLogDays(alias: string): string {
  return `coalesce(${alias}.log_days, (select case when d.to_id > ${alias}.id then d.days end from closed_day d
    where d.kind = 'logs' and d.from_id <= ${alias}.id order by d.kind desc, d.from_id desc limit 1))`;
}

/** Whether executions of the time of this id have been removed: one that is not there may have been. */
export async function wasRemoved(database: Pick<Database, "query">, id: string): Promise<boolean> {
  const rows = await database.query({
    name: "execution-was-removed",
    text: `select 1 from (
        select to_id from closed_day where kind = 'executions' and from_id <= $1 and removed_at is not null
        order by kind desc, from_id desc limit 1
      ) last where last.to_id > $1`,
    values: [id],
    idempotent: true,
  });
  return rows.length > 0;
}

const AT_ONCE = 1_000;
/** Statements of one round. */
const MOST_STATEMENTS = 1_000;

/**
 * Removes executions that were kept for longer, with result and log, and logs of which only the result is kept, when they have expired.
 * Returns how many executions and parts of logs. Bounded: the next round goes on.
 *
 * @param now milliseconds since the epoch
 */
export async function removeExpired(database: Pick<Database, "query">, now: number): Promise<number> {
  return (
    (await repeat(database.query, REMOVE_LOGS, now)) + (await repeat(database.query, REMOVE_EXECUTIONS, now))
  );
}

const REMOVE_LOGS = `delete from kept_log where (id, seq) in (
    select id, seq from kept_log where expires_at <= to_timestamp($1::float8 / 1000) order by expires_at limit ${AT_ONCE}
  ) returning id`;

const REMOVE_EXECUTIONS = `with gone as (
    delete from kept_execution where id in (
      select id from kept_execution where expires_at <= to_timestamp($1::float8 / 1000) order by expires_at limit ${AT_ONCE}
    ) returning id
  ), results as (
    delete from kept_result where id in (select id from gone)
  ), outputs as (
    delete from execution_output where execution_id in (select id from gone)
  ), reports as (
    delete from execution_progress where execution_id in (select id from gone)
  ), attempts as (
    delete from execution_attempt where execution_id in (select id from gone)
  ), logs as (
    delete from kept_log where id in (select id from gone)
  )
  select id from gone`;

async function repeat(run: RunStatement, text: string, now: number): Promise<number> {
  let removed = 0;
  for (let count = 0; count < MOST_STATEMENTS; count++) {
    const rows = await run({ text, values: [now], idempotent: true });
    removed += rows.length;
    if (rows.length < AT_ONCE) break;
  }
  return removed;
}
