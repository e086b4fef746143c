/*
 * A process has two workers: one runs executions of services, the other those of backends (the engine's store/kinds.ts). The second is named
 * after the first, which is named as the process.
 */

const SUFFIX = "-backends";

/** The id of the worker that runs executions of backends in the process of another. */
export function backendWorkerOf(workerId: string): string {
  return `${workerId}${SUFFIX}`;
}

/** SQL: the id of the worker in whose process a worker of this id runs executions of backends; the same id of any other. */
export function selectMainWorker(workerId: string): string {
  return `case when right(${workerId}, ${SUFFIX.length}) = '${SUFFIX}' then left(${workerId}, -${SUFFIX.length}) else ${workerId} end`;
}

/** SQL: the id of the process of a row of `worker`. */
export function selectProcessId(alias: string): string {
  return `case ${alias}.kind when 'backend' then left(${alias}.id, -${SUFFIX.length}) else ${alias}.id end`;
}
