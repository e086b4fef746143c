import { Skeleton, Text } from "@mantine/core";
import { lazy, Suspense, useId } from "react";
import type { ReactNode } from "react";
import { Pattern, toFill } from "./marks.tsx";
import type { ChartSeries } from "./marks.tsx";
import type { PlotProps } from "./plot.tsx";
import "./chart.css";

const Plot = lazy(async () => ({ default: (await import("./plot.tsx")).Plot }));

interface ChartProps extends PlotProps {
  readonly title: string;
  /** What it says in one sentence, for those who do not see it. */
  readonly summary: string;
  /** Its numbers as a table, where the page does not have them elsewhere. */
  readonly children?: ReactNode;
}

/** A chart with its legend. The library that draws is loaded behind the page; the place is kept, so that nothing moves. */
export function Chart({ title, summary, children, ...plot }: ChartProps) {
  return (
    <figure className="chart">
      <figcaption>
        <Text span inherit fw={600}>
          {title}
        </Text>
        {plot.series.length > 1 && (
          <span className="chart-legend">
            {plot.series.map((series) => (
              <span key={series.id} className="state">
                <Swatch of={series} kind={plot.kind} />
                {series.label}
              </span>
            ))}
          </span>
        )}
      </figcaption>
      <div
        className="chart-plot"
        role="img"
        aria-label={`${title}: ${summary}`}
        style={{ height: plot.height }}
      >
        <Suspense fallback={<Skeleton h={plot.height} />}>
          <Plot {...plot} />
        </Suspense>
      </div>
      {children}
    </figure>
  );
}

function Swatch({ of: series, kind }: { readonly of: ChartSeries; readonly kind: PlotProps["kind"] }) {
  const id = useId();
  return (
    <svg className="chart-swatch" viewBox="0 0 18 12" width={18} height={12} aria-hidden>
      {kind === "lines" ? (
        <line
          x1={0}
          x2={18}
          y1={6}
          y2={6}
          stroke={series.color}
          strokeWidth={2.5}
          strokeDasharray={series.dash}
        />
      ) : (
        <>
          <defs>
            <Pattern of={series} id={id} />
          </defs>
          <rect width={18} height={12} rx={2} fill={toFill(series, id)} />
        </>
      )}
    </svg>
  );
}
