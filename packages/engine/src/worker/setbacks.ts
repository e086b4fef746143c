/*
 * A claim that could not be started goes back into the queue: for another worker, or for this one when it is sound again. The bound makes
 * sure that what no worker can start does not wait for ever.
 */

/** At the last of so many, the execution ends FAILED/NOT_STARTED: about eleven minutes after the first. */
export const MAX_SETBACKS = 8;

const FIRST_PAUSE_SECONDS = 1;
const PAUSE_CEILING_SECONDS = 300;
const GROWTH = 3;

/** Seconds before what was given back `setbacks` times before may be claimed again: 1, 3, 9 ... 300, each less up to a quarter. */
export function choosePauseSeconds(setbacks: number): number {
  const pause = Math.min(PAUSE_CEILING_SECONDS, FIRST_PAUSE_SECONDS * GROWTH ** setbacks);
  return pause * (0.75 + 0.25 * Math.random());
}
