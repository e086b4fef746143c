import type { ClaimKey } from "@platform/engine/store/execution-store";
import type { Database } from "../../postgres/database.ts";
import { lookUp } from "./lookup.ts";

/** SQL: whether the worker of a running execution still prepares it, so that user code has not begun. */
export function describePreparing(alias: string): string {
  return `coalesce(${alias}.preparing_attempt = ${alias}.attempt, false)`;
}

/** `ExecutionStore.notePreparing` for PostgreSQL. */
export async function notePreparing(
  database: Pick<Database, "query">,
  { id, attempt, workerId }: ClaimKey,
  isPreparing: boolean,
): Promise<boolean> {
  const rows = await database.query({
    name: "execution-note-preparing",
    // The fence of finish-statement.ts.
    text: `update execution e set preparing_attempt = case when $4::boolean then e.attempt end
      where ${lookUp("e", "$1::uuid", "e.attempt = $2 and e.worker_id = $3 and e.status = 'RUNNING'")} returning e.id`,
    values: [id, attempt, workerId, isPreparing],
    idempotent: true,
  });
  return rows.length > 0;
}
