import type { Resources } from "@platform/contract/project";
import { fits } from "../base/capacity.ts";
import type { ExecutionRecord, NewExecution } from "./execution-store.ts";
import type { HeldReason } from "./held.ts";

/** An execution as the queue sees it; `rank` is its place, given when it is created. */
export interface Queued {
  readonly execution: Pick<NewExecution, "owner" | "resources">;
  /** Its class, which may have become a higher one since its start. */
  readonly priority: number;
  readonly record: Pick<ExecutionRecord, "status">;
  /** Null: it is not held. */
  readonly held: HeldReason | null;
  readonly rank: number;
}

/**
 * Owners take turns: the executions of an owner have successive ranks, starting at the rank that the queue has been served to. The
 * same rule as in PostgreSQL, where it is explained (the platform's store/executions/create.ts).
 */
export function findRank(
  { execution, priority }: Pick<Queued, "execution" | "priority">,
  others: Iterable<Queued>,
): number {
  let behindRunning = -Infinity;
  let behindOwn = -Infinity;
  let firstPending = Infinity;
  let firstNotLarger = Infinity;
  for (const other of others) {
    if (other.priority !== priority) continue;
    const isRunning = other.record.status === "RUNNING";
    const isPending = isQueued(other);
    if (isPending) firstPending = Math.min(firstPending, other.rank);
    if (isPending && fits(other.execution.resources, execution.resources))
      firstNotLarger = Math.min(firstNotLarger, other.rank);
    if (isRunning && fits(execution.resources, other.execution.resources))
      behindRunning = Math.max(behindRunning, other.rank + 1);
    if (isPending && other.execution.owner.id === execution.owner.id)
      behindOwn = Math.max(behindOwn, other.rank + 1);
  }
  const place = [behindRunning, firstNotLarger, firstPending, 0].find(Number.isFinite) ?? 0;
  return Math.max(place, behindOwn);
}

/** The class in the queue that a start asks for. */
export function getPriority({ priority = 0 }: Pick<NewExecution, "priority">): number {
  return priority;
}

/** Whether it is PENDING, and not held. */
export function isQueued({ record, held }: Pick<Queued, "record" | "held">): boolean {
  return record.status === "PENDING" && held === null;
}

/** In the order of the queue. */
export function sortByRank<T extends Queued>(entries: readonly T[]): readonly T[] {
  return [...entries].sort((a, b) => b.priority - a.priority || a.rank - b.rank);
}

/** Chooses from entries in the order of the queue: each takes what it needs of the free capacity, if that much is left. */
export function chooseNext<T extends Queued>(
  ready: readonly T[],
  limit: number,
  free: Resources,
): readonly T[] {
  const chosen: T[] = [];
  let left = free;
  for (const entry of ready) {
    if (chosen.length >= limit) break;
    const { resources } = entry.execution;
    if (!fits(resources, left)) continue;
    left = { cpu: left.cpu - resources.cpu, memory: left.memory - resources.memory };
    chosen.push(entry);
  }
  return chosen;
}
