import { Cron } from "croner";

/*
 * Times of a calendar. The library finds them; what it accepts beyond five plain fields is refused here.
 *
 * A local time that the clocks skip is due when they have been set forward; one that occurs twice is due the first time. Where minutes or
 * hours have a star or a step, the schedule is one of intervals: it goes on through both, without the times that are skipped.
 */

/** Why times are refused: of which field, and a sentence. */
export class TimesError extends Error {
  readonly field: "cron" | "timeZone";

  constructor(field: TimesError["field"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "TimesError";
    this.field = field;
  }
}

/** The occurrences of a schedule, in milliseconds since the epoch. Both throw TimesError where there are none to be had. */
export interface Occurrences {
  /** The first after a time; null: there is none. */
  readonly after: (time: number) => number | null;
  /** The last that is not after a time; null: there is none. */
  readonly upTo: (time: number) => number | null;
}

const NICKNAMES: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};

const NUMBERS = "[0-9]{1,2}";
const MONTHS = "JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC";
const DAYS = "SUN|MON|TUE|WED|THU|FRI|SAT";

interface Field {
  readonly name: string;
  readonly range: string;
  readonly pattern: RegExp;
}

const FIELDS: readonly Field[] = [
  describeField("minute", "from 0 to 59"),
  describeField("hour", "from 0 to 23"),
  describeField("day of the month", "from 1 to 31"),
  describeField("month", "from 1 to 12 or JAN to DEC", MONTHS),
  describeField("day of the week", "from 0 to 7 or SUN to SAT", DAYS),
];

function describeField(name: string, range: string, names?: string): Field {
  const value = names === undefined ? NUMBERS : `(?:${NUMBERS}|${names})`;
  const item = `(?:[*]|${value}(?:-${value})?)(?:/${NUMBERS})?`;
  return { name, range, pattern: new RegExp(`^${item}(?:,${item})*$`, "iu") };
}

/** Croner knows "15 seconds past" and more; a second is always 0 here. */
const OPTIONS = { mode: "5-part", fixedTimeRule: "no-wildcard", paused: true } as const;
const ZONE = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/u;
const SECOND_MS = 1_000;

/** Reads an expression and the name of a time zone. @throws TimesError */
export function readTimes(expression: string, timeZone: string): Occurrences {
  requireZone(timeZone);
  const cron = compile(readExpression(expression), timeZone);
  return {
    after: (time) => ask(() => cron.nextRun(new Date(time)))?.getTime() ?? null,
    // The library leaves out what is in the very second of the reference, or takes it in: it is asked from the next one.
    upTo: (time) => {
      const from = new Date((Math.floor(time / SECOND_MS) + 1) * SECOND_MS);
      return ask(() => cron.previousRuns(1, from))[0]?.getTime() ?? null;
    },
  };
}

/** Times at which the library fails are no times: one schedule keeps no other from being due. @throws TimesError */
function ask<T>(find: () => T): T {
  try {
    return find();
  } catch (cause) {
    throw new TimesError("cron", "The occurrences cannot be computed.", { cause });
  }
}

/** @throws TimesError also where nothing ever occurs, at present */
export function requireTimes(expression: string, timeZone: string, now: number): void {
  if (readTimes(expression, timeZone).after(now) !== null) return;
  throw new TimesError("cron", `"${expression}" never occurs: there is no such day.`);
}

function requireZone(timeZone: string): void {
  try {
    if (!ZONE.test(timeZone)) throw new RangeError("not a name");
    void new Intl.DateTimeFormat("en", { timeZone });
  } catch {
    throw new TimesError(
      "timeZone",
      `"${timeZone}" is no time zone; give an IANA name such as Europe/Berlin, or UTC.`,
    );
  }
}

/** The five fields, each checked. */
function readExpression(expression: string): string {
  if (expression.startsWith("@")) {
    const fields = NICKNAMES[expression.toLowerCase()];
    if (fields !== undefined) return fields;
    throw new TimesError(
      "cron",
      `"${expression}" is not known; ${Object.keys(NICKNAMES).join(", ")} are, or give five fields.`,
    );
  }
  const given = expression.split(/[ \t]+/u).filter((part) => part !== "");
  if (given.length !== FIELDS.length)
    throw new TimesError(
      "cron",
      `There are ${given.length} fields; give five: minute, hour, day of the month, month, day of the week.`,
    );
  FIELDS.forEach((field, index) => requireField(field, index, given[index] ?? ""));
  return given.join(" ");
}

function requireField({ name, range, pattern }: Field, index: number, text: string): void {
  const alone = FIELDS.map((_field, at) => (at === index ? text : "*")).join(" ");
  if (pattern.test(text) && isReadable(alone)) return;
  throw new TimesError(
    "cron",
    `The ${name} "${text}" is not valid: give numbers ${range}, ranges such as 1-5, a step such as */2 or 1-5/2, or several of these with commas between.`,
  );
}

function isReadable(expression: string): boolean {
  try {
    compile(expression, "UTC");
    return true;
  } catch {
    return false;
  }
}

function compile(expression: string, timezone: string): Cron {
  return new Cron(expression, { ...OPTIONS, timezone });
}
