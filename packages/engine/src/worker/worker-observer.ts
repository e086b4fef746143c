import type { Outcome } from "../python/port/runtime.ts";

/** The end of an execution, as it was written. */
export interface EndedRun {
  readonly versionId: string;
  readonly status: Outcome["status"];
  /** Null where it succeeded. */
  readonly code: string | null;
  /** From when user code may have begun until the outcome was known; null: it never began. */
  readonly ranMs: number | null;
}

/** Who counts what a worker does. All of it is called while executions wait: it must cost nearly nothing, and never throw. */
export interface WorkerObserver {
  readonly claimed: (executions: number) => void;
  /** User code may have begun. `waitedMs`: since the start was accepted, by the clocks of two hosts. */
  readonly began: (versionId: string, waitedMs: number) => void;
  readonly ended: (run: EndedRun) => void;
  /** A claim went back to the queue: it could not be started, the worker stops, or the attempt failed and another one follows. */
  readonly gaveBack: (reason: "fault" | "stop" | "retry") => void;
  /** Of leases that were to be renewed. */
  readonly renewed: (kept: number, lost: number) => void;
}

/** Counts nothing. */
export const NO_WORKER_OBSERVER: WorkerObserver = {
  claimed: () => undefined,
  began: () => undefined,
  ended: () => undefined,
  gaveBack: () => undefined,
  renewed: () => undefined,
};
