import { MAX_ATTEMPTS } from "@platform/contract/retries";
import type { ClaimKey } from "@platform/engine/store/execution-store";
import type { Database } from "../../postgres/database.ts";
import { lookUp } from "./lookup.ts";

/*
 * Executions of external backends (`StoredRetries.resumes`): what an attempt has begun elsewhere, the next one takes up.
 */

/** SQL: whether the execution is one of an external backend. */
export const resumes = (alias: string): string => `coalesce((${alias}.retries -> 'resumes')::boolean, false)`;

/**
 * SQL: whether an attempt before may have left something elsewhere. It is not over before an attempt has looked after that, also when it was
 * cancelled meanwhile: its worker then cancels it when it runs.
 */
export const isResumed = (alias: string): string => `(${alias}.retried > 0 and ${resumes(alias)})`;

/** SQL: whether another attempt follows when the worker is lost. */
export const isResumedWhenLost = (alias: string): string =>
  `(${alias}.retried < ${MAX_ATTEMPTS - 1} and ${resumes(alias)})`;

/** `ExecutionStore.noteHandle` for PostgreSQL. */
export async function noteHandle(
  database: Pick<Database, "query">,
  { id, attempt, workerId }: ClaimKey,
  handle: string,
): Promise<boolean> {
  const rows = await database.query({
    name: "execution-note-handle",
    // The fence of finish-statement.ts. The commit is flushed: the code goes on when this is durable.
    text: `update execution e set handle = $4
      where ${lookUp("e", "$1::uuid", "e.attempt = $2 and e.worker_id = $3 and e.status = 'RUNNING'")} returning e.id`,
    values: [id, attempt, workerId, handle],
    idempotent: true,
  });
  return rows.length > 0;
}
