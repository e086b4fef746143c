import type { ExecutionStatus } from "@platform/contract/execution";
import { isUuid } from "@platform/engine/base/uuid";
import { BACKEND_PRIORITY } from "@platform/engine/store/kinds";
import type { Database } from "../postgres/database.ts";
import { selectMilliseconds } from "./base/columns.ts";
import { ANNOTATION } from "./executions/create-statement.ts";
import { lookUp } from "./executions/lookup.ts";
import type { JobTerms } from "./quantum-costs.ts";

/** What `/quantum` keeps of a job beside its execution: as it was sent, and which backend runs it. */
export interface JobFacts {
  readonly backendId: string;
  /** MAJOR.MINOR.PATCH. */
  readonly backendVersion: string;
  readonly provider: string;
  readonly name: string | null;
  readonly tags: readonly string[];
  readonly inputFormat: string;
  readonly inputParams: Readonly<Record<string, unknown>>;
  readonly shots: number | null;
  readonly sdkProvider: string | null;
  /** The execution of a service that has started it; missing: a user has. */
  readonly serviceExecutionId?: string;
  /** Whether it goes on when that execution ends. Missing: it does not. */
  readonly detached?: true;
  /** Missing: it is of no session. */
  readonly sessionId?: string;
  /** A decimal text; missing: it may cost anything. */
  readonly maxCost?: string;
  /** An earlier job may answer it. */
  readonly cache?: true;
  /** Missing: its backend has no price. */
  readonly terms?: JobTerms;
  /** Of the version of the backend and of what is sent to it, SHA-256 as hexadecimal digits; missing: started before there were any. */
  readonly digest?: string;
  /** Others that would run the same find it by this; missing: it answers no others. */
  readonly cacheKey?: string;
  /** The backend only checks it. */
  readonly isDryRun?: true;
  /** The job whose result it has: nothing was run for it. */
  readonly cachedFrom?: string;
}

/** A quantum job as lists show it; times in milliseconds since the epoch. */
export interface JobRow {
  readonly id: string;
  readonly facts: JobFacts;
  readonly status: ExecutionStatus;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly failure: { readonly code: string; readonly detail: string } | null;
}

/** Which jobs; what is absent decides nothing. */
export interface JobFilter {
  readonly backendId?: string | undefined;
  /** A UUID in lower case. */
  readonly serviceExecutionId?: string | undefined;
  /** All of them. */
  readonly tags?: readonly string[] | undefined;
  /** A part of it, in small or capital letters. */
  readonly name?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly createdAfter?: number | undefined;
  /** Likewise; those of this moment are left out. */
  readonly createdBefore?: number | undefined;
  readonly statuses?: readonly ExecutionStatus[] | undefined;
  /** Of those that failed, by code. */
  readonly codes?: readonly string[] | undefined;
  readonly otherCodesThan?: readonly string[] | undefined;
  readonly sessionId?: string | undefined;
  readonly ids?: readonly string[] | undefined;
}

/** Quantum jobs of an organisation: executions that `/quantum` has started. */
export interface QuantumJobStore {
  /** Newest first, from an offset on; `total`: of all that match, MOST_JOBS at most. */
  readonly list: (
    organisationId: string,
    filter: JobFilter,
    page: { readonly offset: number; readonly limit: number },
  ) => Promise<{ readonly items: readonly JobRow[]; readonly total: number }>;
  /** What never changes of a job; null: the organisation has no such job. */
  readonly findFacts: (organisationId: string, id: string) => Promise<JobFacts | null>;
}

/** More are neither listed nor counted. */
export const MOST_JOBS = 10_000;

/** SQL: the facts of a job, of a row `i` of `execution_input`; null: it is none. */
export const FACTS = `i."references" -> '${ANNOTATION}'`;

/** What is found is carried through by its id alone: ten thousand facts would be written to a file. */
const LIST = `with found as materialized (
    select e.id, row_number() over (order by e.id desc) as place
    from (
      select e.* from execution e where e.owner_id = $1::uuid and e.priority = ${BACKEND_PRIORITY} order by e.id desc limit ${MOST_JOBS}
    ) e join execution_input i on ${lookUp("i", "e.id")}
    -- What was started by other ways has none, and what was only checked is no job.
    where ${FACTS} is not null and not ${FACTS} ? 'isDryRun' and ($2::text is null or ${FACTS} ->> 'backendId' = $2) and ($3::text[] is null or ${FACTS} -> 'tags' ?& $3)
      and ($4::text[] is null or e.status = any ($4)) and ($5::text[] is null or e.failure_code = any ($5))
      and ($6::text[] is null or e.failure_code is null or e.failure_code <> all ($6))
      and ($10::text is null or ${FACTS} ->> 'serviceExecutionId' = $10)
      and ($9::float8 is null or e.created_at >= to_timestamp($9 / 1000))
      and ($11::text is null or ${FACTS} ->> 'sessionId' = $11) and ($12::uuid[] is null or e.id = any ($12))
      and ($13::float8 is null or e.created_at < to_timestamp($13 / 1000))
      and ($14::text is null or strpos(lower(${FACTS} ->> 'name'), lower($14)) > 0)
  ), page as materialized (
    select id, place from found where place > $7::int and place <= $7::int + $8::int
  )
  select (select count(*)::int from found) as total, shown.* from (select 1) one left join (
    select p.place, e.id, ${FACTS} as facts, e.status, ${selectMilliseconds("e.created_at")} as "createdAt",
      ${selectMilliseconds("e.started_at")} as "startedAt", ${selectMilliseconds("e.ended_at")} as "endedAt",
      case when e.failure_code is not null then json_build_object('code', e.failure_code, 'detail', e.failure_detail) end as failure
    from page p join execution e on ${lookUp("e", "p.id")} join execution_input i on ${lookUp("i", "p.id")}
  ) shown on true order by shown.place`;

type ListRow = { readonly total: number; readonly place: string } & (JobRow | { readonly id: null });

/** The store of quantum jobs in PostgreSQL. */
export function createQuantumJobStore(database: Database): QuantumJobStore {
  return {
    list: async (organisationId, filter, { offset, limit }) => {
      const rows = await database.query<ListRow>({
        text: LIST,
        values: [
          organisationId,
          filter.backendId,
          filter.tags,
          filter.statuses,
          filter.codes,
          filter.otherCodesThan,
          offset,
          limit,
          filter.createdAfter,
          filter.serviceExecutionId,
          filter.sessionId,
          filter.ids,
          filter.createdBefore,
          filter.name,
        ].map((value) => value ?? null),
        idempotent: true,
      });
      const items = rows.flatMap(({ total: _total, place: _place, ...row }) =>
        row.id === null ? [] : [row],
      );
      return { items, total: rows[0]?.total ?? 0 };
    },
    findFacts: async (organisationId, id) => {
      if (!isUuid(id)) return null;
      const [row] = await database.query<{ readonly facts: JobFacts | null }>({
        name: "quantum-job-facts",
        text: `select ${FACTS} as facts from execution e join execution_input i on ${lookUp("i", "$2::uuid")}
          where ${lookUp("e", "$2::uuid", `e.owner_id = $1::uuid and e.priority = ${BACKEND_PRIORITY}`)}`,
        values: [organisationId, id],
        idempotent: true,
      });
      return row?.facts ?? null;
    },
  };
}
