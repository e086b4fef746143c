import { Problem } from "@platform/contract/problems";
import { formatGigabytes } from "../base/bytes.ts";
import type { PoolFilePin } from "../python/port/runtime.ts";

/** What the data pools have together that one execution reads as folders. */
export interface PoolLimits {
  readonly files: number;
  readonly bytes: number;
}

/** @throws Problem DATA_REFERENCE_INVALID where they have more */
export function requireFewFiles(count: number, limits: PoolLimits): void {
  if (count > limits.files)
    throw new Problem(
      "DATA_REFERENCE_INVALID",
      `The data pools of this start have more than ${limits.files} files together; an execution reads at most so many as folders.`,
    );
}

/** @throws Problem DATA_REFERENCE_INVALID where they have more */
export function requireFewBytes(files: readonly Pick<PoolFilePin, "bytes">[], limits: PoolLimits): void {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > limits.bytes)
    throw new Problem(
      "DATA_REFERENCE_INVALID",
      `The data pools of this start have ${formatGigabytes(bytes)} GB together; an execution reads at most ${formatGigabytes(limits.bytes)} GB as folders.`,
    );
}
