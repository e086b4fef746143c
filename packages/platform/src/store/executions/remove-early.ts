import { DAY } from "@platform/engine/base/time";
import { getCode } from "@platform/engine/base/thrown";
import type { Database, Statement } from "../../postgres/database.ts";
import { listClosable } from "./close-days.ts";
import { UNDEFINED_TABLE, readDay } from "./days.ts";
import type { Day } from "./days.ts";

/*
 * What a service keeps for a shorter time than the platform is removed when it has expired, though its day stays: the content, and what names
 * objects. The row of the execution stays until its day is dropped: it says when it expired, and what it used.
 */

/** Executions of one statement, and statements for one day in one round: the next round goes on. */
const AT_ONCE = 1_000;
const MOST_STATEMENTS = 100;

/**
 * SQL: after how many days something of the execution `e` is removed next: its log alone, or all of it. Null: with its day. As in the index
 * `execution_next_removal`.
 */
const NEXT =
  "case when e.removed_days is null then least(e.result_days, e.log_days) when e.removed_days < e.result_days then e.result_days end";

/**
 * SQL: the executions of a day of which something is to be removed, and whether that is all. Parameters: the first two of `fromEarly`.
 */
export function selectEarly({ name }: Day): string {
  return `select e.id, e.version_id, ${NEXT} as days, coalesce(e.result_days <= ${NEXT}, false) as is_all
    from execution_p${name} e
    where ${NEXT} <= $2::int and e.ended_at + make_interval(days => ${NEXT}) <= to_timestamp($1::float8 / 1000)`;
}

/** Now, and for how many days what was created on this day can have been kept by now. */
export function fromEarly(day: Day, now: number): readonly [number, number] {
  return [now, Math.max(0, Math.floor((now - (day.end - DAY)) / DAY))];
}

/**
 * Removes results, inputs and logs that have expired though their day stays. Returns of how many executions.
 *
 * @param now milliseconds since the epoch
 */
export async function removeEarly(database: Pick<Database, "query">, now: number): Promise<number> {
  let removed = 0;
  for (const { name, hasLogs } of await listClosable(database)) {
    const day = readDay(name);
    const statement = { text: describeRemoval(day, hasLogs), values: fromEarly(day, now), idempotent: true };
    try {
      removed += await repeat(database, statement);
    } catch (error) {
      // Another process has dropped the day, or its logs, meanwhile.
      if (getCode(error) !== UNDEFINED_TABLE) throw error;
    }
  }
  return removed;
}

async function repeat(database: Pick<Database, "query">, statement: Statement): Promise<number> {
  let removed = 0;
  for (let count = 0; count < MOST_STATEMENTS; count++) {
    const [row] = await database.query<{ count: number }>(statement);
    removed += row?.count ?? 0;
    if ((row?.count ?? 0) < AT_ONCE) break;
  }
  return removed;
}

/** Several processes may do so at once. What an execution failed with may name content of it. */
function describeRemoval(day: Day, hasLogs: boolean): string {
  const { name } = day;
  const logs = `logs as (delete from execution_log_p${name} where id in (select id from due)),`;
  return `with due as materialized (
      ${selectEarly(day)} limit ${AT_ONCE} for update of e skip locked
    ), ${hasLogs ? logs : ""} results as (
      delete from execution_result_p${name} where id in (select id from due where is_all)
    ), inputs as (
      delete from execution_input_p${name} where id in (select id from due where is_all)
    ), outputs as (
      delete from execution_output where execution_id in (select id from due where is_all)
    ), reports as (
      delete from execution_progress where execution_id in (select id from due where is_all)
    ), attempts as (
      update execution_attempt a set detail = '' from due where a.execution_id = due.id and due.is_all
    ), removed as (
      update execution_p${name} e set removed_days = due.days,
        failure_detail = case when not is_all then failure_detail when failure_detail is not null then '' end,
        failure_metadata = case when not is_all then failure_metadata end
      from due where e.id = due.id
    )
    select count(*)::float8 as count from due`;
}
