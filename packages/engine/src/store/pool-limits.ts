import { Problem } from "@platform/contract/problems";
import { formatGigabytes } from "../base/bytes.ts";
import type { PoolFilePin } from "../python/port/runtime.ts";

/** What the data pools have together that one execution reads as folders; one that is named twice counts twice. */
export interface PoolLimits {
  readonly files: number;
  readonly bytes: number;
}

/** How often a start names a data pool, the same one or others: each time is a folder of the run. */
export const MAX_NAMED_POOLS = 16;

/** @throws Problem DATA_REFERENCE_INVALID where a start names more */
export function requireFewPools(count: number): void {
  if (count > MAX_NAMED_POOLS)
    throw new Problem(
      "DATA_REFERENCE_INVALID",
      `This start names ${count} data pools; an execution reads at most ${MAX_NAMED_POOLS} as folders, and one that is named twice counts twice.`,
    );
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
