import { useId } from "react";
import {
  Bar,
  BarChart,
  CartesianGrid,
  Line,
  LineChart,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from "recharts";
import { Pattern, toFill } from "./marks.tsx";
import type { ChartSeries } from "./marks.tsx";

/** A place on the axis of what is shown: a day, a service, ... */
export interface ChartRow {
  /** Unique. */
  readonly key: string;
  /** The same for people. */
  readonly label: string;
  /** By the ids of series; null: not known. */
  readonly values: Readonly<Record<string, number | null>>;
}

/** What is drawn. */
export interface PlotProps {
  /** `columns`: bars that stand, one beside the other. `rows`: bars that lie, for names. `lines`: over time. */
  readonly kind: "columns" | "rows" | "lines";
  readonly rows: readonly ChartRow[];
  readonly series: readonly ChartSeries[];
  /** A value in words. */
  readonly format: (value: number) => string;
  /** A value on the axis, shorter. */
  readonly formatTick?: (value: number) => string;
  /** Pixels. */
  readonly height: number;
}

const TICK = { fill: "var(--mantine-color-dimmed)", fontSize: 12 } as const;
const AXIS = { tick: TICK, tickLine: false, axisLine: false } as const;
const GRID = { stroke: "var(--mantine-color-default-border)", strokeDasharray: "3 4" } as const;
const MARGIN = { top: 8, right: 8, bottom: 0, left: 0 } as const;
/** Names of rows are cut to so many characters; the tooltip has them as a whole. */
const NAME_CHARACTERS = 18;
const NAME_PIXELS = 128;
/** With more points than that, marks would hide the line. */
const MOST_DOTS = 200;

/** Draws a chart by Recharts: a module of its own, loaded with the first chart. It is a picture; its numbers are read from a table. */
export function Plot({ height, ...drawn }: PlotProps) {
  return (
    <ResponsiveContainer width="100%" height={height}>
      {drawn.kind === "lines" ? <Lines {...drawn} /> : <Bars {...drawn} />}
    </ResponsiveContainer>
  );
}

type Drawn = Omit<PlotProps, "height">;

function Bars({ kind, rows, series, format, formatTick }: Drawn) {
  const id = useId();
  const isLying = kind === "rows";
  const names = { ...AXIS, type: "category", dataKey: "key", tickFormatter: nameRows(rows) } as const;
  const values = {
    ...AXIS,
    type: "number",
    tickFormatter: formatTick ?? compact,
    // There is no half of an execution.
    allowDecimals: !areWhole(rows, series),
  } as const;
  return (
    <BarChart
      data={[...rows]}
      layout={isLying ? "vertical" : "horizontal"}
      margin={MARGIN}
      accessibilityLayer={false}
      barCategoryGap="18%"
    >
      <defs>
        {series.map((one) => (
          <Pattern key={one.id} of={one} id={`${id}-${one.id}`} />
        ))}
      </defs>
      <CartesianGrid vertical={isLying} horizontal={!isLying} {...GRID} />
      <XAxis {...(isLying ? values : { ...names, minTickGap: 20 })} />
      <YAxis {...(isLying ? { ...names, width: NAME_PIXELS, interval: 0 } : { ...values, width: 52 })} />
      <Tooltip
        content={({ active, label }) => (
          <Note
            row={active ? rows.find(({ key }) => key === label) : undefined}
            series={series}
            format={format}
          />
        )}
        cursor={{ fill: "var(--mantine-color-dimmed)", fillOpacity: 0.12 }}
        isAnimationActive={false}
      />
      {series.map((one) => (
        <Bar
          key={one.id}
          dataKey={(row: ChartRow) => row.values[one.id] ?? 0}
          fill={toFill(one, `${id}-${one.id}`)}
          stackId="all"
          maxBarSize={46}
          isAnimationActive={false}
        />
      ))}
    </BarChart>
  );
}

function areWhole(rows: readonly ChartRow[], series: readonly ChartSeries[]): boolean {
  return rows.every(({ values }) => series.every(({ id }) => Number.isInteger(values[id] ?? 0)));
}

function Lines({ rows, series, format, formatTick }: Drawn) {
  return (
    <LineChart data={[...rows]} margin={MARGIN} accessibilityLayer={false}>
      <CartesianGrid vertical={false} {...GRID} />
      <XAxis {...AXIS} dataKey="key" tickFormatter={nameRows(rows)} minTickGap={28} />
      <YAxis
        {...AXIS}
        tickFormatter={formatTick ?? compact}
        width={60}
        allowDecimals={!areWhole(rows, series)}
      />
      <Tooltip
        content={({ active, label }) => (
          <Note
            row={active ? rows.find(({ key }) => key === label) : undefined}
            series={series}
            format={format}
          />
        )}
        isAnimationActive={false}
      />
      {series.map(({ id, color, dash }) => (
        <Line
          key={id}
          dataKey={(row: ChartRow) => row.values[id] ?? null}
          stroke={color}
          strokeWidth={2}
          {...(dash === undefined ? {} : { strokeDasharray: dash })}
          // A step with none beside it has no line: a dot shows it.
          dot={rows.length <= MOST_DOTS ? { r: 1.5, fill: color, strokeDasharray: "none" } : false}
          isAnimationActive={false}
        />
      ))}
    </LineChart>
  );
}

interface NoteProps {
  readonly row: ChartRow | undefined;
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
}

/** What stands beside the pointer. */
function Note({ row, series, format }: NoteProps) {
  if (row === undefined) return null;
  return (
    <div className="chart-note">
      <strong>{row.label}</strong>
      {series.map(({ id, label }) => {
        const value = row.values[id];
        return (
          <span key={id}>
            {label}: {typeof value === "number" ? format(value) : "not known"}
          </span>
        );
      })}
    </div>
  );
}

function nameRows(rows: readonly ChartRow[]): (key: string) => string {
  const names = new Map(rows.map(({ key, label }) => [key, label]));
  return (key) => shorten(names.get(key) ?? key);
}

function shorten(label: string): string {
  return label.length > NAME_CHARACTERS ? `${label.slice(0, NAME_CHARACTERS - 1)}…` : label;
}

function compact(value: number): string {
  return new Intl.NumberFormat(undefined, { notation: "compact", maximumSignificantDigits: 3 }).format(value);
}
