import { isQueued } from "./queue-rows.ts";

/*
 * Fair share between owners is decided when executions are created (start-time fair queueing: Goyal, Vin, Cheng 1996).
 * Each gets a rank. Within a priority, executions are claimed in order of rank, then of id; each priority is a queue of its own:
 *
 *   rank = 1 + max(level, rank of the owner's last pending execution)
 *
 * The level is how far the queue has been served: the highest rank among running executions that are at least as large.
 * If none of these runs, the execution gets the rank of the first pending execution that is no larger. An owner's executions are
 * thus one rank apart and take turns with those of other owners. The first execution of a new owner comes right after
 * what runs: not after a whole backlog, and not before executions whose turn it is, since a series of new owners could
 * then delay those for ever. Two simpler definitions of the level do not work:
 * - The lowest pending rank: an execution that fits no worker keeps it in place for ever, and owners who never have more
 *   than one execution at a time overtake every backlog.
 * - The highest running rank, whatever the size: small executions keep running while large ones wait for capacity, so a
 *   new large one would come after all large ones of another owner.
 *
 * Within a process no two executions of an owner get the same rank, since an owner's executions are in one flush at a
 * time. Several gateways that serve one owner at the same time may each give out a rank, so that the owner gets as many
 * executions per turn as there are gateways, at most.
 */

/**
 * The bounds on the id make PostgreSQL skip the partitions of days before the oldest execution that waits or runs
 * (queue-horizon.ts), and of days after tomorrow.
 */
const RECENT = "e.priority = t.priority and e.id >= $1 and e.id < $2";

/** How many of the first pending executions are searched for one that is no larger. */
const HEAD = 256;

/*
 * Four lookups in indexes: the first once for each owner of the flush, the others once for each size. They see what was
 * committed before the statement began; the batcher never has two flushes of one owner under way.
 */
const BEHIND_OWN = `(select e.rank + 1 from execution e
    where e.owner_id = t.owner_id and ${isQueued("e")} and ${RECENT} order by e.rank desc limit 1)`;
/** SQL: behind what runs of the priority and is at least as large as `t`; null: nothing is. */
export const BEHIND_RUNNING = `(select e.rank + 1 from execution e
    where e.lease_until is not null and e.cpu_milli >= t.cpu_milli and e.memory_milli >= t.memory_milli and ${RECENT}
    order by e.rank desc limit 1)`;
const FIRST_PENDING = `(select e.rank from execution e
    where ${isQueued("e")} and ${RECENT} order by e.rank, e.id limit 1)`;
const FIRST_PENDING_NOT_LARGER = `(select head.rank from (
      select e.rank, e.cpu_milli, e.memory_milli from execution e
      where ${isQueued("e")} and ${RECENT} order by e.rank, e.id limit ${HEAD}
    ) head where head.cpu_milli <= t.cpu_milli and head.memory_milli <= t.memory_milli limit 1)`;

/** SQL: the rank that an execution gets whose owner, vCPUs, memory and priority are in `t`. */
export const RANK_OF_ONE = `greatest(coalesce(${BEHIND_RUNNING}, ${FIRST_PENDING_NOT_LARGER}, ${FIRST_PENDING}, 0), ${BEHIND_OWN})`;

/**
 * SQL: CTEs, the last of which, `ranked`, has the rows of `candidates` with the `rank` that each has as one that is created now, and its
 * `turn` among those of its owner, from 0. These have owner_id, cpu_milli, memory_milli, priority, held, and `position`, their order. What is held
 * takes no turn of its owner's: it gets another rank when it is released. Parameters:
 * lowest id in the queue, lowest id of the day after tomorrow.
 */
export function describeRanks(candidates: string): string {
  return `turn as (
    -- turn counts the executions of each owner in this flush from 0; class_turn those of one priority.
    select *, row_number() over (partition by owner_id order by position) - 1 as turn,
      row_number() over (partition by owner_id, priority order by position) - 1 as class_turn,
      row_number() over (partition by cpu_milli, memory_milli, priority) = 1 as is_first_of_size
    from ${candidates}
  ), looked_up as materialized (
    -- "case" evaluates a lookup only for the first execution of a size, or of an owner; materialized, once.
    select *, case when is_first_of_size then
        coalesce(${BEHIND_RUNNING}, ${FIRST_PENDING_NOT_LARGER}, ${FIRST_PENDING}, 0)
      end as level, case class_turn when 0 then ${BEHIND_OWN} end as behind_own
    from turn t
  ), line as (
    -- Gives all executions of a size their level. "greatest" ignores null: behind_own of an owner who has none pending.
    select *, greatest(max(level) over (partition by cpu_milli, memory_milli, priority), behind_own) as place from looked_up
  ), ranked as (
    -- The first of the owner gets its place, the others follow one rank apart.
    select *, first_value(place) over (partition by owner_id, priority order by class_turn)
      + greatest(0, count(*) filter (where held is null) over (partition by owner_id, priority order by class_turn) - 1) as rank
    from line
  )`;
}
