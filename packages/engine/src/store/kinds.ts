import type { ProjectKind } from "@platform/contract/project";

/*
 * Executions of backends have capacity of their own on every worker: those of services may wait for theirs, which must not wait for a place
 * that these hold. In the queue they are a class of their own, above the others, which nothing else gets into.
 */

/** The class of executions of backends in the queue. */
export const BACKEND_PRIORITY = 2;

/** Whose execution has this class in the queue. */
export function kindOf(priority: number): ProjectKind {
  return priority === BACKEND_PRIORITY ? "backend" : "service";
}
