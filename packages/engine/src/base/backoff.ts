/** The bounds of a pause that grows with each failure. */
export interface Backoff {
  readonly firstMs: number;
  readonly ceilingMs: number;
  /** What each failure multiplies the pause by; default 2. */
  readonly factor?: number;
}

/** Milliseconds to pause after a failure that `failuresBefore` others preceded. Without jitter, for state machines: they are pure. */
export function growPause({ firstMs, ceilingMs, factor = 2 }: Backoff, failuresBefore: number): number {
  return Math.min(ceilingMs, firstMs * factor ** failuresBefore);
}

/** As `growPause`, less up to half of it, by chance: processes that failed together do not try again together. */
export function computePause(backoff: Backoff, failuresBefore: number): number {
  return growPause(backoff, failuresBefore) * (1 - 0.5 * Math.random());
}

/** 20 % more or less, by chance: processes that were started together do not act together. */
export function spreadInterval(milliseconds: number): number {
  return milliseconds * (0.8 + 0.4 * Math.random());
}
