/** A time of the wire, `YYYY-MM-DD HH:MM:SS` in UTC, in milliseconds since the Unix epoch. */
export function parseTimestamp(timestamp: string): number {
  return Date.parse(`${timestamp.replace(" ", "T")}Z`);
}

const STEPS = [
  { unit: "second", from: 0, milliseconds: 1_000 },
  { unit: "minute", from: 60_000, milliseconds: 60_000 },
  { unit: "hour", from: 3_600_000, milliseconds: 3_600_000 },
  { unit: "day", from: 86_400_000, milliseconds: 86_400_000 },
  { unit: "month", from: 60 * 86_400_000, milliseconds: 30.44 * 86_400_000 },
  { unit: "year", from: 365 * 86_400_000, milliseconds: 365.25 * 86_400_000 },
] as const;

/** "5 minutes ago", "in 3 days". Both times in milliseconds since the Unix epoch. */
export function formatRelative(time: number, now: number, locale?: string): string {
  const distance = Math.abs(time - now);
  const step = STEPS.findLast(({ from }) => distance >= from) ?? STEPS[0];
  const exact = (time - now) / step.milliseconds;
  // What was ended less than 2 hours ago was 1 hour ago; what was made for 7 days a moment ago ends in 7 days.
  const count = exact > 0 ? Math.round(exact) : Math.trunc(exact);
  return new Intl.RelativeTimeFormat(locale, { numeric: step.unit === "second" ? "auto" : "always" }).format(
    count === 0 ? 0 : count,
    step.unit,
  );
}

/** Day and time with the name of the zone. */
export function formatExact(time: number, zone: "local" | "utc", locale?: string): string {
  return new Intl.DateTimeFormat(locale, {
    dateStyle: "medium",
    timeStyle: "long",
    ...(zone === "utc" ? { timeZone: "UTC" } : {}),
  }).format(time);
}

/** Day and time as digits that stand below each other, `YYYY-MM-DD HH:MM:SS`. */
export function formatSortable(time: number, zone: "local" | "utc"): string {
  const offset = zone === "utc" ? 0 : new Date(time).getTimezoneOffset() * 60_000;
  return formatTimestamp(time - offset);
}

/** "80 ms", "1.4 s", "3 min 20 s", "15 min", "2 h 5 min". */
export function formatDuration(milliseconds: number): string {
  // What would be rounded to the next unit is written in it.
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_950) return `${(milliseconds / 1_000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`;
  const seconds = Math.round(milliseconds / 1_000);
  if (seconds < 3_600) return join(Math.floor(seconds / 60), "min", seconds % 60, "s");
  const minutes = Math.round(seconds / 60);
  if (minutes < 1_440) return join(Math.floor(minutes / 60), "h", minutes % 60, "min");
  return join(Math.floor(minutes / 1_440), "d", Math.floor((minutes % 1_440) / 60), "h");
}

function join(count: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${count} ${unit}` : `${count} ${unit} ${rest} ${restUnit}`;
}

/** The other way round of `parseTimestamp`. */
export function formatTimestamp(time: number): string {
  return new Date(time).toISOString().slice(0, 19).replace("T", " ");
}
