import { Problem } from "@platform/contract/problems";
import type { FieldError } from "@platform/contract/problems";
import { DAY } from "../base/time.ts";

/** How far ahead `startAt` may be, where executions are kept for so long. */
const MOST_DAYS_AHEAD = 7;

/** ISO 8601 with a zone (RFC 3339), or the form of the times that the platform writes, which is in UTC. */
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;
const WIRE = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/;
/** No time has more. */
const MOST_CHARACTERS = 40;

/** Milliseconds since the epoch; null: it is no time with a zone. */
export function parseStartAt(value: unknown): number | null {
  if (typeof value !== "string" || value.length > MOST_CHARACTERS) return null;
  const text = WIRE.test(value) ? `${value.replace(" ", "T")}Z` : value;
  if (!ISO.test(text) || !isDay(text.slice(0, 10))) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}

/** Date.parse takes 30 February for a day of March. */
function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** What is wrong with `startAt` of a body; none where it is missing. */
export function findTimeErrors({ startAt }: Readonly<Record<string, unknown>>): readonly FieldError[] {
  if (startAt === undefined || parseStartAt(startAt) !== null) return [];
  const message =
    '"startAt" must be a time with its zone, such as 2026-11-24T18:00:00+01:00 or 2026-11-24T17:00:00Z, or YYYY-MM-DD HH:MM:SS in UTC.';
  return [{ path: "/startAt", message }];
}

/**
 * @param startAt milliseconds since the epoch; undefined: at once
 * @throws Problem INVALID_INPUT for a time that is too far ahead
 */
export function requireNear(
  startAt: number | undefined,
  { now, keptDays }: { readonly now: number; readonly keptDays: number },
): void {
  const days = Math.min(MOST_DAYS_AHEAD, keptDays);
  if (startAt === undefined || startAt - now <= days * DAY) return;
  const most = days === 1 ? "1 day" : `${days} days`;
  const message = `"startAt" is too far ahead: it can be at most ${most} from now. Start the execution later.`;
  throw new Problem("INVALID_INPUT", message, { errors: [{ path: "/startAt", message }] });
}
