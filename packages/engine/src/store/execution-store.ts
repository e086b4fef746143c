import type { ExecutionStatus, FileReference, PendingReason } from "@platform/contract/execution";
import type { Resources } from "@platform/contract/project";
import type { LogLine, Outcome, RunnableVersion } from "../python/port/runtime.ts";
import type { Owner } from "./owner.ts";

/** Bookkeeping of one execution; times in milliseconds since the epoch. */
export interface ExecutionRecord {
  readonly id: string;
  /** `id` of the `Owner`: every read names it. */
  readonly ownerId: string;
  readonly versionId: string;
  /** vCPUs and GB that it needs. */
  readonly resources: Resources;
  readonly status: ExecutionStatus;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Until when state, result and log can be read, once final; missing: for good. */
  readonly expiresAt?: number;
  /** Why it cannot start at present, where that is known: PENDING only. Added by `withPendingReason`. */
  readonly pendingReason?: PendingReason;
  /** Why it did not succeed (FAILED, UNKNOWN). */
  readonly failure: { readonly code: string; readonly detail: string } | null;
}

export interface NewExecution {
  /** UUIDv7, made by the caller so that a repeated create after a lost answer is one execution. */
  readonly id: string;
  readonly owner: Owner;
  readonly versionId: string;
  /** vCPUs and GB that one run needs. */
  readonly resources: Resources;
  readonly timeoutSeconds: number;
  /** The body as received. */
  readonly body: Uint8Array;
  /** References that stand in the body, checked at the door. */
  readonly references: InputReferences;
}

export interface InputReferences {
  readonly data?: FileReference;
  readonly params?: FileReference;
}

/** How a store answers a renewal of leases, by id: everything else was renewed. */
export interface Renewal {
  /** Held no more. */
  readonly lost: readonly string[];
  /** To be cancelled; renewed all the same. */
  readonly cancelled: readonly string[];
  /** Being written at this moment, so that nothing was done; a later renewal will tell. */
  readonly busy: readonly string[];
}

/** A right to run one execution once: every later write names `id`, `attempt` and `workerId`. */
export interface Claim extends Omit<NewExecution, "id"> {
  readonly id: string;
  readonly attempt: number;
  readonly workerId: string;
  /** How often it was given back before, since it could not be started. */
  readonly setbacks: number;
}

export type ClaimKey = Pick<Claim, "id" | "attempt" | "workerId">;

export interface ClaimRequest {
  readonly workerId: string;
  /** At most so many, and only what fits in these free vCPUs and GB together. */
  readonly limit: number;
  readonly free: Resources;
  readonly leaseSeconds: number;
  /** Versions that this worker cannot start at present. */
  readonly excludedVersionIds: readonly string[];
  /** Nothing but this execution: the one that the worker has reserved capacity for. */
  readonly onlyId?: string;
}

export interface ClaimAnswer {
  readonly claims: readonly Claim[];
  /** Whether nothing else was pending: capacity that becomes free is then of no use until an event says that there is more. */
  readonly isDrained: boolean;
}

/** What a worker says of itself about once a second. Resources in vCPUs and GB. */
export interface WorkerReport {
  readonly workerId: string;
  readonly capacity: Resources;
  readonly free: Resources;
  readonly excludedVersionIds: readonly string[];
  /** The execution that it reserves capacity for at present. */
  readonly reservedId: string | null;
  /** It would reserve capacity for an execution that has waited for so many seconds; null: for none. */
  readonly reservesAfterSeconds: number | null;
}

/** A pending execution that one worker reserves capacity for: it claims nothing else until that one fits. */
export interface Reservation {
  readonly id: string;
  readonly resources: Resources;
}

/** Which workers live, what each can run at most, and what each reserves capacity for. */
export interface WorkerRegistry {
  /**
   * Registers the worker, or renews it: who has not reported for WORKER_SILENCE_SECONDS counts as gone. Answers what to
   * reserve capacity for: as before while that is pending, else the first in the queue that has waited long enough, fits the capacity but not
   * what is free, and that no other living worker reserves capacity for. Null: nothing.
   */
  readonly report: (report: WorkerReport) => Promise<Reservation | null>;
  /** Takes the worker out at once. */
  readonly leave: (workerId: string) => Promise<void>;
  /** The capacities of the workers that live. */
  readonly listWorkers: () => Promise<readonly Resources[]>;
}

export const WORKER_SILENCE_SECONDS = 30;

export interface StoredResult {
  readonly result: Uint8Array;
  readonly metadata: Uint8Array | null;
}

export interface ListFilter {
  readonly status?: ExecutionStatus;
  /** Milliseconds since the epoch; from inclusive, to exclusive. */
  readonly createdAfter?: number;
  readonly createdBefore?: number;
  readonly limit: number;
  readonly cursor?: string;
}

/** A page of a log ends with the line, or group of lines written together, that reaches this size. */
export const LOG_PAGE_BYTES = 1_048_576;

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/** Part of a log, oldest lines first. */
export interface LogPage {
  /** JSON text of an array of log entries. */
  readonly lines: Uint8Array;
  /** Reads on from here; null once the execution is final and its last line was read. */
  readonly nextCursor: string | null;
}

/** What happened in the store. A hint for speed, never needed for correctness: it may be lost. */
export type StoreEvent =
  | { readonly type: "pending" }
  /** The record is given where the change was made in this process. */
  | { readonly type: "changed"; readonly id: string; readonly record?: ExecutionRecord }
  | { readonly type: "cancel"; readonly id: string }
  /** Hints may have been lost: forget what was cached and look again. */
  | { readonly type: "reset" };

/** Where executions live. Two adapters (PostgreSQL, memory), one conformance suite. */
export interface ExecutionStore extends WorkerRegistry {
  /** Durable when it resolves. Repeating it with the same id changes nothing. */
  readonly create: (execution: NewExecution) => Promise<ExecutionRecord>;
  readonly find: (id: string, ownerId: string) => Promise<ExecutionRecord | null>;
  /** The bytes of a SUCCEEDED execution; null once they have expired. */
  readonly readResult: (id: string, ownerId: string) => Promise<StoredResult | null>;
  /**
   * About LOG_PAGE_BYTES of the lines after `cursor`, or from the first on; null when the execution is not the owner's.
   * @throws Problem INVALID_INPUT for a cursor that no page has given out
   */
  readonly readLog: (id: string, ownerId: string, cursor?: string) => Promise<LogPage | null>;
  /** Newest first. */
  readonly list: (ownerId: string, filter: ListFilter) => Promise<Page<ExecutionRecord>>;
  /** PENDING becomes FAILED/CANCELLED at once; RUNNING is marked, and its worker told. Null: not the owner's. */
  readonly cancel: (id: string, ownerId: string) => Promise<ExecutionRecord | null>;
  /** PENDING becomes RUNNING with attempt + 1 and a lease, in order of priority and age; what was given back only after its pause. */
  readonly claim: (request: ClaimRequest) => Promise<ClaimAnswer>;
  /** Extends the lease of all that this worker still holds. */
  readonly renew: (workerId: string, claims: readonly ClaimKey[], leaseSeconds: number) => Promise<Renewal>;
  /**
   * False when the claim is no longer held: the outcome was dropped and nothing has changed. Repeating it after a lost answer says true.
   *
   * @throws Problem UNAVAILABLE where the same may succeed later
   */
  readonly finish: (claim: ClaimKey, outcome: Outcome) => Promise<boolean>;
  /**
   * RUNNING becomes PENDING again, to be claimed after a pause: only where user code provably never began. Where its cancellation was
   * asked for meanwhile, FAILED/CANCELLED. Counts a setback; with a pause of null, which is for a worker that stops, it counts none and
   * may be claimed at once. False, throws and repeats as `finish`.
   */
  readonly giveBack: (claim: ClaimKey, pauseSeconds: number | null) => Promise<boolean>;
  readonly appendLog: (claim: ClaimKey, lines: readonly LogLine[]) => Promise<void>;
  /** RUNNING past its lease becomes UNKNOWN/WORKER_LOST; says how many. */
  readonly sweep: () => Promise<number>;
  /** How many executions of each owner are pending; owners who have none are left out. */
  readonly countPending: () => Promise<ReadonlyMap<string, number>>;
  readonly subscribe: (listener: (event: StoreEvent) => void) => () => void;
}

/** Where a worker finds the code of a version. */
export interface VersionSource {
  /**
   * Unpacked and with its environment built.
   *
   * @param signal gives up waiting; what nobody waits for any more is stopped
   * @throws ProjectError when the project is at fault; an Error whose cause is one when an accepted version does not get ready again;
   * anything else is the platform's
   */
  readonly prepare: (versionId: string, signal: AbortSignal) => Promise<RunnableVersion>;
}

/** Where referenced input comes from. */
export interface InputSource {
  /** At the door: throws Problem DATA_REFERENCE_INVALID where the owner may not read it or it is no JSON object. */
  readonly check: (reference: FileReference, owner: Owner) => Promise<void>;
  /** At the run: the content, or null when it is gone for good; throws when that cannot be said now. */
  readonly read: (reference: FileReference, owner: Owner) => Promise<Uint8Array | null>;
}
