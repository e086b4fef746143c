import type { ProgressUpdate } from "../python/port/runtime.ts";
import type { ClaimKey } from "./execution-store.ts";

/** The newest that a run has reported, for as long as its execution is kept. Times in milliseconds since the epoch. */
export interface ExecutionProgress {
  /** From 0 to 1; null, as the message: it has only made checkpoints. */
  readonly fraction: number | null;
  readonly message: string | null;
  /** When the last of it was stored. */
  readonly at: number;
  /** When its last checkpoint was stored; null: it has made none. */
  readonly checkpointAt: number | null;
}

/** Keeps what runs report. */
export interface ProgressStore {
  /** Stores the newest that a run has reported; what an update does not have stays. False when the claim is no longer held. Throws and can be repeated as `finish`. */
  readonly noteProgress: (claim: ClaimKey, update: ProgressUpdate) => Promise<boolean>;
  /** The last checkpoint of an execution, as JSON text of an object; null: it has none, or it has expired. Of one that SUCCEEDED it may be gone. */
  readonly readCheckpoint: (id: string, ownerId: string) => Promise<Uint8Array | null>;
}
