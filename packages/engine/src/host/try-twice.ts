import { TimeLimitError } from "./processes.ts";

/** Milliseconds that the first try may take, and the second. */
export type TrialTimes = readonly [first: number, second: number];

/** A trial takes 20 to 60 ms; where the processor is emulated, or other programs have all of it, up to ten seconds and more. */
export const TRIAL_TIMES: TrialTimes = [10_000, 60_000];

/**
 * Tries something that a slow machine may not finish in time, a second time with more of it: what only took long has not failed. A level that
 * is lower at one start than at the next would make `--sandbox-min` a matter of luck.
 *
 * @throws TimeLimitError when the second time is too short as well; all other errors as they are, at the first try
 */
export async function tryTwice<T>(
  [first, second]: TrialTimes,
  attempt: (timeout: number) => Promise<T>,
): Promise<T> {
  try {
    return await attempt(first);
  } catch (error) {
    if (!(error instanceof TimeLimitError)) throw error;
    return attempt(second);
  }
}

/** The level is one that another start may exceed: it must not look like a property of the machine. */
export function explainTime({ message }: TimeLimitError): string {
  return `It could not be tried: ${message}, at the second try too. On a machine that is less busy the level may be higher.`;
}
