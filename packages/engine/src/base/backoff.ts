export interface Backoff {
  /** Pause after the first failure, in milliseconds. */
  readonly firstMs: number;
  readonly ceilingMs: number;
}

/** Milliseconds to pause after a failure that `failuresBefore` others preceded: doubled each time, with 50 % jitter to each side. */
export function computePause({ firstMs, ceilingMs }: Backoff, failuresBefore: number): number {
  return Math.min(ceilingMs, firstMs * 2 ** failuresBefore) * (0.5 + Math.random());
}
