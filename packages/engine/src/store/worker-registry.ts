import type { ProjectKind, Resources } from "@platform/contract/project";

/** The report that a worker sends about once a second. Resources in vCPUs and GB. */
export interface WorkerReport {
  readonly workerId: string;
  /** Whose executions it runs, see kinds.ts; default: of services. */
  readonly kind?: ProjectKind;
  readonly capacity: Resources;
  readonly free: Resources;
  readonly excludedVersionIds: readonly string[];
  /** Id of the execution that it reserves capacity for at present; null: none. */
  readonly reservedId: string | null;
  /** It can reserve capacity for an execution that has waited for this many seconds; null: it reserves none. */
  readonly reservesAfterSeconds: number | null;
}

/** A pending execution that one worker reserves capacity for: it claims nothing else until that one fits. */
export interface Reservation {
  readonly id: string;
  readonly resources: Resources;
}

/** The live workers, the total capacity of each, and the execution that each reserves capacity for. */
export interface WorkerRegistry {
  /**
   * Registers the worker, or renews it: a worker that has not reported for WORKER_SILENCE_SECONDS counts as lost. Returns the execution to
   * reserve capacity for: the same as before while that is pending, else the first in the queue that has waited long enough, fits the capacity but
   * not what is free, and is not reserved by another live worker. Null: none.
   */
  readonly report: (report: WorkerReport) => Promise<Reservation | null>;
  /** Removes the worker at once. */
  readonly leave: (workerId: string) => Promise<void>;
  /** The total capacities of the live workers that run executions of this kind; default: of services. */
  readonly listWorkers: (kind?: ProjectKind) => Promise<readonly Resources[]>;
}

/** A worker that has not reported for this long counts as lost: it is not listed, and what it reserved is free. */
export const WORKER_SILENCE_SECONDS = 30;
