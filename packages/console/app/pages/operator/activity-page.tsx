import { Button, Group } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useDeferredValue, useMemo } from "react";
import type { InstanceSeries, SeriesName } from "@platform/contract/platform-api/operator-figures";
import { q, REFRESH_MS, useLoaded } from "../../api/queries.ts";
import { Chart } from "../../charts/chart.tsx";
import type { ChartSeries } from "../../charts/marks.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { useSetSearch } from "../../ui/dialog.tsx";
import { useNow } from "../../ui/time.tsx";
import { SPANS, toSeriesQuery } from "../../util/series-query.ts";
import type { Span } from "../../util/series-query.ts";
import { formatDuration } from "../../util/times.ts";
import { OperatorFrame } from "./operator-frame.tsx";
import { SeriesTable } from "./series-table.tsx";
import { toRows } from "./to-rows.ts";

const route = getRouteApi("/in/operator/activity");

type Line = ChartSeries & { readonly id: SeriesName };

const FIRST = "var(--mantine-color-anchor)";
const SECOND = "var(--platform-state-unknown)";
const CHARTS: readonly {
  readonly title: string;
  readonly isTime: boolean;
  readonly series: readonly Line[];
}[] = [
  {
    title: "Queue: waiting and running",
    isTime: false,
    series: [
      { id: "pending", label: "Waiting", color: SECOND, dash: "6 4" },
      { id: "running", label: "Running", color: FIRST },
    ],
  },
  {
    title: "Throughput: started and finished",
    isTime: false,
    series: [
      { id: "started", label: "Started", color: SECOND, dash: "6 4" },
      { id: "finished", label: "Finished", color: FIRST },
    ],
  },
  {
    title: "Wait until the start",
    isTime: true,
    series: [
      { id: "waitP50", label: "Half waited at most", color: FIRST },
      { id: "waitP95", label: "95 % waited at most", color: SECOND, dash: "6 4" },
    ],
  },
  {
    title: "Run time",
    isTime: true,
    series: [{ id: "ranP95", label: "95 % ran at most", color: FIRST }],
  },
];

const formatNumber = (value: number) =>
  new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 }).format(value);

/** What the platform did over time. */
export function ActivityPage() {
  const { span = "hour" } = route.useSearch();
  const setSearch = useSetSearch();
  const query = useAsked(span);
  const figures = useLoaded(q("getSeries", { query }), { refresh: REFRESH_MS.list });
  const rows = toRows(figures);
  return (
    <OperatorFrame
      title="Activity"
      description="Written once a minute and kept for eight days. Lengths of time are at most a tenth off; what is held until a time or by a limit does not count as waiting."
      actions={<CopyAs op="getSeries" request={{ query }} />}
    >
      <Group gap="xs" mb="lg">
        {(Object.keys(SPANS) as Span[]).map((one) => (
          <Button
            key={one}
            size="xs"
            variant={one === span ? "filled" : "default"}
            aria-pressed={one === span}
            onClick={() => setSearch({ span: one === "hour" ? undefined : one }, "push")}
          >
            {SPANS[one].label}
          </Button>
        ))}
      </Group>
      <div className="charts">
        {CHARTS.map(({ title, isTime, series }) => (
          <Chart
            key={title}
            kind="lines"
            title={title}
            summary={summarise(series, figures, isTime ? formatDuration : formatNumber)}
            rows={rows}
            series={series}
            format={isTime ? formatDuration : formatNumber}
            {...(isTime ? { formatTick: formatDuration } : {})}
            height={200}
          />
        ))}
      </div>
      <SeriesTable figures={figures} rows={rows} />
    </OperatorFrame>
  );
}

/** Of a page that stays open, the time goes on; the former one is shown until the next one is there. */
function useAsked(span: Span) {
  const { from, step } = toSeriesQuery(span, useNow());
  const asked = useMemo(() => ({ from, step }), [from, step]);
  return useDeferredValue(asked, route.useLoaderDeps());
}

/** The last known value of each. */
function summarise(
  series: readonly Line[],
  figures: InstanceSeries,
  format: (value: number) => string,
): string {
  const words = series.map(({ id, label }) => {
    const points = figures.series.find(({ name }) => name === id)?.points ?? [];
    const last = points.map(([, value]) => value).findLast((value) => typeof value === "number");
    return `${label}: ${typeof last === "number" ? format(last) : "not known"}`;
  });
  return `last ${words.join(", ")}; all numbers are in the table below`;
}
