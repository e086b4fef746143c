import { Title } from "@mantine/core";
import type { InstanceSeries, SeriesName } from "@platform/contract/platform-api/operator-figures";
import type { ChartRow } from "../../charts/plot.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { formatDuration } from "../../util/times.ts";

const WORDS: Readonly<Record<SeriesName, string>> = {
  pending: "Waiting",
  running: "Running",
  started: "Started",
  finished: "Finished",
  waitP50: "Wait, half",
  waitP95: "Wait, 95 %",
  ranP95: "Run time, 95 %",
};

interface SeriesTableProps {
  readonly figures: InstanceSeries;
  readonly rows: readonly ChartRow[];
}

/** The numbers of the charts, the newest first; without steps of which nothing is known. */
export function SeriesTable({ figures, rows }: SeriesTableProps) {
  const columns: readonly Column<ChartRow>[] = [
    { id: "at", label: "From", cell: ({ label }) => label },
    ...figures.series.map(({ name, unit }): Column<ChartRow> => ({
      id: name,
      label: WORDS[name],
      align: "end",
      cell: ({ values }) => formatValue(values[name] ?? null, unit),
    })),
  ];
  return (
    <section aria-labelledby="numbers">
      <Title order={2} fz="lg" mb="sm" id="numbers">
        As a table
      </Title>
      <DataTable
        label="Activity"
        columns={columns}
        rows={rows.filter(({ values }) => Object.values(values).some((value) => value !== null)).toReversed()}
        rowKey={({ key }) => key}
        empty={
          <p>Nothing was written in this time: figures appear a minute after the platform was started.</p>
        }
      />
    </section>
  );
}

function formatValue(value: number | null, unit: string): string {
  if (value === null) return "-";
  return unit === "milliseconds"
    ? formatDuration(value)
    : new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 }).format(value);
}
