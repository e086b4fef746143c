import { SECOND } from "../base/time.ts";

/** What happened so long ago counts for a third. */
const MEMORY_MS = 30 * SECOND;
/** Sooner, a rate says too little. */
const SETTLED_AFTER_MS = 5 * SECOND;

/** How often something happens at present: a mean in which older events count for less and less. */
export interface RateMeter {
  readonly add: () => void;
  readonly perSecond: () => number;
  /** Whether it has watched for long enough. */
  readonly isSettled: () => boolean;
}

/** `now`: milliseconds. */
export function createRateMeter(now: () => number): RateMeter {
  const since = now();
  let weight = 0;
  let at = since;
  const fade = () => {
    weight *= Math.exp((at - now()) / MEMORY_MS);
    at = now();
  };
  return {
    add: () => {
      fade();
      weight += 1;
    },
    perSecond: () => {
      fade();
      // As much as one event a second would have left by now.
      const watched = 1 - Math.exp((since - now()) / MEMORY_MS);
      return watched === 0 ? 0 : (weight / watched / MEMORY_MS) * SECOND;
    },
    isSettled: () => now() - since >= SETTLED_AFTER_MS,
  };
}
