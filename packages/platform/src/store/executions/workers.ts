import type { ProjectKind, Resources } from "@platform/contract/project";
import { WORKER_SILENCE_SECONDS } from "@platform/engine/store/execution-store";
import type { Reservation, WorkerReport } from "@platform/engine/store/execution-store";
import type { Database } from "../../postgres/database.ts";
import { fromStoredResources, toFreeThousandths, toStoredResources } from "../base/columns.ts";
import type { StoredResources } from "../base/columns.ts";
import { isDraining } from "../base/draining.ts";
import { selectMainWorker, selectProcessId } from "../base/backend-worker.ts";
import { lookUp } from "./lookup.ts";
import { classesOf, isQueued, selectReadySince } from "./queue-rows.ts";

/** Rows of lost workers are kept for so long, so that operators can see them; of those that drain for longer: one that comes back still does. */
const FORGET_AFTER = "case when draining_since is null then interval '1 hour' else interval '1 day' end";

/** SQL that is true for rows of `worker w` that have reported lately. */
const IS_LIVE = `w.seen_at > now() - interval '${WORKER_SILENCE_SECONDS} seconds'`;

/** SQL that is true for those of them that take work. */
export const TAKES_WORK = `${IS_LIVE} and w.draining_since is null`;

/**
 * Writes a worker's report and decides which execution it reserves capacity for. A reservation is part of the worker's
 * row, so it is renewed with each report and ends when the worker is lost.
 */
const REPORT = `with kept as materialized (
    -- Goes on with the execution reserved before while that is PENDING. Two workers that report at the same time may
    -- reserve the same one, since neither sees the other's row: the one with the higher id gives it up here.
    select e.id, e.cpu_milli, e.memory_milli from execution e
    where ${lookUp("e", "$7::uuid", isQueued("e"))} and not ${isDraining("$1")}
      and not exists (select 1 from worker w where w.reserved_execution_id = e.id and w.id < $1 and ${TAKES_WORK})
  ), wanted as materialized (
    -- The first of the queue that has waited long enough, fits the capacity but not what is free, and for which no
    -- other living worker reserves capacity. A null $8: the worker reserves nothing new.
    select e.id, e.cpu_milli, e.memory_milli from execution e
    where $8::float8 is not null and not exists (select 1 from kept) and not ${isDraining("$1")}
      and ${isQueued("e")} and (e.not_before is null or e.not_before <= now()) and e.version_id <> all ($6::uuid[])
      -- The column rounds to the millisecond: what was created in this one may stand there as later than now.
      and ${selectReadySince("e")} < now() - make_interval(secs => $8) + interval '1 millisecond'
      and e.priority between $10::smallint and $11::smallint and e.cpu_milli <= $2 and e.memory_milli <= $3 and (e.cpu_milli > $4 or e.memory_milli > $5)
      and not exists (select 1 from worker w where w.reserved_execution_id = e.id and w.id <> $1 and ${TAKES_WORK})
    order by e.priority desc, e.rank, e.id limit 1
  ), choice as materialized (
    select * from kept union all select * from wanted
  ), reported as (
    -- The commit need not be flushed: the next report replaces what a crash of the server loses.
    -- One for backends begins later than its process, which may drain already.
    insert into worker (id, kind, cpu_milli, memory_milli, reserved_execution_id, draining_since)
    select $1, $9, $2, $3, (select id from choice), (select w.draining_since from worker w where w.id = ${selectMainWorker("$1::text")})
    where (select set_config('synchronous_commit', 'off', true)) is not null
    on conflict (id) do update set cpu_milli = excluded.cpu_milli, memory_milli = excluded.memory_milli,
      reserved_execution_id = excluded.reserved_execution_id, seen_at = now()
  ), forgotten as (
    delete from worker where seen_at < now() - ${FORGET_AFTER}
  )
  select * from choice`;

/** `WorkerRegistry.report` for PostgreSQL. */
export async function reportWorker(database: Database, report: WorkerReport): Promise<Reservation | null> {
  const { kind = "service" } = report;
  const capacity = toStoredResources(report.capacity);
  const [row] = await database.query<StoredResources & { readonly id: string }>({
    name: "worker-report",
    text: REPORT,
    values: [
      report.workerId,
      capacity.cpu_milli,
      capacity.memory_milli,
      toFreeThousandths(report.free.cpu),
      toFreeThousandths(report.free.memory),
      report.excludedVersionIds,
      report.reservedId,
      report.reservesAfterSeconds,
      kind,
      ...classesOf(kind),
    ],
    idempotent: true,
  });
  return row === undefined ? null : { id: row.id, resources: fromStoredResources(row) };
}

/** `WorkerRegistry.leave` for PostgreSQL. */
export async function removeWorker(database: Database, workerId: string): Promise<void> {
  await database.query({ text: "delete from worker where id = $1", values: [workerId], idempotent: true });
}

/** Until there is a first backend, a process has no worker for them; by its first job it will. */
const LIST = `select w.cpu_milli, w.memory_milli from worker w where ${TAKES_WORK} and w.kind = $1
  union all
  select p.backend_cpu_milli, p.backend_memory_milli from worker w join platform_process p on p.id = w.id
  where $1 = 'backend' and ${TAKES_WORK} and w.kind = 'service' and p.backend_cpu_milli is not null
    and not exists (select 1 from worker b where b.kind = 'backend' and ${selectProcessId("b")} = p.id)`;

/** `WorkerRegistry.listWorkers` for PostgreSQL: the capacities of those of a kind that take work, in vCPUs and GB. */
export async function listWorkers(database: Database, kind: ProjectKind): Promise<readonly Resources[]> {
  const rows = await database.query<StoredResources>({
    name: "worker-list",
    text: LIST,
    values: [kind],
    idempotent: true,
  });
  return rows.map(fromStoredResources);
}
