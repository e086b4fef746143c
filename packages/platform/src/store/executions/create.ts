import { Problem } from "@platform/contract/problems";
import type { ExecutionRecord, NewExecution } from "@platform/engine/store/execution-store";
import { DAY } from "@platform/engine/base/time";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { getLowestUuid } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";
import { FateUnknown } from "../../postgres/retry.ts";
import { fromStoredResources, selectMilliseconds, toStoredResources } from "../base/columns.ts";
import { concatenate, createBatcher } from "./batch.ts";
import type { Batcher } from "./batch.ts";
import { EXECUTIONS_CHANNEL } from "../base/channels.ts";
import type { Events } from "./events.ts";
import { createQueueHorizon } from "./queue-horizon.ts";
import { findExecution } from "./read.ts";

/*
 * Fair share between owners is decided here (start-time fair queueing: Goyal, Vin, Cheng 1996). Within a priority
 * executions are claimed in the order of their rank, equal ones in that of their ids:
 *
 *   rank = 1 + max(level, rank of the owner's last pending execution)
 *
 * The level is how far the queue has been served: the highest rank that runs among executions at least as large. Where
 * none runs, the place is that of the first that is pending and no larger. So an owner's executions stand one rank apart and take turns with
 * other owners'; who comes new stands right behind what runs, neither behind a backlog nor ahead of those whose turn it
 * is (one after another such newcomers would keep them waiting for ever). What does not work as the level:
 * - the head of the queue: an execution that fits nowhere holds it for ever, and owners who never have more than one at
 *   a time pass every backlog;
 * - the highest rank that runs, of whatever size: small executions go on while large ones wait for capacity, and a large
 *   newcomer would stand behind all of another owner's large ones.
 *
 * In one process no rank of an owner repeats, since an owner's executions are in one flush at a time. Several gateways
 * that serve one owner at the same moment may give a rank once each: so many turns instead of one, at most.
 */

/** Durable when it resolves: the commit of the group is synchronous. */
export function createCreator(database: Database, events: Events): Batcher<NewExecution, ExecutionRecord> {
  const readHorizon = createQueueHorizon(database);
  const batcher = createBatcher<NewExecution, ExecutionRecord>({
    maxItems: 256,
    maxBytes: 8 * MEGABYTE,
    maxInFlight: 3,
    measureBytes: (execution) => execution.body.byteLength,
    keyOf: (execution) => execution.owner.id,
    flush: async (executions) => {
      const created = await insertExecutions(database, events.origin, executions, await readHorizon());
      if (created.size > 0) events.emitPending();
      return Promise.all(
        executions.map(async (execution) => {
          const createdAt = created.get(execution.id);
          if (createdAt === undefined) return findRepeated(database, execution);
          return toPendingRecord(execution, createdAt);
        }),
      );
    },
  });
  return { ...batcher, add: (execution) => batcher.add(execution).catch(refuseUnknown) };
}

/** UNAVAILABLE promises that nothing was accepted: callers repeat such a start, and it would run twice. */
function refuseUnknown(error: unknown): never {
  if (!(error instanceof FateUnknown)) throw error;
  throw new Problem(
    "INTERNAL_ERROR",
    "The database went away while the execution was stored; it is not known whether it was accepted. Look at the list before starting it again.",
    { cause: error },
  );
}

function toPendingRecord(execution: NewExecution, createdAt: number): ExecutionRecord {
  const { id, owner, versionId } = execution;
  return {
    id,
    ownerId: owner.id,
    versionId,
    resources: fromStoredResources(toStoredResources(execution.resources)),
    status: "PENDING",
    createdAt,
    startedAt: null,
    endedAt: null,
    failure: null,
  };
}

async function findRepeated(database: Database, execution: NewExecution): Promise<ExecutionRecord> {
  const { id, owner } = execution;
  const record = await findExecution(database, id, owner.id).catch((error: unknown) => {
    throw error instanceof Problem ? new FateUnknown(error) : error;
  });
  if (record !== null) return record;
  throw new Problem("CONFLICT", `The id ${id} is taken by another execution.`);
}

/** Leaves out the days before the oldest execution that waits or runs (queue-horizon.ts). */
const RECENT = "e.priority = 0 and e.id >= $14 and e.id < $15";

/** So many of the queue's first are looked through for one that is no larger, where nothing runs. */
const HEAD = 256;

/** Index lookups of one row each: once for each owner of the group, and those that follow once for each size. */
const BEHIND_OWN = `(select e.rank + 1 from execution e
    where e.owner_id = t.owner_id and e.status = 'PENDING' and ${RECENT} order by e.rank desc limit 1)`;
const BEHIND_RUNNING = `(select e.rank + 1 from execution e
    where e.lease_until is not null and e.cpu_milli >= t.cpu_milli and e.memory_milli >= t.memory_milli and ${RECENT}
    order by e.rank desc limit 1)`;
const FIRST_PENDING = `(select e.rank from execution e
    where e.status = 'PENDING' and ${RECENT} order by e.rank, e.id limit 1)`;
const FIRST_PENDING_NOT_LARGER = `(select head.rank from (
      select e.rank, e.cpu_milli, e.memory_milli from execution e
      where e.status = 'PENDING' and ${RECENT} order by e.rank, e.id limit ${HEAD}
    ) head where head.cpu_milli <= t.cpu_milli and head.memory_milli <= t.memory_milli limit 1)`;

const TEXT = `with input as (
    select * from unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::uuid[], $6::int[], $7::int[], $8::int[], $9::text[],
        $10::int[], $11::int[])
      with ordinality
      as i (id, owner_kind, owner_id, organisation_id, version_id, cpu_milli, memory_milli, timeout_seconds, refs, start, length, position)
  ), turn as (
    select *, row_number() over (partition by owner_id order by position) - 1 as turn,
      row_number() over (partition by cpu_milli, memory_milli) = 1 as is_first_of_size
    from input
  ), looked_up as (
    select *, case when is_first_of_size then
        coalesce(${BEHIND_RUNNING}, ${FIRST_PENDING_NOT_LARGER}, ${FIRST_PENDING}, 0)
      end as level, case turn when 0 then ${BEHIND_OWN} end as behind_own
    from turn t
  ), line as (
    select *, greatest(max(level) over (partition by cpu_milli, memory_milli), behind_own) as place from looked_up
  ), ranked as (
    select *, first_value(place) over (partition by owner_id order by turn) + turn as rank from line
  ), created as (
    insert into execution (id, owner_kind, owner_id, organisation_id, version_id, cpu_milli, memory_milli, timeout_seconds, rank)
    select id, owner_kind, owner_id, organisation_id, version_id, cpu_milli, memory_milli, timeout_seconds, rank from ranked
    on conflict do nothing returning id, created_at
  ), bodies as (
    insert into execution_input (id, body, "references")
    select id, substr($12::bytea, start, length), refs::jsonb from input on conflict do nothing
  ), told as materialized (
    select pg_notify('${EXECUTIONS_CHANNEL}', $13 || ':pending') where exists (select 1 from created)
  )
  select created.id, ${selectMilliseconds("created.created_at")} as "createdAt" from created left join told on true`;

/** Inserts what is new and says when; ids that exist already are left out. */
async function insertExecutions(
  database: Database,
  origin: string,
  executions: readonly NewExecution[],
  horizon: string,
): Promise<ReadonlyMap<string, number>> {
  const bodies = concatenate(executions.map(({ body }) => body));
  const resources = executions.map((execution) => toStoredResources(execution.resources));
  const today = Math.floor(Date.now() / DAY) * DAY;
  const rows = await database.query<{ id: string; createdAt: number }>({
    name: "execution-create",
    text: TEXT,
    values: [
      executions.map(({ id }) => id),
      executions.map(({ owner }) => owner.kind),
      executions.map(({ owner }) => owner.id),
      executions.map(({ owner }) => owner.organisationId),
      executions.map(({ versionId }) => versionId),
      resources.map(({ cpu_milli }) => cpu_milli),
      resources.map(({ memory_milli }) => memory_milli),
      executions.map(({ timeoutSeconds }) => timeoutSeconds),
      executions.map(({ references }) => (hasReferences(references) ? JSON.stringify(references) : null)),
      bodies.starts,
      bodies.lengths,
      bodies.bytes,
      origin,
      horizon,
      getLowestUuid(today + 2 * DAY),
    ],
    // An answer that was lost is asked for again; ids that the first try committed are then found as repeated.
    idempotent: true,
  });
  return new Map(rows.map(({ id, createdAt }) => [id, createdAt]));
}

function hasReferences(references: NewExecution["references"]): boolean {
  return references.data !== undefined || references.params !== undefined;
}
