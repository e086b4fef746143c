import type { Resources } from "@platform/contract/project";
import type { SandboxReport } from "@platform/contract/sandbox";
import type { Database } from "../../postgres/database.ts";
import { selectMilliseconds, toStoredResources } from "../base/columns.ts";

/** What does not work in a process. */
interface ProcessFault {
  readonly part: string;
  readonly detail: string;
}

/** A process of the platform, as it describes itself; times in milliseconds since the epoch. */
export interface ProcessReport {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly roles: readonly string[];
  readonly version: string;
  readonly startedAt: number;
  /** Of the disk of its data directory, in bytes. */
  readonly disk: { readonly free: number; readonly total: number };
  readonly faults: readonly ProcessFault[];
  /** Null: it runs no user code. */
  readonly sandbox: SandboxReport | null;
  /** Version of Python that it runs user code with. */
  readonly python: string | null;
  /** vCPUs and GB that it has for executions of backends; missing: it runs none. */
  readonly backendCapacity?: Resources | undefined;
}

/** The same, as it is stored. */
interface ProcessRecord extends Omit<ProcessReport, "backendCapacity"> {
  readonly seenAt: number;
  /** Whether it has reported lately. */
  readonly isLive: boolean;
}

/** The processes of the platform. */
export interface ProcessStore {
  /** To be repeated every PROCESS_REPORT_SECONDS. */
  readonly report: (report: ProcessReport) => Promise<void>;
  readonly leave: (id: string) => Promise<void>;
  /** Those that were started first come first; a lost one for a day. */
  readonly list: () => Promise<readonly ProcessRecord[]>;
}

/** How often a process reports. */
export const PROCESS_REPORT_SECONDS = 5;
/** A process that has not reported for so long counts as lost. */
const SILENCE = "interval '30 seconds'";
const FORGET_AFTER = "interval '1 day'";
/** More than a platform has: those that were seen last. */
const MOST = 1_000;

/** SQL: whether a row of `platform_process p` has reported lately. */
const IS_LIVE = `p.seen_at > now() - ${SILENCE}`;

/** The processes in PostgreSQL. */
export function createProcessStore(database: Database): ProcessStore {
  return {
    report: (report) => reportProcess(database, report),
    leave: async (id) => {
      await database.query({
        text: "delete from platform_process where id = $1",
        values: [id],
        idempotent: true,
      });
    },
    list: () =>
      database.query<ProcessRecord>({
        text: `select p.id, p.host, p.pid, p.roles, p.version, ${selectMilliseconds("p.started_at")} as "startedAt",
            ${selectMilliseconds("p.seen_at")} as "seenAt", ${IS_LIVE} as "isLive", p.faults, p.sandbox, p.python,
            json_build_object('free', p.disk_free, 'total', p.disk_total) as disk
          from (select * from platform_process order by seen_at desc limit ${MOST}) p order by p.started_at, p.id`,
        idempotent: true,
      }),
  };
}

async function reportProcess(database: Database, report: ProcessReport): Promise<void> {
  const { id, host, pid, roles, version, startedAt, disk, faults, sandbox, python, backendCapacity } = report;
  const capacity = backendCapacity === undefined ? null : toStoredResources(backendCapacity);
  await database.query({
    name: "process-report",
    text: `with forgotten as (
        delete from platform_process where seen_at < now() - ${FORGET_AFTER}
      ) insert into platform_process
        (id, host, pid, roles, version, started_at, disk_free, disk_total, faults, sandbox, python, backend_cpu_milli, backend_memory_milli)
        values ($1, $2, $3, $4, $5, to_timestamp($6::float8 / 1000), $7, $8, $9, $10, $11, $12, $13)
        on conflict (id) do update set seen_at = now(), disk_free = excluded.disk_free, disk_total = excluded.disk_total,
          faults = excluded.faults`,
    values: [
      id,
      host,
      pid,
      roles,
      version,
      startedAt,
      disk.free,
      disk.total,
      JSON.stringify(faults),
      sandbox === null ? null : JSON.stringify(sandbox),
      python,
      capacity?.cpu_milli ?? null,
      capacity?.memory_milli ?? null,
    ],
    idempotent: true,
  });
}
