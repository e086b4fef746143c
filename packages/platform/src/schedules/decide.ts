import { HOUR } from "@platform/engine/base/time";
import type { Decision, DueSchedule } from "../store/schedules/due.ts";
import type { Times } from "../store/schedules/schedules.ts";
import { TimesError, readTimes } from "./cron.ts";

/** An occurrence is started so late at most: what is later helps nobody who has expected it then. Milliseconds. */
export const LATEST_MS = HOUR;

/** The first occurrence after a time; null: there is none, or the times cannot be read any more. */
export function findNext({ cron, timeZone }: Times, after: number): number | null {
  return attempt(() => readTimes(cron, timeZone).after(after));
}

/**
 * What becomes of a schedule that is due: of the occurrences that have passed, only the last one is started, and only within an hour.
 * The others are noted as missed. After a clock was set back nothing is started.
 */
export function decideDue(schedule: DueSchedule): Decision {
  return attempt(() => decide(schedule)) ?? { start: null, missed: null, next: null };
}

function decide({ cron, timeZone, dueAt, now, isAhead }: DueSchedule): Decision {
  const occurrences = readTimes(cron, timeZone);
  const next = occurrences.after(now);
  if (isAhead) return { start: null, missed: null, next };
  const latest = Math.max(dueAt, occurrences.upTo(now) ?? dueAt);
  if (now - latest > LATEST_MS) return { start: null, missed: describeMissed(dueAt, latest), next };
  if (latest === dueAt) return { start: latest, missed: null, next };
  const last = Math.max(dueAt, occurrences.upTo(latest - 1) ?? dueAt);
  return { start: latest, missed: describeMissed(dueAt, last), next };
}

/** Null: the times cannot be read, as they could when they were given. A name of a time zone may go with another Node.js. */
function attempt<T>(find: () => T): T | null {
  try {
    return find();
  } catch (error) {
    if (error instanceof TimesError) return null;
    throw error;
  }
}

/** The first and the last that nobody starts any more. */
function describeMissed(first: number, last: number): Decision["missed"] {
  const rule = "The platform did not run in time; only the last occurrence is started, within an hour.";
  const until = last === first ? "" : ` The last one missed was due at ${new Date(last).toISOString()}.`;
  return { first, detail: `${rule}${until}` };
}
