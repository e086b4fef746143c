/** SQL: whether an operator has said that this worker takes no more work. One row by its key, read once for a statement. */
export function isDraining(workerId: string): string {
  return `exists (select 1 from worker w where w.id = ${workerId} and w.draining_since is not null)`;
}
