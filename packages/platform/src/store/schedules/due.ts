import { createUuidV7 } from "@platform/engine/base/uuid";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { selectMilliseconds } from "../base/columns.ts";
import type { Times } from "./schedules.ts";

/** A schedule that is due, as far as it decides what becomes of it. Times in milliseconds since the epoch. */
export interface DueSchedule extends Times {
  /** The occurrence that is due. */
  readonly dueAt: number;
  /** The database's clock. */
  readonly now: number;
  /** The clock was set back by much since the occurrence was computed: nothing is due, but the next one is another. */
  readonly isAhead: boolean;
}

/** What becomes of a schedule that is due. */
export interface Decision {
  /** The occurrence to be started; null: none. */
  readonly start: number | null;
  /** The first of the occurrences that are not started any more, and what is said of them; null: there are none. */
  readonly missed: { readonly first: number; readonly detail: string } | null;
  /** Null: there is none, and the schedule is paused. */
  readonly next: number | null;
}

/** Runs that are kept of each schedule. */
const KEPT_RUNS = 100;
/** Schedules that one transaction handles. */
const AT_ONCE = 50;
/** A clock that was set back by less has nothing repeated, and the next occurrence waits for it. */
const AHEAD = "interval '1 hour'";

interface DueRow extends DueSchedule {
  readonly id: string;
  /** Nothing is started meanwhile. */
  readonly isBusy: boolean;
}

/** What is locked is read as it is then: it may have been changed since the statement began. */
const SELECT_DUE = `with due as (
    select * from schedule where next_at <= now() order by next_at limit ${AT_ONCE} for no key update skip locked
  ), ahead as (
    select * from schedule where next_at > now() and planned_at > now() + ${AHEAD} limit ${AT_ONCE} for no key update skip locked
  ) select s.id, s.cron, s.time_zone as "timeZone", ${selectMilliseconds("s.next_at")} as "dueAt",
    ${selectMilliseconds("now()")} as now, s.next_at > now() as "isAhead",
    s.overlap = 'skip' and (
      exists (select 1 from schedule_run r where r.schedule_id = s.id and r.status = 'STARTING')
      or exists (select 1 from execution e where e.id = s.execution_id and e.status in ('PENDING', 'RUNNING'))
    ) as "isBusy"
  from (select * from due union all select * from ahead) s order by s.next_at`;

/**
 * Makes runs of the schedules that are due, each occurrence once, and computes when they are due again; processes share them. Returns
 * whether there may be more.
 *
 * @param decide pure
 */
export async function planDue(
  database: Database,
  decide: (schedule: DueSchedule) => Decision,
): Promise<boolean> {
  return await database.transaction(async (run) => {
    const due = await run<DueRow>({ text: SELECT_DUE });
    if (due.length === 0) return false;
    const decided = due.map((row) => ({ row, decision: decide(row) }));
    const runs = decided.flatMap(({ row, decision }) => listRuns(row, decision));
    await insertRuns(run, runs);
    await run({
      text: `update schedule s set planned_at = now(), next_at = to_timestamp(n.next / 1000),
          pause_code = case when n.next is null then 'INVALID_INPUT' end, paused_at = case when n.next is null then now() end,
          pause_detail = case when n.next is null then 'The times have no further occurrence.' end
        from unnest($1::uuid[], $2::float8[]) as n (id, next) where s.id = n.id`,
      values: [decided.map(({ row }) => row.id), decided.map(({ decision }) => decision.next)],
    });
    await trimRuns(run, [...new Set(runs.map(({ scheduleId }) => scheduleId))]);
    return due.length >= AT_ONCE;
  });
}

interface NewRun {
  readonly scheduleId: string;
  readonly dueAt: number;
  readonly status: "STARTING" | "SKIPPED" | "MISSED";
  readonly detail: string | null;
}

const STILL_RUNS = "The execution that was started last had not ended.";

function listRuns({ id, isBusy }: DueRow, { start, missed }: Decision): readonly NewRun[] {
  const runs: NewRun[] = [];
  if (missed !== null)
    runs.push({ scheduleId: id, dueAt: missed.first, status: "MISSED", detail: missed.detail });
  if (start !== null)
    runs.push({
      scheduleId: id,
      dueAt: start,
      status: isBusy ? "SKIPPED" : "STARTING",
      detail: isBusy ? STILL_RUNS : null,
    });
  return runs;
}

async function insertRuns(run: RunStatement, runs: readonly NewRun[]): Promise<void> {
  if (runs.length === 0) return;
  await run({
    // What is there already was done before the clock was set back.
    text: `insert into schedule_run (id, schedule_id, trigger, due_at, status, execution_id, detail, lease_until)
      select id, schedule_id, 'CRON', to_timestamp(due / 1000), status, execution_id, detail, case when status = 'STARTING' then now() end
      from unnest($1::uuid[], $2::uuid[], $3::float8[], $4::text[], $5::uuid[], $6::text[])
        as r (id, schedule_id, due, status, execution_id, detail)
      on conflict (schedule_id, due_at) where trigger = 'CRON' do nothing`,
    values: [
      runs.map(() => createUuidV7()),
      runs.map(({ scheduleId }) => scheduleId),
      runs.map(({ dueAt }) => dueAt),
      runs.map(({ status }) => status),
      runs.map(() => createUuidV7()),
      runs.map(({ detail }) => detail),
    ],
  });
}

/** Removes what is older than the last runs of these schedules. */
export async function trimRuns(run: RunStatement, scheduleIds: readonly string[]): Promise<void> {
  if (scheduleIds.length === 0) return;
  await run({
    text: `delete from schedule_run where status <> 'STARTING' and id in (
        select old.id from unnest($1::uuid[]) as s (id) cross join lateral (
          select r.id from schedule_run r where r.schedule_id = s.id order by r.id desc offset ${KEPT_RUNS}
        ) old
      )`,
    values: [scheduleIds],
  });
}
