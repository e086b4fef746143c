import { Problem } from "@platform/contract/problems";
import type { Objects } from "../objects/object-store.ts";
import type { PoolFileStore } from "../store/pools/pool-files.ts";
import type { UploadKey, UploadRecord, UploadStore } from "../store/pools/uploads.ts";

/** What uploads work with. */
export interface UploadsOptions {
  readonly store: UploadStore;
  readonly files: Pick<PoolFileStore, "put">;
  readonly objects: Pick<Objects, "receive" | "take">;
  /** Of the parts. */
  readonly folder: string;
  /** Whether the disk has no space for uploads. */
  readonly isDiskLow: () => boolean;
}

/** What a run may do. */
export interface Turn {
  readonly options: UploadsOptions;
  readonly key: UploadKey;
  /** As of the claim. */
  readonly record: UploadRecord;
  readonly writer: string;
  readonly signal: AbortSignal;
  /** Whether the caller may still do this. @throws Problem */
  readonly requireStill: () => Promise<void>;
}

/** Another request goes on with the upload. */
export function takenOver(): Problem {
  return new Problem("UPLOAD_LOCKED");
}
