import type { Database } from "../../postgres/database.ts";
import { isQueued } from "../executions/queue-rows.ts";
import { IS_UNCOUNTED } from "../executions/hold.ts";
import { lookUp } from "../executions/lookup.ts";
import { selectClass } from "./lengths.ts";
import type { LengthCounts } from "./lengths.ts";

/** What happened in a step of time. */
interface SeriesStep {
  /** When it began, in seconds since the epoch. */
  readonly at: number;
  /** The means of what was measured; null: nothing was. */
  readonly pending: number | null;
  readonly running: number | null;
  readonly started: number;
  readonly finished: number;
  readonly waits: readonly LengthCounts[];
  readonly runs: readonly LengthCounts[];
}

/** Which steps are read: times in seconds since the epoch, multiples of the step. */
export interface SeriesRange {
  readonly from: number;
  readonly to: number;
  /** Seconds. */
  readonly step: number;
}

/** For how long minutes are kept. */
const KEPT = "interval '8 days'";
/** Longer than any question reaches. */
const DAYS_KEPT = 40;
/** Changes of state in one statement. */
const AT_ONCE = 20_000;

const merge = (name: string) => `(select coalesce(jsonb_object_agg(u.key, u.n), '{}') from (
      select key, sum(value::int)::int as n from (select * from jsonb_each_text(m.${name}) union all select * from jsonb_each_text(excluded.${name})) both_
      group by key) u)`;

const count = (name: string) => `(select coalesce(jsonb_object_agg(c.class, c.n), '{}') from (
      select f.${name} as class, count(*)::int as n from facts f where f.minute = g.minute and f.${name} is not null group by 1) c)`;

/**
 * SQL: whether a change of state `f` of an execution `e` is an end that tells others how the service runs: of an execution that another
 * organisation has started, that ran, and that neither the platform nor its caller has ended.
 */
const IS_TOLD = `f.status not in ('PENDING', 'RUNNING') and f.organisation_id <> f.provider_id
        and f.code is distinct from 'CANCELLED' and not coalesce(e.is_uncounted, true)`;

/** CTEs, after `facts`: add them to the days of services. */
const ADD_DAYS = `told as materialized (
    select service_key, day, status = 'SUCCEEDED' as has_succeeded, case status when 'SUCCEEDED' then ran end as class, count(*)::int as n
    from facts where is_told group by 1, 2, 3, 4
  ), told_days as (
    insert into service_day as m (service_key, day, succeeded, failed, runs)
    select service_key, day, coalesce(sum(n) filter (where has_succeeded), 0), coalesce(sum(n) filter (where not has_succeeded), 0),
      coalesce(jsonb_object_agg(class, n) filter (where class is not null), '{}')
    from told group by service_key, day
    on conflict (service_key, day) do update set succeeded = m.succeeded + excluded.succeeded, failed = m.failed + excluded.failed,
      runs = ${merge("runs")}
  )`;

/**
 * Adds the changes of state behind the mark to their minutes and days, and moves the mark, in one statement: whenever it is killed, both have happened
 * or neither. Where two run at the same time, one of them finds the mark held and does nothing. Each execution is looked up by its key.
 */
const ROLL_UP = `with mark as materialized (
    select position from instance_mark where name = 'series' for update skip locked
  ), events as materialized (
    select f.* from feed_event f where f.position > (select position from mark) order by f.position limit ${AT_ONCE}
  ), facts as materialized (
    select date_trunc('minute', f.at) as minute, f.status, f.service_key, (f.at at time zone 'UTC')::date as day, ${IS_TOLD} as is_told,
      case when f.status = 'RUNNING' and e.retried = 0
        then ${selectClass("(extract(epoch from f.at - greatest(e.created_at, e.start_at)) * 1000)::float8")} end as wait,
      case when f.status not in ('PENDING', 'RUNNING') and e.started_at is not null
        then ${selectClass("(extract(epoch from e.ended_at - e.started_at) * 1000)::float8")} end as ran
    from events f left join lateral (select *, ${IS_UNCOUNTED} as is_uncounted from execution e where ${lookUp("e", "f.execution_id")}) e on true
  ), gathered as (
    select minute, count(*) filter (where status = 'RUNNING')::int as started,
      count(*) filter (where status not in ('PENDING', 'RUNNING'))::int as finished from facts group by minute
  ), added as (
    insert into instance_minute as m (minute, started, finished, waits, runs)
    select g.minute, g.started, g.finished, ${count("wait")}, ${count("ran")} from gathered g
    on conflict (minute) do update set started = m.started + excluded.started, finished = m.finished + excluded.finished,
      waits = ${merge("waits")}, runs = ${merge("runs")}
  ), ${ADD_DAYS}, moved as (
    update instance_mark set position = (select max(position) from events)
    where name = 'series' and exists (select 1 from events)
  )
  select count(*)::int as count from events`;

/** One process a minute measures: what waits and runs at this moment is counted by the indexes of the queue and of leases. */
const MEASURE = `insert into instance_minute as m (minute, pending, running)
  select date_trunc('minute', now()), (select count(*) from execution e where ${isQueued("e")}),
    (select count(*) from execution e where e.lease_until is not null)
  where not exists (select 1 from instance_minute where minute = date_trunc('minute', now()) and pending is not null)
  on conflict (minute) do update set pending = excluded.pending, running = excluded.running`;

/** Writes what has happened since the last time. To be called once a minute, by any process; the feed has to be in order before. */
export async function rollUpSeries(database: Pick<Database, "query">): Promise<void> {
  await database.query({ text: MEASURE, idempotent: true });
  for (;;) {
    const [row] = await database.query<{ readonly count: number }>({ text: ROLL_UP, idempotent: true });
    if ((row?.count ?? 0) < AT_ONCE) break;
  }
  await database.query({
    text: `delete from instance_minute where minute < now() - ${KEPT}`,
    idempotent: true,
  });
  await database.query({
    text: `delete from service_day where day < (now() at time zone 'UTC')::date - ${DAYS_KEPT}`,
    idempotent: true,
  });
}

/** Steps in which something was written, the oldest first. Times in seconds since the epoch. */
export async function readSeries(
  database: Pick<Database, "query">,
  range: SeriesRange,
): Promise<readonly SeriesStep[]> {
  return await database.query<SeriesStep>({
    text: `select (floor(extract(epoch from minute) / $3::int) * $3)::float8 as at, avg(pending)::float8 as pending, avg(running)::float8 as running,
        sum(started)::float8 as started, sum(finished)::float8 as finished, jsonb_agg(waits) as waits, jsonb_agg(runs) as runs
      from instance_minute where minute >= to_timestamp($1::float8) and minute < to_timestamp($2::float8) group by 1 order by 1`,
    values: [range.from, range.to, range.step],
    idempotent: true,
  });
}
