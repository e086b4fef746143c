import type { ExecutionStatus, KeptDays, PersistTarget, Waiting } from "@platform/contract/execution";
import type { StoredRetries } from "@platform/contract/retries";
import type { TraceContext } from "../base/trace-context.ts";
import type { StoredOutput } from "../content/result-store.ts";
import type { ExecutionDigests } from "./digests.ts";
import type { ProjectKind, Resources } from "@platform/contract/project";
import type { SandboxLevel } from "@platform/contract/sandbox";
import type { LogLine, Metadata, Outcome, OutputPool, PinnedInputs } from "../python/port/runtime.ts";
import type { FailedAttempt, FailedOutcome } from "./retry-rules.ts";
import type { ExecutionProgress, ProgressStore } from "./execution-progress.ts";
import type { BatchStore } from "./batches.ts";
import type { DelayedState, DueStore } from "./held.ts";
import type { IdempotencyKey, StartStore } from "./idempotency.ts";
import type { LimitLine } from "./limit-line.ts";
import type { Owner } from "./owner.ts";
import type { StoreEvent } from "./store-event.ts";
import type { Watched, WatchedChange } from "./watched.ts";
import type { ExecutionQuota } from "./quota.ts";
import type { WorkerRegistry } from "./worker-registry.ts";

export type { InputSource, VersionSource } from "./sources.ts";
export type { StoreEvent } from "./store-event.ts";
export {
  WORKER_SILENCE_SECONDS,
  type Reservation,
  type WorkerRegistry,
  type WorkerReport,
} from "./worker-registry.ts";

/** Bookkeeping of one execution; times in milliseconds since the epoch. */
export interface ExecutionRecord {
  readonly id: string;
  /** `id` of the `Owner`: every read names it. */
  readonly ownerId: string;
  readonly versionId: string;
  /** The vCPUs and GB that it needs. */
  readonly resources: Resources;
  readonly status: ExecutionStatus;
  readonly createdAt: number;
  /** When it must have begun, see `getStartBy`; missing: whenever it can. */
  readonly startBy?: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** How well the worker that claimed it isolates user code; null while PENDING. */
  readonly sandboxLevel: SandboxLevel | null;
  /** As its service said when it was started; missing: as the platform keeps others. */
  readonly kept?: KeptDays;
  /** Until when state and result can be read, once final; missing: permanently. Added by `withExpiry`, as the next. */
  readonly expiresAt?: number;
  /** Until when the log can be read: not longer. */
  readonly logExpiresAt?: number;
  /** As of the read, while it is not final; missing: not read. */
  readonly live?: QueuedState | DelayedState | LeasedState;
  /** What it waits for; only while its code has not begun. Added by `createWaiting`, as the next. */
  readonly waiting?: Waiting;
  /** After how many seconds it is worth asking again; only while it is not final. */
  readonly retryAfterSeconds?: number;
  /** Of its owner; only in the answer of `create`, where there is a cap. */
  readonly quota?: ExecutionQuota;
  /** An earlier start with the same key has created it; only in answers of `create` and `findStarted`. */
  readonly isRepeated?: true;
  /** What its code has reported of itself; missing: nothing. */
  readonly progress?: ExecutionProgress;
  /** Its attempts before this one, or before the next while it is PENDING, the first first; missing: there is none. */
  readonly attempts?: readonly FailedAttempt[];
  /** Why it did not succeed (FAILED, UNKNOWN). */
  readonly failure: Failure | null;
}

/** Of an execution that is PENDING and in the queue, which is ordered by falling priority, then by rank, then by id. */
export interface QueuedState {
  readonly priority: number;
  readonly rank: number;
  /** Whether it pauses after it could not be started. */
  readonly isPausing: boolean;
  /** When the pause after an attempt that failed is over, in milliseconds since the epoch; missing: there is none. */
  readonly retryAt?: number;
}

/** Of an execution that is RUNNING. */
interface LeasedState {
  /** Milliseconds since the epoch. */
  readonly leaseUntil: number;
  /** Whether its worker still prepares it: its code has not begun. */
  readonly isPreparing: boolean;
}

/** A place in the queue, and how many executions of its kind are before it. */
export interface QueuePlace extends Pick<QueuedState, "priority" | "rank"> {
  readonly id: string;
  readonly ahead: number;
}

/** Why an execution did not succeed, and what is known of its run. */
interface Failure {
  readonly code: string;
  readonly detail: string;
  /** Missing: nothing is known. */
  readonly metadata?: Metadata;
}

/** An accepted start, as it is stored. */
export interface NewExecution {
  /** UUIDv7, created by the caller so that a create that is repeated after a lost answer adds only one execution. */
  readonly id: string;
  readonly owner: Owner;
  readonly versionId: string;
  /** vCPUs and GB that one run needs. */
  readonly resources: Resources;
  /** Wall-clock limit of the run, counted from when it is handed to its process. */
  readonly timeoutSeconds: number;
  /** It is not to begin before, in milliseconds since the epoch; missing, or in the past: at once. */
  readonly startAt?: number;
  /** A URL that is told what becomes of it; missing: none. */
  readonly webhookUrl?: string;
  /** In how many seconds from then, or from its creation, it must have begun, see start-deadline.ts; missing: whenever it can. */
  readonly startWithinSeconds?: number;
  /** The body as received. */
  readonly body: Uint8Array;
  /** What the references in the body named when the start was accepted. */
  readonly references: PinnedInputs;
  /** Its class in the queue, see `QueuedState`; missing: 0. */
  readonly priority?: number;
  /** The service, where that has limits: it is held until there is a place for it; missing: it has none. */
  readonly limitKey?: string;
  /** For how long its service keeps it; missing: as the platform keeps others. */
  readonly kept?: KeptDays;
  /** Where the result is stored besides; missing: nowhere. */
  readonly persistTo?: PinnedTarget;
  /** The data pool that gets files of the run; missing: none. */
  readonly outputPool?: PinnedOutput;
  /** Where it belongs in a trace of the caller's; missing: nowhere. */
  readonly trace?: TraceContext;
  /** What the API that it was started by keeps of it, JSON of a few hundred bytes; missing: nothing. */
  readonly annotation?: Readonly<Record<string, unknown>>;
  /** When it is started again; missing: never. */
  readonly retries?: StoredRetries;
  /** Of all starts of the owner with this key, the first creates an execution; missing: this one does. */
  readonly key?: IdempotencyKey;
}

/** A data pool that a run writes to, as far as the start has decided it. */
export interface PinnedOutput extends OutputPool, Pick<PinnedTarget, "userId"> {}

/** A data pool that gets the result as a file, as far as the start has decided it. */
export interface PinnedTarget {
  readonly dataPoolId: string;
  /** Null: the id of the execution, and `.json`. */
  readonly name: string | null;
  /** Who started the job; null: an application did. */
  readonly userId: string | null;
}

/** Says where results may be stored besides. */
export interface ResultTargets {
  /** At the start; whether it still may is asked again at the end. `place`: of the target in the body. @throws Problem DATA_REFERENCE_INVALID */
  readonly pin: (target: PersistTarget, owner: Owner, place?: string) => Promise<PinnedTarget>;
}

/** The answer to a renewal of leases: ids of executions with a special state. All others were renewed. */
export interface Renewal {
  /** No longer held by this worker. */
  readonly lost: readonly string[];
  /** Renewed; their cancellation was requested. */
  readonly cancelled: readonly string[];
  /** Neither renewed nor lost: another transaction is writing them at this moment. A later renewal will show. */
  readonly busy: readonly string[];
}

/** A right to run one execution once: every later write names `id`, `attempt` and `workerId`. */
export interface Claim extends Omit<NewExecution, "id" | "key"> {
  readonly id: string;
  readonly attempt: number;
  readonly workerId: string;
  /** How many times it was given back because it could not be started, since the attempt before. */
  readonly setbacks: number;
  /** The attempts before this one that failed, the first first; missing: it is the first. */
  readonly attempts?: readonly FailedAttempt[];
  /** What an attempt before has kept by `noteHandle`; missing: nothing. */
  readonly handle?: string;
}

/** A claim whose end is written; only with its owner and `persistTo` or `outputPool`, something is stored besides. */
export type EndingClaim = ClaimKey & Partial<Pick<Claim, "owner" | "persistTo" | "outputPool">>;

/** What every write of a worker names; the store refuses those of an attempt that is over. */
export type ClaimKey = Pick<Claim, "id" | "attempt" | "workerId">;

/** What a worker can run now. `free` in vCPUs and GB. */
export interface ClaimRequest {
  readonly workerId: string;
  /** Whose executions it takes, see kinds.ts; default: of services. */
  readonly kind?: ProjectKind;
  /** How well this worker isolates user code: written to the executions that it claims. */
  readonly sandboxLevel: SandboxLevel;
  /** Maximum number of claims; together they must fit into the free vCPUs and GB. */
  readonly limit: number;
  readonly free: Resources;
  readonly leaseSeconds: number;
  /** Versions that this worker cannot start at present. */
  readonly excludedVersionIds: readonly string[];
  /** Claims this execution only: the one that the worker has reserved capacity for. */
  readonly onlyId?: string;
}

/** The executions that a claim has taken; they are RUNNING from then on. */
export interface ClaimAnswer {
  readonly claims: readonly Claim[];
  /** Whether nothing else of its kind was pending: the worker need not claim again for freed capacity until an event announces more. */
  readonly isDrained: boolean;
}

/**
 * Claims executions that are about to be created, in the commit that creates them: then RUNNING from the start, with their first attempt.
 * Null: nothing is claimed, since they are not all to be had by such a request. Never rejects: an execution whose creation failed is not among
 * the claims, and one of which that is unknown is among those of a later claim.
 */
export type ClaimNew = (request: ClaimRequest) => Promise<ClaimAnswer> | null;

/** JSON text of an execution's result, as bytes that Node does not parse. */
export interface StoredResult {
  /** Empty where `output` has it. */
  readonly result: Uint8Array;
  /** Null: the code gave none. */
  readonly metadata: Uint8Array | null;
  /** What is kept beside the row; missing: nothing. */
  readonly output?: StoredOutput;
}

/** Which part of a list: `limit` items after the one that `cursor` (the last page's `nextCursor`) names; without it the first. */
export interface PageRequest {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Which page of an owner's executions to read, and with which state and time of creation. */
export interface ListFilter extends PageRequest {
  readonly status?: ExecutionStatus;
  /** Milliseconds since the epoch; from inclusive, to exclusive. */
  readonly createdAfter?: number;
  readonly createdBefore?: number;
}

/** A part of a list. `nextCursor` is null on the last page. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/** Part of a log, oldest lines first. */
export interface LogPage {
  /** JSON text of an array of log entries. */
  readonly lines: Uint8Array;
  /** Cursor of the next page; null once the execution is final and its last line was read. */
  readonly nextCursor: string | null;
  /** Cursor of what comes behind these lines, also of the last ones. */
  readonly position: string;
}

/** Stores executions. Two adapters (PostgreSQL, memory), one conformance suite. */
export interface ExecutionStore extends WorkerRegistry, StartStore, BatchStore, ProgressStore, DueStore {
  readonly find: (id: string, ownerId: string) => Promise<ExecutionRecord | null>;
  /** The bytes of a SUCCEEDED execution; null once they have expired. */
  readonly readResult: (id: string, ownerId: string) => Promise<StoredResult | null>;
  /** Null: the owner has no such execution. The digests are made when they are asked for. */
  readonly readDigests: (id: string, ownerId: string) => Promise<ExecutionDigests | null>;
  /**
   * About `pageBytes` (default LOG_PAGE_BYTES) of the lines after `cursor`, or from the first line on; null when the owner has no such execution.
   * @throws Problem INVALID_INPUT for a cursor that is not the `nextCursor` of a page
   */
  readonly readLog: (
    id: string,
    ownerId: string,
    cursor?: string,
    pageBytes?: number,
  ) => Promise<LogPage | null>;
  /** Those whose state is another one, or whose log has more lines. One query for all of them, of which there are `MAX_WATCHED` at most. */
  readonly readChanges: (watched: readonly Watched[]) => Promise<readonly WatchedChange[]>;
  /** Whether executions of the time of this id have been removed: one that is not there may have been. Missing: none was. */
  readonly wasRemoved?: (id: string) => Promise<boolean>;
  /** Newest first. */
  readonly list: (ownerId: string, filter: ListFilter) => Promise<Page<ExecutionRecord>>;
  /** PENDING becomes FAILED/CANCELLED at once; RUNNING is marked, and its worker is notified. Null: the owner has no such execution. */
  readonly cancel: (id: string, ownerId: string) => Promise<ExecutionRecord | null>;
  /**
   * PENDING becomes RUNNING with attempt + 1 and a lease, in the order of the queue. Executions that were given back can be claimed after a pause,
   * those past the deadline of their start never.
   */
  readonly claim: (request: ClaimRequest) => Promise<ClaimAnswer>;
  /**
   * The listener is called before executions are created in this process, and may claim them at once, if nothing else is pending: that saves
   * a commit and a notification. Returns a function that stops it. Missing: executions are claimed once they were created.
   */
  readonly onCreate?: (listener: (claim: ClaimNew) => void) => () => void;
  /** Extends the leases that this worker still holds. */
  readonly renew: (workerId: string, claims: readonly ClaimKey[], leaseSeconds: number) => Promise<Renewal>;
  /**
   * False when the claim is no longer held: the outcome is dropped and nothing changes. A repetition after a lost answer returns true.
   *
   * @throws Problem UNAVAILABLE when a retry may succeed
   */
  readonly finish: (claim: EndingClaim, outcome: Outcome) => Promise<boolean>;
  /**
   * RUNNING becomes PENDING again, to be claimed after a pause: only if user code provably never began. If its cancellation was
   * requested meanwhile, it becomes FAILED/CANCELLED. Counts a setback. With a pause of null, for a worker that stops, it counts none and
   * can be claimed at once. Returns false, throws and can be repeated as `finish`.
   */
  readonly giveBack: (claim: ClaimKey, pauseSeconds: number | null) => Promise<boolean>;
  /**
   * RUNNING becomes PENDING again after an attempt that did not succeed, to be claimed after a pause, and the attempt is noted. If its cancellation
   * was requested meanwhile, it ends with this outcome as by `finish`. Returns false, throws and can be repeated as `finish`.
   */
  readonly retry: (claim: ClaimKey, outcome: FailedOutcome, pauseSeconds: number) => Promise<boolean>;
  /**
   * Notes whether the worker is still preparing what it has claimed: while it is noted, user code has not begun. Who has noted it takes the note
   * back, and waits for that, before anything begins. False when the claim is no longer held: nothing may begin. Throws and can be repeated as `finish`.
   */
  readonly notePreparing: (claim: ClaimKey, isPreparing: boolean) => Promise<boolean>;
  /**
   * Keeps the handle of what the attempt has begun elsewhere, in place of one before, durably when it resolves. False when the claim is no longer held.
   * Throws and can be repeated as `finish`.
   */
  readonly noteHandle: (claim: ClaimKey, handle: string) => Promise<boolean>;
  readonly appendLog: (claim: ClaimKey, lines: readonly LogLine[]) => Promise<void>;
  /**
   * RUNNING with an expired lease becomes UNKNOWN/WORKER_LOST. What was still being prepared goes back as by `giveBack`, without a pause; with
   * its last setback it becomes FAILED/NOT_STARTED. What its service wants to be retried then becomes PENDING as by `retry`, without a pause.
   * Returns the number of executions.
   */
  readonly sweep: () => Promise<number>;
  /** What is PENDING past the deadline of its start becomes FAILED/START_DEADLINE_EXCEEDED. Returns the number of executions. */
  readonly expire: () => Promise<number>;
  /** Number of pending executions by owner, without those of `countDelayed`; owners without any are left out. */
  readonly countPending: () => Promise<ReadonlyMap<string, number>>;
  /** The same of those that are held until the time that their start has asked for (START_AT). */
  readonly countDelayed: () => Promise<ReadonlyMap<string, number>>;
  /** Places in the queue, in its order, see SURVEY. */
  readonly surveyQueue: () => Promise<readonly QueuePlace[]>;
  /** Who waits for a place of a limit, see LIMIT_SURVEY. */
  readonly surveyLimits: () => Promise<readonly LimitLine[]>;
  readonly subscribe: (listener: (event: StoreEvent) => void) => () => void;
}

/** At this setback the execution ends FAILED/NOT_STARTED: where each is followed by a pause, about eleven minutes after the first. */
export const MAX_SETBACKS = 8;

/** Failure of an execution that could not be started so often. */
export const NOT_STARTED = {
  code: "NOT_STARTED",
  detail: `The platform could not start the execution in ${MAX_SETBACKS} attempts; user code did not begin. Start it again later.`,
} as const;

/** Failure of an execution that was cancelled before user code began. */
export const CANCELLED_BEFORE = {
  code: "CANCELLED",
  detail: "The execution was cancelled before it began.",
} as const;
