import { BACKEND_PRIORITY } from "@platform/engine/store/kinds";
import type { Database } from "../postgres/database.ts";
import { lookUp } from "./executions/lookup.ts";
import { isQueued } from "./executions/queue-rows.ts";

/*
 * A job of a session is created as any other, and then takes the turn of the next job that waits of its organisation: the first of them the turn of
 * the first that waits, further ones a turn apart. So the jobs of a session have a line of their own beside the other jobs of the organisation, which has
 * two jobs in a turn at most, and other organisations keep their turns: nobody waits for ever, however many sessions there are.
 *
 * It never gets an earlier turn than the first job of an organisation that has none (executions/rank.ts). Otherwise a job that fits no worker, which keeps
 * its turn for ever, would take every job of its organisation's sessions before those of all others.
 */

/** Jobs of a class that wait; `x`. */
const WAITS = `x.priority = ${BACKEND_PRIORITY} and ${isQueued("x")} and x.id <> $2::uuid`;
/** How many of the first that wait are searched for one that is no larger. */
const HEAD = 256;

/** SQL: the turn that the first job of an organisation would get if it were as large as `e`. */
const FIRST_TURN = `coalesce(
      (select x.rank + 1 from execution x
        where x.lease_until is not null and x.priority = ${BACKEND_PRIORITY} and x.cpu_milli >= e.cpu_milli and x.memory_milli >= e.memory_milli
        order by x.rank desc limit 1),
      (select head.rank from (
          select x.rank, x.cpu_milli, x.memory_milli from execution x where ${WAITS} order by x.rank, x.id limit ${HEAD}
        ) head where head.cpu_milli <= e.cpu_milli and head.memory_milli <= e.memory_milli limit 1),
      e.rank)`;

/** Behind the last of the sessions of the organisation that waits; where none does, in the turn of the first that waits. */
const ADVANCE = `with advanced as (
    update execution e set rank = least(e.rank, greatest(${FIRST_TURN}, coalesce(
      (select x.rank + 1 from execution x
        where x.owner_id = $1::uuid and ${isQueued("x")} and x.session_id is not null and x.id <> $2::uuid
        order by x.rank desc limit 1),
      (select x.rank from execution x where x.owner_id = $1::uuid and ${WAITS} order by x.rank limit 1))))
    where ${lookUp("e", "$2::uuid", isQueued("e"))} returning e.id
  )
  select exists (
    select 1 from quantum_session s where s.organisation_id = $1::uuid and s.id = $3::uuid and s.cancelled_at is not null
  ) as "isCancelled"`;

/** A job of a session that was started. */
interface SessionJob {
  readonly organisationId: string;
  readonly sessionId: string;
  readonly executionId: string;
}

/**
 * Gives a job its turn. True: its session was cancelled before this moment, and whoever did may not have seen the job, which is to be ended as well.
 * Whoever cancels a session afterwards sees it.
 */
export async function advanceJob(
  database: Pick<Database, "query">,
  { organisationId, sessionId, executionId }: SessionJob,
): Promise<boolean> {
  const [row] = await database.query<{ readonly isCancelled: boolean }>({
    name: "quantum-session-advance",
    text: ADVANCE,
    values: [organisationId, executionId, sessionId],
    idempotent: true,
  });
  return row?.isCancelled === true;
}
