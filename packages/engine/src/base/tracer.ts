import type { TraceContext } from "./trace-context.ts";

/** A start that is under way. */
export interface StartTrace {
  /** Stored with the execution; null: it belongs to no trace. */
  readonly context: TraceContext | null;
  /** Called once. Null: it was refused. */
  readonly end: (executionId: string | null) => void;
}

/** An execution that a worker has claimed. */
export interface RunTrace {
  /** It is prepared and is handed over. Returns what user code gets; null: nothing. */
  readonly handOver: () => TraceContext | null;
  /** When the worker is done with it; the first call counts. `status`: PENDING, it went back to the queue; LOST, its lease was lost. */
  readonly end: (status: string, code: string | null) => void;
}

/** What is said of a claim. */
export interface TracedClaim {
  readonly id: string;
  readonly versionId: string;
  readonly attempt: number;
  /** Missing: it belongs to no trace. */
  readonly trace?: TraceContext;
}

/** Who writes traces. All of it is called while callers wait: it must cost nearly nothing, and never throw. */
export interface Tracer {
  /** @param given what the caller has sent */
  readonly start: (given: TraceContext | null, versionId: string) => StartTrace;
  readonly run: (claim: TracedClaim) => RunTrace;
}

const NOT_STARTED_IN_A_TRACE: StartTrace = { context: null, end: () => undefined };
const NOT_RUN_IN_A_TRACE: RunTrace = { handOver: () => null, end: () => undefined };

/** Writes nothing, and passes the caller's context on to user code. */
export const NO_TRACER: Tracer = {
  start: (given) =>
    given === null ? NOT_STARTED_IN_A_TRACE : { context: given, end: NOT_STARTED_IN_A_TRACE.end },
  run: ({ trace }) =>
    trace === undefined ? NOT_RUN_IN_A_TRACE : { handOver: () => trace, end: NOT_RUN_IN_A_TRACE.end },
};
