import type { SandboxReport } from "@platform/contract/sandbox";
import type { ProjectKind, Resources } from "@platform/contract/project";
import { WORKER_SILENCE_SECONDS } from "@platform/engine/store/execution-store";
import type { Database, RunStatement } from "../../postgres/database.ts";
import { backendWorkerOf, selectProcessId } from "../base/backend-worker.ts";
import { noteAudit, noteUnchanged } from "../audit/trail.ts";
import { fromStoredResources, selectMilliseconds } from "../base/columns.ts";
import type { StoredResources } from "../base/columns.ts";
import { BUILDS_CHANNEL } from "../base/channels.ts";

/** A worker as operators see it; times in milliseconds since the epoch, resources in vCPUs and GB. */
interface OperatedWorker {
  readonly id: string;
  /** Whose executions it runs. */
  readonly kind: ProjectKind;
  /** Null, as the next ones: its process has not described itself. */
  readonly host: string | null;
  readonly roles: readonly string[] | null;
  readonly version: string | null;
  readonly startedAt: number | null;
  readonly seenAt: number;
  /** Whether it has reported lately. */
  readonly isLive: boolean;
  /** Since when it takes no more work; null: it does. */
  readonly drainingSince: number | null;
  readonly capacity: Resources;
  /** By what it runs. */
  readonly used: Resources;
  /** Executions that it runs, those among them that it still prepares. */
  readonly running: number;
  /** Builds that it runs. */
  readonly builds: number;
  readonly sandbox: SandboxReport | null;
  readonly python: string | null;
}

/** The workers of the platform, for its operators. */
export interface WorkerOperations {
  /** Those that were started first come first; a lost one for an hour, one that drains for a day. */
  readonly list: () => Promise<readonly OperatedWorker[]>;
  /**
   * Says that a worker takes no more executions and builds, or takes them again; what it runs goes on. That of a process speaks for its worker for
   * backends as well. Durable: who claims reads it. Null: there is no such worker.
   */
  readonly setDraining: (id: string, isDraining: boolean) => Promise<OperatedWorker | null>;
}

/** More than a platform has: those that were seen last. */
const MOST = 1_000;

const selectWorkers = (condition: string) => `with shown as materialized (
    select * from worker where ${condition} order by seen_at desc limit ${MOST}
  ), running as materialized (
    select e.worker_id, count(*)::int as count, sum(e.cpu_milli)::int as cpu_milli, sum(e.memory_milli)::int as memory_milli
    from execution e where e.lease_until is not null and e.worker_id = any (array(select id from shown)) group by 1
  ), building as materialized (
    select b.worker_id, count(*)::int as count from build b
    where b.status = 'RUNNING' and b.worker_id = any (array(select id from shown)) group by 1
  )
  select w.id, w.kind, p.host, p.roles, p.version, ${selectMilliseconds("p.started_at")} as "startedAt", ${selectMilliseconds("w.seen_at")} as "seenAt",
    w.seen_at > now() - interval '${WORKER_SILENCE_SECONDS} seconds' as "isLive", ${selectMilliseconds("w.draining_since")} as "drainingSince",
    json_build_object('cpu_milli', w.cpu_milli, 'memory_milli', w.memory_milli) as capacity,
    json_build_object('cpu_milli', coalesce(r.cpu_milli, 0), 'memory_milli', coalesce(r.memory_milli, 0)) as used,
    coalesce(r.count, 0) as running, coalesce(b.count, 0) as builds, p.sandbox, p.python
  from shown w left join platform_process p on p.id = ${selectProcessId("w")} left join running r on r.worker_id = w.id
    left join building b on b.worker_id = w.id
  order by p.started_at nulls last, w.id`;

const LIST = selectWorkers("true");
const FIND = selectWorkers("id = $1");

type Row = Omit<OperatedWorker, "capacity" | "used"> & {
  readonly capacity: StoredResources;
  readonly used: StoredResources;
};

/** The same in PostgreSQL. */
export function createWorkerOperations(database: Database): WorkerOperations {
  return {
    list: async () => (await database.query<Row>({ text: LIST, idempotent: true })).map(toWorker),
    setDraining: async (id, isDraining) => {
      const isKnown = await database.transaction((run) => setDraining(run, id, isDraining));
      if (!isKnown) return null;
      const [row] = await database.query<Row>({ text: FIND, values: [id], idempotent: true });
      return row === undefined ? null : toWorker(row);
    },
  };
}

async function setDraining(run: RunStatement, id: string, isDraining: boolean): Promise<boolean> {
  const [found] = await run<{ readonly was: boolean }>({
    text: "select draining_since is not null as was from worker where id = $1 for update",
    values: [id],
  });
  if (found === undefined) return false;
  if (found.was === isDraining) {
    noteUnchanged();
    return true;
  }
  noteAudit({ changes: [{ field: "draining", before: String(found.was), after: String(isDraining) }] });
  await run({
    text: `update worker set draining_since = case when $2 then now() end where id in ($1, $3) returning id`,
    values: [id, isDraining, backendWorkerOf(id)],
    audited: ["worker.drain", "worker.resume"],
  });
  // Builds may be waiting for it. Executions are looked for once a second.
  await run({ text: "select pg_notify($1, '')", values: [BUILDS_CHANNEL] });
  return true;
}

function toWorker({ capacity, used, ...row }: Row): OperatedWorker {
  return { ...row, capacity: fromStoredResources(capacity), used: fromStoredResources(used) };
}
