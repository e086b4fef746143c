/** How pauses between attempts grow. */
export interface Backoff {
  /** Pause after the first failure, in milliseconds. */
  readonly firstMs: number;
  /** Limit of the doubled pause in milliseconds, before the jitter: a pause lasts at most 1.5 times as long. */
  readonly ceilingMs: number;
}

/** Milliseconds to pause after a failure that `failuresBefore` others preceded: doubled each time, with 50 % jitter to each side. */
export function computePause({ firstMs, ceilingMs }: Backoff, failuresBefore: number): number {
  return Math.min(ceilingMs, firstMs * 2 ** failuresBefore) * (0.5 + Math.random());
}
