import type { Usage } from "@platform/contract/platform-api/usage";
import { Chart } from "../../charts/chart.tsx";
import type { ChartSeries } from "../../charts/marks.tsx";
import type { ChartRow } from "../../charts/plot.tsx";
import type { Dimension } from "../../usage/query.ts";
import { formatUsage } from "../../usage/sum.ts";
import { listDays } from "../../util/days.ts";
import type { Period } from "../../util/days.ts";
import { formatCount } from "../../util/units.ts";

/** The states in which executions end. */
const STATES: readonly ChartSeries[] = [
  { id: "succeeded", label: "Succeeded", color: "var(--platform-state-succeeded)" },
  { id: "failed", label: "Failed", color: "var(--platform-state-failed)", pattern: "stripes" },
  { id: "unknown", label: "Unknown", color: "var(--platform-state-unknown)", pattern: "dots" },
];
const ACCENT = "var(--mantine-color-anchor)";
/** So many bars that lie are read at once: the largest; the table has all. */
const MOST_ROWS = 12;
const ROW_PIXELS = 30;

interface UsageChartsProps {
  readonly lines: readonly Usage[];
  readonly by: Dimension;
  readonly period: Period;
}

/** Executions by state, CPU time, and cost: over the days, or of the largest lines. Their numbers are those of the table. */
export function UsageCharts({ lines, by, period }: UsageChartsProps) {
  const rows = by === "day" ? toDays(lines, period) : findLargest(lines);
  const kind = by === "day" ? "columns" : "rows";
  const currencies = [
    ...new Set(lines.flatMap(({ cost }) => cost.map(({ currency }) => currency))),
  ].toSorted();
  const size = by === "day" ? 200 : Math.max(90, rows.length * ROW_PIXELS + 34);
  const more = lines.length > rows.length ? `, the ${MOST_ROWS} largest of ${formatCount(lines.length)}` : "";
  const drawn = { kind, rows, format: formatUsage, height: size } as const;
  return (
    <div className="charts">
      <div className="chart-wide">
        <Chart
          {...drawn}
          title={`Executions${more}`}
          summary={summarise("executions", lines, by)}
          series={STATES}
        />
      </div>
      <Chart
        {...drawn}
        title={`CPU-seconds${more}`}
        summary={summarise("cpuSeconds", lines, by)}
        series={[{ id: "cpuSeconds", label: "CPU-seconds", color: ACCENT }]}
      />
      {currencies.map((currency) => (
        <Chart
          key={currency}
          {...drawn}
          title={`Cost in ${currency}${more}`}
          summary="see the column Cost of the table below"
          series={[{ id: currency, label: currency, color: ACCENT }]}
        />
      ))}
    </div>
  );
}

function summarise(name: "executions" | "cpuSeconds", lines: readonly Usage[], by: Dimension): string {
  const most = lines.reduce<Usage | undefined>(
    (largest, line) => (largest === undefined || line[name] > largest[name] ? line : largest),
    undefined,
  );
  const words = most === undefined ? "" : `most ${formatUsage(most[name])}, ${by} ${most.label}; `;
  return `${words}all numbers are in the table below`;
}

/** Also the days without usage. */
function toDays(lines: readonly Usage[], period: Period): readonly ChartRow[] {
  const found = new Map(lines.map((line) => [line.key, line]));
  return listDays(period).map((day) => {
    const line = found.get(day);
    return { key: day, label: formatDay(day), values: line === undefined ? {} : toValues(line) };
  });
}

function formatDay(day: string): string {
  return new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" }).format(
    Date.parse(day),
  );
}

/** By executions; where these are equal, by CPU time. */
function findLargest(lines: readonly Usage[]): readonly ChartRow[] {
  return lines
    .toSorted((a, b) => b.executions - a.executions || b.cpuSeconds - a.cpuSeconds)
    .slice(0, MOST_ROWS)
    .map((line) => ({ key: line.key, label: line.label, values: toValues(line) }));
}

function toValues({ succeeded, failed, unknown, cpuSeconds, cost }: Usage): ChartRow["values"] {
  return {
    succeeded,
    failed,
    unknown,
    cpuSeconds,
    ...Object.fromEntries(cost.map(({ currency, amount }) => [currency, Number(amount)])),
  };
}
