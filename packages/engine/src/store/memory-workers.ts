import type { ProjectKind, Resources } from "@platform/contract/project";
import { SECOND } from "../base/time.ts";
import { fits } from "../base/capacity.ts";
import { readMonotonic } from "../base/monotonic.ts";
import { kindOf } from "./kinds.ts";
import type { Queued } from "./memory-queue.ts";
import { WORKER_SILENCE_SECONDS } from "./execution-store.ts";
import type { ExecutionRecord, NewExecution, Reservation, WorkerReport } from "./execution-store.ts";

/** A pending execution as the registry sees it. */
interface Waiting extends Queued {
  readonly execution: NewExecution;
  readonly record: ExecutionRecord;
}

interface Worker {
  readonly kind: ProjectKind;
  readonly capacity: Resources;
  readonly seenAt: number;
  readonly reservedId: string | null;
}

/** The registry of workers of one process. */
export interface MemoryWorkers {
  /** `pending`: in the order of the queue. */
  readonly report: (report: WorkerReport, pending: readonly Waiting[]) => Reservation | null;
  readonly leave: (workerId: string) => void;
  readonly list: (kind: ProjectKind) => readonly Resources[];
}

/** Has no workers at first. */
export function createMemoryWorkers(): MemoryWorkers {
  const workers = new Map<string, Worker>();
  const listLiving = () =>
    [...workers].filter(([, { seenAt }]) => readMonotonic() - seenAt <= WORKER_SILENCE_SECONDS * SECOND);
  return {
    report: (report, pending) => {
      const { kind = "service" } = report;
      const taken = new Set(
        listLiving().flatMap(([id, { reservedId }]) => (id === report.workerId ? [] : [reservedId])),
      );
      const free = pending.filter(
        ({ execution, priority }) => kindOf(priority) === kind && !taken.has(execution.id),
      );
      const kept = free.find(({ execution }) => execution.id === report.reservedId);
      const chosen = kept ?? free.find((waiting) => needsRoom(waiting, report));
      workers.set(report.workerId, {
        kind,
        capacity: report.capacity,
        seenAt: readMonotonic(),
        reservedId: chosen?.execution.id ?? null,
      });
      return chosen === undefined ? null : { id: chosen.execution.id, resources: chosen.execution.resources };
    },
    leave: (workerId) => void workers.delete(workerId),
    list: (kind) => listLiving().flatMap(([, worker]) => (worker.kind === kind ? [worker.capacity] : [])),
  };
}

function needsRoom({ execution, record }: Waiting, report: WorkerReport): boolean {
  if (report.reservesAfterSeconds === null) return false;
  return (
    Date.now() - record.createdAt >= report.reservesAfterSeconds * SECOND &&
    !report.excludedVersionIds.includes(execution.versionId) &&
    fits(execution.resources, report.capacity) &&
    !fits(execution.resources, report.free)
  );
}
