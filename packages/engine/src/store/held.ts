/*
 * An execution that is PENDING waits in the queue, or is held: it is stored as durably as any other, but no worker can claim it, and nothing that
 * looks at the queue sees it. A round releases what is due into the queue, with the place that one started at that moment would get.
 */

/**
 * Why an execution is PENDING but not in the queue. START_AT: its start has asked for a later time. LIMIT: its service has limits, and there is no
 * place for it.
 */
export type HeldReason = "START_AT" | "LIMIT";

/** Of an execution that is PENDING and held. */
export interface DelayedState {
  readonly held: HeldReason;
  /** Milliseconds since the epoch; null: it is not held for a time. */
  readonly startAt: number | null;
  /** The service whose limits it is subject to; missing: none. */
  readonly limitKey?: string;
}

/** What a round has done. */
export interface DueRound {
  /** Executions that can be claimed now. */
  readonly released: number;
  /** After how many milliseconds something is due next, 0 or less: it is already; null: nothing is held for a time. */
  readonly nextMs: number | null;
  /** Whether some wait for a place: whatever ends may make one. */
  readonly waitsForPlace: boolean;
}

/** Brings executions that are held into the queue. */
export interface DueStore {
  /** Releases what is due; one process at a time, others do nothing meanwhile. Who is killed during a round has done all of its statement, or nothing. */
  readonly releaseDue: () => Promise<DueRound>;
}
