import { Problem } from "@platform/contract/problems";
import type { ExecutionRecord, NewExecution } from "@platform/engine/ports";
import type { Database } from "../../postgres/database.ts";
import { selectMilliseconds, toStoredResources } from "../columns.ts";
import { concatenate, createBatcher } from "./batch.ts";
import type { Batcher } from "./batch.ts";
import { EXECUTIONS_CHANNEL } from "./events.ts";
import type { Events } from "./events.ts";
import { findExecution } from "./read.ts";

const MEGABYTE = 1024 * 1024;

/** Durable when it resolves: the commit of the group is synchronous. */
export function createCreator(database: Database, events: Events): Batcher<NewExecution, ExecutionRecord> {
  return createBatcher({
    maxItems: 256,
    maxBytes: 8 * MEGABYTE,
    maxInFlight: 3,
    measureBytes: (execution) => execution.body.byteLength,
    flush: async (executions) => {
      const created = await insertExecutions(database, events.origin, executions);
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
}

function toPendingRecord(execution: NewExecution, createdAt: number): ExecutionRecord {
  const { id, ownerId, versionId } = execution;
  return {
    id,
    ownerId,
    versionId,
    status: "PENDING",
    createdAt,
    startedAt: null,
    endedAt: null,
    failure: null,
  };
}

async function findRepeated(database: Database, execution: NewExecution): Promise<ExecutionRecord> {
  const record = await findExecution(database, execution.id, execution.ownerId);
  if (record !== null) return record;
  throw new Problem("CONFLICT", `The id ${execution.id} is taken by another execution.`);
}

const TEXT = `with input as (
    select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::int[], $6::int[], $7::text[], $8::int[], $9::int[])
      as i (id, owner_id, version_id, cpu_milli, memory_mb, timeout_seconds, refs, start, length)
  ), created as (
    insert into execution (id, owner_id, version_id, cpu_milli, memory_mb, timeout_seconds)
    select id, owner_id, version_id, cpu_milli, memory_mb, timeout_seconds from input
    on conflict do nothing returning id, created_at
  ), bodies as (
    insert into execution_input (id, body, "references")
    select id, substr($10::bytea, start, length), refs::jsonb from input on conflict do nothing
  ), told as materialized (
    select pg_notify('${EXECUTIONS_CHANNEL}', $11 || ':pending') where exists (select 1 from created)
  )
  select created.id, ${selectMilliseconds("created.created_at")} as "createdAt" from created left join told on true`;

/** Inserts what is new and says when; ids that exist already are left out. */
async function insertExecutions(
  database: Database,
  origin: string,
  executions: readonly NewExecution[],
): Promise<ReadonlyMap<string, number>> {
  const bodies = concatenate(executions.map(({ body }) => body));
  const resources = executions.map((execution) => toStoredResources(execution.resources));
  const rows = await database.query<{ id: string; createdAt: number }>({
    name: "execution-create",
    text: TEXT,
    values: [
      executions.map(({ id }) => id),
      executions.map(({ ownerId }) => ownerId),
      executions.map(({ versionId }) => versionId),
      resources.map(({ cpu_milli }) => cpu_milli),
      resources.map(({ memory_mb }) => memory_mb),
      executions.map(({ timeoutSeconds }) => timeoutSeconds),
      executions.map(({ references }) => (hasReferences(references) ? JSON.stringify(references) : null)),
      bodies.starts,
      bodies.lengths,
      bodies.bytes,
      origin,
    ],
    // An answer that was lost is asked for again; ids that the first try committed are then found as repeated.
    idempotent: true,
  });
  return new Map(rows.map(({ id, createdAt }) => [id, createdAt]));
}

function hasReferences(references: NewExecution["references"]): boolean {
  return references.data !== undefined || references.params !== undefined;
}
