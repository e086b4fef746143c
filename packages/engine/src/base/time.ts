/** Durations in milliseconds. */
export const SECOND = 1_000;
/** 60,000 milliseconds. */
export const MINUTE = 60 * SECOND;
/** 3,600,000 milliseconds. */
export const HOUR = 60 * MINUTE;
/** 24 hours in milliseconds. */
export const DAY = 24 * HOUR;
