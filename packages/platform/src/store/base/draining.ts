import { selectMainWorker } from "./backend-worker.ts";

/**
 * SQL: whether an operator has said that this worker takes no more work, or the process whose worker for backends it is. Two rows by their keys at
 * most, read once for a statement.
 */
export function isDraining(workerId: string): string {
  return `exists (select 1 from worker w where w.id = any (array[${workerId}, ${selectMainWorker(workerId)}]) and w.draining_since is not null)`;
}
