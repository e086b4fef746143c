import { formatTimestamp } from "./times.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** A day ago, to the hour: the same for an hour, so that what was counted is found again. */
export function findLastDay(now: number): string {
  return formatTimestamp(Math.floor(now / HOUR_MS) * HOUR_MS - DAY_MS);
}
