import { SECOND } from "../base/time.ts";

/** Time constant in milliseconds: an event of that age has a weight of 1/e. */
const MEMORY_MS = 30 * SECOND;
/** Milliseconds after which the rate is meaningful. */
const SETTLED_AFTER_MS = 5 * SECOND;

/** The current rate of events: a mean in which the weight of an event decays with its age. */
export interface RateMeter {
  readonly add: () => void;
  readonly perSecond: () => number;
  /** Whether it has measured for long enough. */
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
      // The sum that one event a second would have reached by now.
      const watched = 1 - Math.exp((since - now()) / MEMORY_MS);
      return watched === 0 ? 0 : (weight / watched / MEMORY_MS) * SECOND;
    },
    isSettled: () => now() - since >= SETTLED_AFTER_MS,
  };
}
