import type { ClaimKey } from "@platform/engine/store/execution-store";
import type { ExecutionProgress } from "@platform/engine/store/execution-progress";
import type { ProgressUpdate } from "@platform/engine/python/port/runtime";
import { MEGABYTE } from "@platform/engine/base/bytes";
import { isUuid } from "@platform/engine/base/uuid";
import type { Database } from "../../postgres/database.ts";
import { EXECUTIONS_CHANNEL } from "../base/channels.ts";
import { selectMilliseconds } from "../base/columns.ts";
import { concatenate, createBatcher } from "./batch.ts";
import type { Batcher } from "./batch.ts";
import { selectPayloadIds } from "./events.ts";
import type { Events } from "./events.ts";
import { mayBeMoved } from "./kept.ts";
import { lookUp } from "./lookup.ts";
import { toText } from "./record.ts";

/*
 * What runs report: the newest only, in a row of its own, so that the row of the execution is not written again each second. As with log lines,
 * the commit need not be flushed: the commit of the end, which follows, flushes it.
 */

/** What one claim has reported. */
interface Report {
  readonly claim: ClaimKey;
  readonly update: ProgressUpdate;
}

/** Stores what runs report, in groups, one flush at a time. Resolves to false when the claim is no longer held. */
export function createProgressWriter(database: Database, events: Events): Batcher<Report, boolean> {
  return createBatcher({
    maxItems: 256,
    maxBytes: 4 * MEGABYTE,
    maxInFlight: 1,
    measureBytes: ({ update }) => update.checkpoint?.byteLength ?? 0,
    flush: async (reports) => {
      const newest = mergeReports(reports);
      const rows = await database.query<{ id: string }>({
        name: "execution-note-progress",
        text: NOTE,
        values: [...toValues(newest), events.origin],
        idempotent: true,
      });
      const written = new Set(rows.map(({ id }) => id));
      for (const id of written) events.emitProgress(id);
      return reports.map(({ claim }) => written.has(claim.id));
    },
  });
}

/** One for each claim: a statement may write a row once. */
function mergeReports(reports: readonly Report[]): readonly Report[] {
  const merged = new Map<string, Report>();
  for (const { claim, update } of reports) {
    const key = `${claim.id} ${claim.attempt} ${claim.workerId}`;
    const before = merged.get(key)?.update;
    const progress = update.progress ?? before?.progress ?? null;
    merged.set(key, {
      claim,
      update: { progress, checkpoint: update.checkpoint ?? before?.checkpoint ?? null },
    });
  }
  return [...merged.values()];
}

const EMPTY = new Uint8Array();

function toValues(reports: readonly Report[]): readonly unknown[] {
  const slices = concatenate(reports.map(({ update }) => update.checkpoint ?? EMPTY));
  return [
    reports.map(({ claim }) => claim.id),
    reports.map(({ claim }) => claim.attempt),
    reports.map(({ claim }) => claim.workerId),
    reports.map(({ update }) => update.progress?.fraction ?? null),
    reports.map(({ update }) => (update.progress === null ? null : toText(update.progress.message))),
    reports.map(({ update }) => update.checkpoint !== null),
    slices.starts,
    slices.lengths,
    slices.bytes,
  ];
}

/**
 * SQL: whether what `p` has of a checkpoint counts for an execution with this attempt. Of the claim before one that could not be started nothing is
 * there; of an attempt that has run and failed, what it has kept stays until there is something newer.
 */
const isKept = (attempt: string, retried: string) => `(p.attempt = ${attempt} or ${retried} > 0)`;

/**
 * The fence of finish-statement.ts. The lock has an end that is being written decide first: nothing is noted of what has ended. How far an attempt
 * before has come is void.
 */
const IS_KEPT_BEFORE = isKept(
  "excluded.attempt",
  "(select held.retried from held where held.id = excluded.execution_id)",
);
const NOTE = `with held as (
    select i.*, e.retried, now() as at from unnest($1::uuid[], $2::int[], $3::text[], $4::float8[], $5::text[], $6::boolean[], $7::int[], $8::int[])
      as i (id, attempt, worker_id, fraction, message, has_checkpoint, start, length)
    join execution e on ${lookUp("e", "i.id", "e.attempt = i.attempt and e.worker_id = i.worker_id and e.status = 'RUNNING'")}
    where (select set_config('synchronous_commit', 'off', true)) is not null
    for share of e
  ), written as (
    insert into execution_progress as p (execution_id, attempt, fraction, message, reported_at, checkpoint, checkpoint_at)
    select id, attempt, fraction, message, at, case when has_checkpoint then substr($9::bytea, start, length) end,
      case when has_checkpoint then at end from held
    on conflict (execution_id) do update set attempt = excluded.attempt, reported_at = excluded.reported_at,
      fraction = coalesce(excluded.fraction, case when p.attempt = excluded.attempt then p.fraction end),
      message = coalesce(excluded.message, case when p.attempt = excluded.attempt then p.message end),
      checkpoint = coalesce(excluded.checkpoint, case when ${IS_KEPT_BEFORE} then p.checkpoint end),
      checkpoint_at = coalesce(excluded.checkpoint_at, case when ${IS_KEPT_BEFORE} then p.checkpoint_at end)
    returning p.execution_id as id
  ), notified as materialized (
    select pg_notify('${EXECUTIONS_CHANNEL}', $10 || ':progress:' || ${selectPayloadIds("id")}) from written having count(*) > 0
  )
  select id from written left join notified on true`;

/**
 * SQL: as `progress` what the attempt of the execution `alias` has reported, null: nothing. Of an attempt before that has failed, only when it has
 * kept a checkpoint.
 */
export function selectProgress(alias: string): string {
  const isNow = `p.attempt = ${alias}.attempt and ${alias}.worker_id is not null`;
  return `(select json_build_object('fraction', case when ${isNow} then p.fraction end, 'message', case when ${isNow} then p.message end,
      'at', ${selectMilliseconds("p.reported_at")}, 'checkpointAt', ${selectMilliseconds("p.checkpoint_at")})
    from execution_progress p where p.execution_id = any (array[${alias}.id])
      and (${isNow} or (${alias}.retried > 0 and p.checkpoint is not null)) is true) as progress`;
}

/** SQL: the same of an execution in `kept_execution`, which has no such column: of it no other is there. */
export function selectKeptProgress(alias: string): string {
  return `(select json_build_object('fraction', p.fraction, 'message', p.message, 'at', ${selectMilliseconds("p.reported_at")},
      'checkpointAt', ${selectMilliseconds("p.checkpoint_at")})
    from execution_progress p where p.execution_id = any (array[${alias}.id])) as progress`;
}

/** What `selectProgress` selects. */
export type ProgressRow = ExecutionProgress | null;

/** `ExecutionStore.readCheckpoint` for PostgreSQL. */
export async function readCheckpoint(
  database: Database,
  id: string,
  ownerId: string,
): Promise<Uint8Array | null> {
  if (!isUuid(id) || !isUuid(ownerId)) return null;
  for (const statement of mayBeMoved(id) ? [READ, READ_KEPT] : [READ]) {
    const [row] = await database.query<{ checkpoint: Buffer | null }>({
      ...statement,
      values: [id, ownerId],
      idempotent: true,
    });
    if (row !== undefined) return row.checkpoint;
  }
  return null;
}

const describeRead = (table: string, condition: string) => `select p.checkpoint from ${table} e
  join execution_progress p on p.execution_id = any (array[e.id]) and (${condition}) is true
  where ${lookUp("e", "$1::uuid", "e.owner_id = $2")}`;
const READ = {
  name: "execution-read-checkpoint",
  text: describeRead("execution", isKept("e.attempt", "e.retried")),
} as const;
const READ_KEPT = {
  name: "execution-read-kept-checkpoint",
  text: describeRead("kept_execution", "true"),
} as const;
