import { BACKEND_PRIORITY } from "@platform/engine/store/kinds";
import type { Database } from "../postgres/database.ts";
import { lookUp } from "./executions/lookup.ts";
import { isHeld, isQueued } from "./executions/queue-rows.ts";
import { FACTS } from "./quantum-jobs.ts";

/** Whose execution it is that uses quantum backends. */
export interface ServiceExecution {
  readonly executionId: string;
  /** Of the service that runs, not of the caller: it owns the quantum jobs. */
  readonly organisationId: string;
  readonly organisationName: string;
  readonly slug: string;
}

/** A quantum job that goes on although the execution that has started it is over, or its session was cancelled. */
interface LeftJob {
  readonly id: string;
  readonly organisationId: string;
}

/** Executions of services, as far as they have to do with quantum jobs. */
export interface ServiceExecutionStore {
  /** Null: this attempt is not running, or is one of a backend. */
  readonly findRunning: (executionId: string, attempt: number) => Promise<ServiceExecution | null>;
  /** Jobs that have not ended, of executions that have, but those that were detached from theirs; and of sessions that were cancelled. At most `limit`. */
  readonly listLeftJobs: (limit: number) => Promise<readonly LeftJob[]>;
}

const FIND = `select e.id as "executionId", o.id as "organisationId", o.name as "organisationName", o.slug
  from execution e join version v on v.id = e.version_id join service s on s.key = v.service_key
    join organisation o on o.id = s.organisation_id
  where ${lookUp("e", "$1::uuid", `e.status = 'RUNNING' and e.attempt = $2::int and e.priority <> ${BACKEND_PRIORITY}`)}`;

/** What waits, is held or runs is found by one index each (`execution_queue`, `execution_held`, `execution_served`). */
const LIST_LEFT = `select e.id, e.owner_id as "organisationId"
  from (
    ${[isQueued("e"), isHeld("e"), "e.lease_until is not null"]
      .map(
        (condition) =>
          `select e.id, e.owner_id, e.session_id from execution e where ${condition} and e.priority = ${BACKEND_PRIORITY} and not e.cancel_requested`,
      )
      .join(" union all ")}
  ) e join execution_input i on ${lookUp("i", "e.id")}
  where ${FACTS} ->> 'serviceExecutionId' is not null and ${FACTS} ->> 'detached' is distinct from 'true'
    and not exists (
      select 1 from execution s
      where ${lookUp("s", `(${FACTS} ->> 'serviceExecutionId')::uuid`, `s.status in ('PENDING', 'RUNNING')`)}
    )
    -- Whoever cancelled its session, or started it, was cut off before it was ended.
    or e.session_id is not null and exists (select 1 from quantum_session q where q.id = e.session_id and q.cancelled_at is not null)
  limit $1`;

/** The store in PostgreSQL. */
export function createServiceExecutionStore(database: Database): ServiceExecutionStore {
  return {
    findRunning: async (executionId, attempt) => {
      const [row] = await database.query<ServiceExecution>({
        name: "service-execution-running",
        text: FIND,
        values: [executionId, attempt],
        idempotent: true,
      });
      return row ?? null;
    },
    listLeftJobs: async (limit) =>
      await database.query<LeftJob>({
        name: "service-execution-left-jobs",
        text: LIST_LEFT,
        values: [limit],
        idempotent: true,
      }),
  };
}
