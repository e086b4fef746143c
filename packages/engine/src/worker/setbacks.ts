/*
 * A claim that could not be started goes back into the queue: for another worker, or for this one when it has recovered. The limit ensures
 * that an execution that no worker can start does not wait without end.
 */

/** At this setback the execution ends FAILED/NOT_STARTED: about eleven minutes after the first. */
export const MAX_SETBACKS = 8;

const FIRST_PAUSE_SECONDS = 1;
const PAUSE_CEILING_SECONDS = 300;
const GROWTH = 3;

/** Seconds until an execution with this many previous setbacks can be claimed again: 1, 3, 9 ... 300, each reduced by up to a quarter. */
export function choosePauseSeconds(setbacks: number): number {
  const pause = Math.min(PAUSE_CEILING_SECONDS, FIRST_PAUSE_SECONDS * GROWTH ** setbacks);
  return pause * (0.75 + 0.25 * Math.random());
}
