import { readMonotonic } from "@platform/engine/base/monotonic";
import { SECOND } from "@platform/engine/base/time";
import type { DueRound } from "@platform/engine/store/held";
import type { Database } from "../../postgres/database.ts";
import { RELEASE_LOCK } from "../../postgres/locks.ts";
import { EXECUTIONS_CHANNEL } from "../base/channels.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { createSteadyClock } from "../base/steady-clock.ts";
import { findEndOfTomorrow } from "./days.ts";
import type { Events } from "./events.ts";
import { createLimitedRelease } from "./limited.ts";
import { lookUp } from "./lookup.ts";
import { createQueueHorizon } from "./queue-horizon.ts";
import { describeRanks } from "./rank.ts";

/** Executions that one statement releases. */
const AT_ONCE = 256;

/** SQL: of an execution `e` that is held until a time. */
const IS_TIMED = "e.status = 'PENDING' and e.held = 'START_AT'";

/**
 * Releases executions whose time has come, those first that have been due for longest. Parameters: lowest id in the queue, lowest id of the day
 * after tomorrow (see rank.ts), origin of events, and the latest time that the clock of the database may show.
 */
const RELEASE = `with guard as materialized (
    -- Only saves work: the locks of the rows are what makes two rounds safe.
    select pg_try_advisory_xact_lock(${RELEASE_LOCK}) as is_ours
  ), moment as materialized (
    select least(now(), to_timestamp($4::float8 / 1000)) as at
  ), due as materialized (
    -- One that is being cancelled is left to the next round.
    select e.id, e.owner_id, e.cpu_milli, e.memory_milli, e.priority, case when e.limit_key is not null then 'LIMIT' end as held, e.start_at from execution e
    where (select is_ours from guard) and ${IS_TIMED} and e.start_at <= (select at from moment)
    order by e.start_at limit ${AT_ONCE} for update of e skip locked
  ), placed as (
    select *, row_number() over () as position from due
  ), ${describeRanks("placed")}, released as (
    -- One turn later than one that starts now: its id is older than those of executions whose turn it is, and a series of new owners would
    -- delay these for ever.
    update execution e set held = r.held, rank = r.rank + 1 from ranked r where ${lookUp("e", "r.id", IS_TIMED)} returning e.id, e.held
  ), notified as materialized (
    select pg_notify('${EXECUTIONS_CHANNEL}', $3 || ':pending') where exists (select 1 from released where held is null)
  )
  select ${selectMilliseconds("now()")} as "databaseNow", (select count(*)::int from released) as due, (select count(*)::int from released where held is null) as released, (select count(*) from notified) as notified,
    (select extract(epoch from e.start_at - moment.at)::float8 * 1000 from execution e
      where ${IS_TIMED} and e.id <> all (array(select id from due)) order by e.start_at limit 1) as "nextMs"
  from moment`;

interface ReleaseRow extends Pick<DueRound, "released" | "nextMs"> {
  /** How many the statement has released, also of those that are held by a limit from then on. */
  readonly due: number;
  /** Milliseconds since the epoch. */
  readonly databaseNow: number;
}

/**
 * `ExecutionStore.releaseDue` for PostgreSQL. `leaseSeconds`: for how long a clock of the database that is set ahead is not believed; `now`: milliseconds
 * of the monotonic clock.
 */
export function createRelease(
  database: Database,
  events: Events,
  { leaseSeconds, now = readMonotonic }: { readonly leaseSeconds: number; readonly now?: () => number },
): () => Promise<DueRound> {
  const readHorizon = createQueueHorizon(database);
  const clock = createSteadyClock(leaseSeconds * SECOND);
  const releaseLimited = createLimitedRelease(database, events, readHorizon);
  return async () => {
    const horizon = await readHorizon();
    const at = now();
    const [row] = await database.query<ReleaseRow>({
      name: "execution-release",
      text: RELEASE,
      values: [horizon, findEndOfTomorrow(), events.origin, clock.latest(at)],
      idempotent: true,
    });
    if (row === undefined) throw new Error("A statement that returns one row returned none.");
    const { databaseNow, due, released, nextMs } = row;
    clock.note(databaseNow, at);
    if (released > 0) events.emitPending();
    const limited = await releaseLimited();
    const isMore = due === AT_ONCE || limited.isMore;
    return {
      released: due + limited.released,
      nextMs: isMore ? Math.min(0, nextMs ?? 0) : nextMs,
      waitsForPlace: limited.isAnyHeld,
    };
  };
}
