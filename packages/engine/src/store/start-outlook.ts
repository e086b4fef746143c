import type { NewExecution, QueuedState } from "./execution-store.ts";
import type { LimitPlaces } from "./limit-line.ts";
import type { ExecutionQuota } from "./quota.ts";

/** What a start would find, as of now. */
export interface StartOutlook {
  /** Of its owner, before the start; missing: there is no cap. */
  readonly quota?: ExecutionQuota;
  /** The same after so many starts before it; missing: nothing limits these. @throws Problem QUOTA_EXCEEDED, RATE_LIMITED */
  readonly quotaAfter?: (started: number) => ExecutionQuota | undefined;
  /** By the plan of its owner; missing: there is none. */
  readonly price?: StartPrice;
  /** The place in the queue that it would get. */
  readonly place: Pick<QueuedState, "priority" | "rank">;
  /** Whether a worker has room for it that is not taken by others. */
  readonly hasRoom: boolean;
  /** Of its service, where that has limits; missing: it has none. */
  readonly places?: LimitPlaces;
}

/** What an execution would cost. Amounts are decimal numbers, exact. */
export interface StartPrice {
  /** Null: every price is zero. */
  readonly currency: string | null;
  readonly perExecution: string;
  readonly perCpuSecond: string;
  /** Units of this month that are included and not used. */
  readonly includedLeft: number;
  /** With the CPU time of the last runs: half, and nine of ten, have not exceeded it. Null: none are known. */
  readonly typical: string | null;
  readonly long: string | null;
  /** With all its vCPUs until the time limit. */
  readonly most: string;
}

/** What decides about a start besides its body. */
export type ForeseenStart = Pick<
  NewExecution,
  "owner" | "versionId" | "resources" | "timeoutSeconds" | "priority" | "startAt" | "limitKey"
>;
