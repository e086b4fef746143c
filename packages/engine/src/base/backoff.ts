export interface Backoff {
  /** Milliseconds, as the other. */
  readonly firstMs: number;
  readonly ceilingMs: number;
}

/** How long to pause after so many failures before (0: this was the first): doubled each time, spread by half to each side. */
export function computePause({ firstMs, ceilingMs }: Backoff, failuresBefore: number): number {
  return Math.min(ceilingMs, firstMs * 2 ** failuresBefore) * (0.5 + Math.random());
}
