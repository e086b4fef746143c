import { addLengths, findLength } from "./instance/lengths.ts";
import type { LengthCounts } from "./instance/lengths.ts";

/** How a service ran for other organisations. */
export interface ServiceFigures {
  /** Of 100 executions, rounded down. */
  readonly successPercent: number;
  /** Milliseconds, at most a tenth off; null: too few have succeeded. */
  readonly medianRunMs: number | null;
}

/** What SELECT_FIGURES answers: sums of days, null where there is none. */
export interface FigureSums {
  readonly succeeded: number | null;
  readonly failed: number | null;
  readonly runs: readonly LengthCounts[] | null;
}

/** Of fewer, one caller's failure or the length of one run could be told. */
const LEAST = 20;
const DAYS = 30;

/** SQL: the day that is not shown yet. It is over some minutes after midnight: the sums of its last minute come a minute late. */
const TODAY = "((now() - interval '10 minutes') at time zone 'UTC')::date";

/**
 * SQL: sums of the last days of a service `s`, if its listing `l` shares them: by key and day, at most thirty rows. Today is left out: who
 * looks before and after an execution would see what became of it.
 */
export const SELECT_FIGURES = `select jsonb_build_object('succeeded', sum(d.succeeded), 'failed', sum(d.failed), 'runs', jsonb_agg(d.runs))
    from service_day d where l.shares_figures and d.service_key = s.key
      and d.day >= ${TODAY} - ${DAYS} and d.day < ${TODAY}`;

/** Null: there are too few executions, or the provider shares none. */
export function toFigures({ succeeded, failed, runs }: FigureSums): ServiceFigures | null {
  const [good, bad] = [succeeded ?? 0, failed ?? 0];
  if (good + bad < LEAST) return null;
  return {
    successPercent: Math.floor((100 * good) / (good + bad)),
    medianRunMs: good < LEAST ? null : findLength(addLengths(runs ?? []), 0.5),
  };
}
