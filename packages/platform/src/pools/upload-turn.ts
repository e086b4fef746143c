import { Problem } from "@platform/contract/problems";
import type { Objects } from "../objects/object-store.ts";
import type { PoolFileStore } from "../store/pools/pool-files.ts";
import type { UploadKey, UploadRecord, UploadStore } from "../store/pools/uploads.ts";
import type { PartPace } from "./part-pace.ts";

/** What uploads work with. */
export interface UploadsOptions {
  readonly store: UploadStore;
  readonly files: Pick<PoolFileStore, "put">;
  readonly objects: Pick<Objects, "receive" | "take">;
  /** Of the parts. */
  readonly folder: string;
  /** Whether the disk has no space for uploads. */
  readonly isDiskLow: () => boolean;
  /** How long a request waits for another one of this process to end, in milliseconds; 20 seconds unless it is given. */
  readonly patienceMs?: number;
  readonly pace?: PartPace;
}

/** What a run may do. */
export interface Turn {
  readonly options: UploadsOptions;
  readonly key: UploadKey;
  /** As of the claim. */
  readonly record: UploadRecord;
  readonly writer: string;
  readonly signal: AbortSignal;
  /** To be called when no other request can still write to the last part. */
  readonly onAlone: () => void;
  /** Whether the caller may still do this. @throws Problem */
  readonly requireStill: () => Promise<void>;
}

/** Another request goes on with the upload. Clients of tus try again by themselves. */
export function takenOver(): Problem {
  return new Problem("UPLOAD_LOCKED", undefined, { headers: { "retry-after": "1" } });
}
