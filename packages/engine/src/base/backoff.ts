/**
 * Milliseconds to pause after a failure that `failuresBefore` others preceded: `firstMs`, doubled each time up to `ceilingMs`, with 50 %
 * jitter to each side, so at most 1.5 times `ceilingMs`.
 */
export function computePause(
  { firstMs, ceilingMs }: { readonly firstMs: number; readonly ceilingMs: number },
  failuresBefore: number,
): number {
  return Math.min(ceilingMs, firstMs * 2 ** failuresBefore) * (0.5 + Math.random());
}
