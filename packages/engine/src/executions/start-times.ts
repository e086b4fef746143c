import { START_WITHIN_SECONDS } from "@platform/contract/execution";
import { Problem } from "@platform/contract/problems";
import type { FieldError } from "@platform/contract/problems";
import { DAY } from "../base/time.ts";
import type { NewExecution } from "../store/execution-store.ts";
import type { AcceptedBody } from "./start-body.ts";

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

/** A number of seconds after which an execution must have begun; null: it is none. */
export function parseStartWithin(value: unknown): number | null {
  if (typeof value !== "number" || !Number.isInteger(value)) return null;
  const { minimum, maximum } = START_WITHIN_SECONDS;
  return value >= minimum && value <= maximum ? value : null;
}

/** What is wrong with `startAt` and `startWithin` of a body; none where they are missing. */
export function findTimeErrors({
  startAt,
  startWithin,
}: Readonly<Record<string, unknown>>): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (startAt !== undefined && parseStartAt(startAt) === null)
    errors.push({
      path: "/startAt",
      message:
        '"startAt" must be a time with its zone, such as 2026-11-24T18:00:00+01:00 or 2026-11-24T17:00:00Z, or YYYY-MM-DD HH:MM:SS in UTC.',
    });
  if (startWithin !== undefined && parseStartWithin(startWithin) === null)
    errors.push({
      path: "/startWithin",
      message: `"startWithin" must be a whole number of seconds from ${START_WITHIN_SECONDS.minimum} to ${START_WITHIN_SECONDS.maximum}.`,
    });
  return errors;
}

/** Whether a start is held until that time; both in milliseconds since the epoch. */
export function isLater(startAt: number | undefined, now: number): boolean {
  return startAt !== undefined && startAt > now;
}

/** What the times in a body make of its start. */
export function chooseTimes({
  startAt,
  startWithin,
}: Pick<AcceptedBody, "startAt" | "startWithin">): Pick<NewExecution, "startAt" | "startWithinSeconds"> {
  return {
    ...(startAt === undefined ? {} : { startAt }),
    ...(startWithin === undefined ? {} : { startWithinSeconds: startWithin }),
  };
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
