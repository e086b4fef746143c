import { formatTimestamp } from "./times.ts";

/** How far back figures go, and how long a step of them is. */
export const SPANS = {
  hour: { label: "Last hour", seconds: 3_600, step: "60" },
  day: { label: "Last 24 hours", seconds: 86_400, step: "300" },
  week: { label: "Last 7 days", seconds: 7 * 86_400, step: "3600" },
} as const;
/** One of them. */
export type Span = keyof typeof SPANS;

/** What the platform is asked: from the beginning of a step, up to the present of each answer. */
export function toSeriesQuery(span: Span, now: number) {
  const { seconds, step } = SPANS[span];
  const length = Number(step) * 1_000;
  return { from: formatTimestamp(Math.floor(now / length) * length - seconds * 1_000), step } as const;
}
