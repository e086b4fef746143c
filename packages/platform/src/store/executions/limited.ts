import { LIMIT_SURVEY } from "@platform/engine/store/limit-line";
import { RELEASE_LIMITED_LOCK } from "../../postgres/locks.ts";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { EXECUTIONS_CHANNEL } from "../base/channels.ts";
import { findEndOfTomorrow } from "./days.ts";
import type { Events } from "./events.ts";
import { lookUp } from "./lookup.ts";
import type { ReadHorizon } from "./queue-horizon.ts";
import { describeRanks } from "./rank.ts";

/*
 * Executions of a service with limits are created held (`held` is LIMIT, `limit_key` the service), and released into the queue while the
 * service and their owner have places. What is in the queue or runs has one: it is counted each time, so that nothing that a process does or
 * fails to do can make the number wrong. A place is given back by whatever ends the execution; only a release takes one, and one process at a time
 * releases. The limits are those of the policy of the moment; a service without any has places for all.
 */

/** SQL: an execution `alias` that is held by a limit. As in the index `execution_limit_line`. */
export function isLimited(alias: string): string {
  return `${alias}.status = 'PENDING' and ${alias}.held = 'LIMIT'`;
}

/** SQL: an execution `alias` that has a place. As in the index `execution_limit_places`. */
function hasPlace(alias: string): string {
  return `${alias}.limit_key is not null and ${alias}.held is null and ${alias}.status in ('PENDING', 'RUNNING')`;
}

/** Executions of one service that one statement releases, and of one owner. */
const AT_ONCE = 256;
const AT_ONCE_OF_OWNER = 64;
/** What a limit is that a policy does not name. */
export const UNLIMITED = 2_147_483_647;

/** SQL: what owners take turns by. Their ids begin with the time at which they were made, so in the order of these a row of new owners would always come next. */
const describeTurn = (ownerId: string): string => `reverse((${ownerId})::text) collate "C"`;

const readLimit = (name: "service" | "subscription"): string =>
  `coalesce((p.policy #>> '{concurrency,${name}}')::int, ${UNLIMITED})`;

/**
 * SQL: CTEs (recursive). `limits` has a row for each service that holds executions: its limits and how many places are taken; `waiting` a row for each of its
 * owners who has held ones, likewise. Both are walks from key to key in an index, however many executions there are of each.
 *
 * @param condition of a row `limits`, whose owners are looked at
 */
export function describeLimits(condition: string): string {
  return `key (limit_key) as (
    (select e.limit_key from execution e where ${isLimited("e")} order by e.limit_key limit 1)
    union all
    select (select e.limit_key from execution e where ${isLimited("e")} and e.limit_key > key.limit_key order by e.limit_key limit 1)
    from key where key.limit_key is not null
  ), limits as materialized (
    select key.limit_key, coalesce(l.of_service, ${UNLIMITED}) as of_service, coalesce(l.of_owner, ${UNLIMITED}) as of_owner,
      (select count(*)::int from execution e where ${hasPlace("e")} and e.limit_key = key.limit_key) as taken
    from key left join lateral (
      select ${readLimit("service")} as of_service, ${readLimit("subscription")} as of_owner
      from service_policy p where p.service_key = key.limit_key order by p.revision desc limit 1
    ) l on true
    where key.limit_key is not null
  ), owner (limit_key, owner_id) as (
    select limits.limit_key, (select e.owner_id from execution e where ${isLimited("e")} and e.limit_key = limits.limit_key
      order by e.owner_id limit 1)
    from limits where ${condition}
    union all
    select owner.limit_key, (select e.owner_id from execution e where ${isLimited("e")} and e.limit_key = owner.limit_key
      and e.owner_id > owner.owner_id order by e.owner_id limit 1)
    from owner where owner.owner_id is not null
  ), waiting as materialized (
    select limits.*, owner.owner_id, (select count(*)::int from execution e
      where ${hasPlace("e")} and e.limit_key = owner.limit_key and e.owner_id = owner.owner_id) as taken_by_owner
    from owner join limits on limits.limit_key = owner.limit_key where owner.owner_id is not null
  )`;
}

/** SQL: the columns of `LimitPlaces` of a service, as this owner finds them; no row: the service has no policy. */
export function selectPlaces(limitKey: string, ownerId: string): string {
  return `select nullif(${readLimit("service")}, ${UNLIMITED}) as "ofService", nullif(${readLimit("subscription")}, ${UNLIMITED}) as "ofOwner",
      (select count(*)::int from execution e where ${hasPlace("e")} and e.limit_key = p.service_key) as taken,
      (select count(*)::int from execution e where ${hasPlace("e")} and e.limit_key = p.service_key and e.owner_id = ${ownerId}) as "takenByOwner",
      (select count(*)::int from (select 1 from execution e where ${isLimited("e")} and e.limit_key = p.service_key and e.owner_id = ${ownerId}
        limit ${LIMIT_SURVEY.counted}) counted) as held
    from service_policy p where p.service_key = ${limitKey} order by p.revision desc limit 1`;
}

/**
 * Parameters: lowest id in the queue, lowest id of the day after tomorrow, origin of events, and two lists: services, and of each the owner who got
 * its last place. The next place is of who has the fewest; of these, owners take turns.
 */
const RELEASE = `with recursive ${describeLimits("limits.taken < limits.of_service")}, candidate as (
    select next.id, waiting.limit_key, waiting.owner_id, least(waiting.of_service - waiting.taken, ${AT_ONCE}) as places,
      waiting.taken_by_owner + next.turn as turn,
      ${describeTurn("waiting.owner_id")} as owner_turn,
      coalesce(${describeTurn("waiting.owner_id")} <= ${describeTurn("($5::uuid[])[array_position($4::uuid[], waiting.limit_key)]")}, false) as had_turn
    from waiting cross join lateral (
      select e.id, row_number() over () as turn from (
        select e.id from execution e where ${isLimited("e")} and e.limit_key = waiting.limit_key and e.owner_id = waiting.owner_id
        order by e.id limit least(waiting.of_service - waiting.taken, waiting.of_owner - waiting.taken_by_owner, ${AT_ONCE_OF_OWNER})
      ) e
    ) next where waiting.taken_by_owner < waiting.of_owner
  ), chosen as materialized (
    select *, row_number() over (order by turn, had_turn, owner_turn, id) as position
    from (
      select *, row_number() over (partition by limit_key order by turn, had_turn, owner_turn, id) as number from candidate
    ) c where c.number <= c.places
  ), locked as materialized (
    -- One that is being cancelled is left out: its place is given in the next round.
    select e.id, e.owner_id, e.cpu_milli, e.memory_milli, e.priority, null::text as held, chosen.position
    from chosen join execution e on ${lookUp("e", "chosen.id", isLimited("e"))} for update of e skip locked
  ), ${describeRanks("locked")}, released as (
    -- One turn later than one that starts now: its id is older than those of executions whose turn it is, see release.ts.
    update execution e set held = null, rank = r.rank + 1 from ranked r where ${lookUp("e", "r.id", isLimited("e"))} returning e.id
  ), notified as materialized (
    select pg_notify('${EXECUTIONS_CHANNEL}', $3 || ':pending') where exists (select 1 from released)
  )
  select (select count(*)::int from released) as released, (select count(*) from notified) as notified,
    (select count(*)::int from chosen) as chosen, (select count(*)::int from limits) as services,
    coalesce((select json_agg(json_build_object('limitKey', last.limit_key, 'ownerId', last.owner_id))
      from (select distinct on (limit_key) limit_key, owner_id from chosen order by limit_key, number desc) last), '[]') as "lastTurns"`;

/** Who got the last place of a service. */
interface Turn {
  readonly limitKey: string;
  readonly ownerId: string;
}

interface ReleaseRow {
  readonly released: number;
  /** Those that there were places for. */
  readonly chosen: number;
  /** That held executions. */
  readonly services: number;
  readonly lastTurns: readonly Turn[];
}

/** What a round has done about limits. */
export interface LimitedRound {
  readonly released: number;
  /** Whether there are places for more, which the next round gives. */
  readonly isMore: boolean;
  /** Whether some were held, which wait for a place. */
  readonly isAnyHeld: boolean;
}

/** Nothing is held by a limit. */
const NOTHING: LimitedRound = { released: 0, isMore: false, isAnyHeld: false };

/** Services whose last turn is remembered; of one that is forgotten, the first owner is the next. */
const MAX_TURNS = 1_000;

/**
 * Returns a function that releases executions that are held by a limit, as far as there are places. Who is killed during it has released all of its
 * statement, or nothing.
 */
export function createLimitedRelease(
  database: Database,
  events: Pick<Events, "origin" | "emitPending">,
  readHorizon: ReadHorizon,
): () => Promise<LimitedRound> {
  // In this process only: where several take turns at it, an owner waits for as many rounds of turns at most.
  const turns = new Map<string, string>();
  return async () => {
    if (!(await isAnyLimited(database.query))) return NOTHING;
    const horizon = await readHorizon();
    const row = await database.transaction(async (run) => {
      // A statement of its own: the next one sees what was released until the lock was there.
      await run({ text: "select pg_advisory_xact_lock($1)", values: [RELEASE_LIMITED_LOCK] });
      const [released] = await run<ReleaseRow>({
        name: "execution-release-limited",
        text: RELEASE,
        values: [horizon, findEndOfTomorrow(), events.origin, [...turns.keys()], [...turns.values()]],
      });
      return released;
    });
    if (row === undefined) throw new Error("A statement that returns one row returned none.");
    const { released, chosen, services, lastTurns } = row;
    noteTurns(turns, lastTurns);
    if (released > 0) events.emitPending();
    return { released, isMore: chosen > 0, isAnyHeld: services > 0 };
  };
}

function noteTurns(turns: Map<string, string>, last: readonly Turn[]): void {
  for (const { limitKey, ownerId } of last) {
    turns.delete(limitKey);
    turns.set(limitKey, ownerId);
  }
  for (const key of turns.keys()) {
    if (turns.size <= MAX_TURNS) break;
    turns.delete(key);
  }
}

async function isAnyLimited(run: RunStatement): Promise<boolean> {
  const rows = await run({
    name: "execution-any-limited",
    text: `select 1 from execution e where ${isLimited("e")} limit 1`,
    idempotent: true,
  });
  return rows.length > 0;
}
