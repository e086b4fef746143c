import type { InstanceSeries } from "@platform/contract/platform-api/operator-figures";
import type { ChartRow } from "../../charts/plot.tsx";
import { parseTimestamp } from "../../util/times.ts";

const DAY_SECONDS = 86_400;

/** Every step of the figures, also those of which nothing is known: the platform leaves them out. */
export function toRows({ from, to, step, series }: InstanceSeries): readonly ChartRow[] {
  const [first, end] = [parseTimestamp(from) / 1_000, parseTimestamp(to) / 1_000];
  const known = series.map(
    ({ name, points }) => [name, new Map(points.map(([at, value]) => [at, value]))] as const,
  );
  const format = new Intl.DateTimeFormat(
    undefined,
    end - first > DAY_SECONDS
      ? { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" }
      : { hour: "2-digit", minute: "2-digit" },
  );
  return Array.from({ length: Math.max(0, Math.round((end - first) / step)) }, (_, index) => {
    const at = first + index * step;
    return {
      key: String(at),
      label: format.format(at * 1_000),
      values: Object.fromEntries(known.map(([name, values]) => [name, values.get(at) ?? null])),
    };
  });
}
