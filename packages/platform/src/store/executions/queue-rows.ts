import type { ProjectKind } from "@platform/contract/project";
import { BACKEND_PRIORITY } from "@platform/engine/store/kinds";

/** Of a smallint. */
const LOWEST_PRIORITY = -32_768;

/** SQL: whether the row of `execution` waits in the queue. As in the indexes `execution_queue` and `execution_line`. */
export function isQueued(alias: string): string {
  return `${alias}.status = 'PENDING' and ${alias}.held is null`;
}

/** The classes that executions of a kind have in the queue, from and to: a range of its index. */
export function classesOf(kind: ProjectKind): readonly [number, number] {
  return kind === "backend" ? [BACKEND_PRIORITY, BACKEND_PRIORITY] : [LOWEST_PRIORITY, BACKEND_PRIORITY - 1];
}

/** SQL: whether the row of `execution` is held: PENDING, and not in the queue. As in the index `execution_held`. */
export function isHeld(alias: string): string {
  return `${alias}.status = 'PENDING' and ${alias}.held is not null`;
}

/** SQL: whether the row of `execution` ends if it does not begin by `start_by` (start-deadline.ts of the engine). As in the index `execution_start_by`. */
export function isBound(alias: string): string {
  return `${alias}.status = 'PENDING' and ${alias}.start_by is not null and ${alias}.retried = 0`;
}

/** SQL: since when an execution could have begun. */
export function selectReadySince(alias: string): string {
  return `greatest(${alias}.created_at, ${alias}.start_at)`;
}
