import { MOST_USAGE_DAYS } from "@platform/contract/limits";

const DAY_MS = 86_400_000;

/** Days of the calendar in UTC, `YYYY-MM-DD`: the first and the last. */
export interface Period {
  readonly from: string;
  readonly to: string;
}

/** The day of a time in milliseconds since the Unix epoch. */
function toDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** The day that is so many days later; of a negative number, earlier. */
export function addDays(day: string, count: number): string {
  return toDay(Date.parse(day) + count * DAY_MS);
}

/** What the URL says; without it, the month of the last day, up to today. */
export function choosePeriod(given: Partial<Period>, now: number): Period {
  const to = given.to ?? toDay(now);
  return { from: given.from ?? `${to.slice(0, 8)}01`, to };
}

/** Why the platform would refuse a period; null: it would not. */
export function explainPeriod({ from, to }: Period): string | null {
  if (from > to) return "The first day is after the last one.";
  if (countDays({ from, to }) > MOST_USAGE_DAYS)
    return `There are more than ${MOST_USAGE_DAYS} days from the first day to the last one.`;
  return null;
}

/** Every day of a period. */
export function listDays(period: Period): readonly string[] {
  return Array.from({ length: countDays(period) }, (_, index) => addDays(period.from, index));
}

function countDays({ from, to }: Period): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
}

/** Periods that are often wanted. */
export function listPeriods(now: number): readonly (Period & { readonly label: string })[] {
  const today = toDay(now);
  const first = `${today.slice(0, 8)}01`;
  const last = addDays(first, -1);
  return [
    { label: "This month", from: first, to: today },
    { label: "Last month", from: `${last.slice(0, 8)}01`, to: last },
    { label: "Last 7 days", from: addDays(today, -6), to: today },
    { label: "Last 30 days", from: addDays(today, -29), to: today },
    { label: "Last 365 days", from: addDays(today, -364), to: today },
  ];
}
