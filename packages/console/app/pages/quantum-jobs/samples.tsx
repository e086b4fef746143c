import { Button, Stack, Text } from "@mantine/core";
import { useMemo } from "react";
import { describeSample } from "../../quantum/read-sample-set.ts";
import type { SampleSet } from "../../quantum/read-sample-set.ts";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { saveText } from "../../ui/save.ts";
import { toCsv } from "../../util/csv.ts";
import { formatCount } from "../../util/units.ts";

/** Rows of the table, and variables of a row. */
const MOST_ROWS = 100;
const MOST_VARIABLES = 40;
/** Values of a file: more are in the result as JSON. */
const MOST_VALUES = 1_000_000;

interface Row {
  readonly place: number;
  readonly energy: number;
  readonly occurrences: number;
  readonly sample: string;
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: "energy",
    label: "Energy",
    align: "end",
    cell: ({ energy }) => <span className="mono">{Number(energy.toPrecision(10))}</span>,
  },
  {
    id: "occurrences",
    label: "Occurrences",
    align: "end",
    cell: ({ occurrences }) => formatCount(occurrences),
  },
  { id: "sample", label: "Sample", cell: ({ sample }) => <span className="mono">{sample}</span> },
];

/** What an annealer has found, the least energy first. */
export function Samples({ of: set, id }: { readonly of: SampleSet; readonly id: string }) {
  const rows = useMemo(
    () =>
      set.rows.slice(0, MOST_ROWS).map((row, place): Row => {
        const { energy, occurrences } = row;
        return { place, energy, occurrences, sample: describeSample(set, row, MOST_VARIABLES) };
      }),
    [set],
  );
  const { length } = set.rows;
  const isSaved = length * set.variables.length <= MOST_VALUES;
  return (
    <Stack>
      <Text fw={600} fz="sm">
        {formatCount(length)} {length === 1 ? "sample" : "samples"} of {formatCount(set.variables.length)}{" "}
        {set.variables.length === 1 ? "variable" : "variables"}
        {length > MOST_ROWS && `, of which the ${MOST_ROWS} with the least energy are shown`}
      </Text>
      <DataTable
        label="Samples"
        columns={COLUMNS}
        rows={rows}
        rowKey={({ place }) => String(place)}
        empty={null}
      />
      {isSaved && (
        <Button
          variant="default"
          size="xs"
          style={{ alignSelf: "flex-start" }}
          onClick={() => saveText(`${id}-samples.csv`, toTable(set), "text/csv;charset=utf-8")}
        >
          Download the samples
        </Button>
      )}
    </Stack>
  );
}

function toTable({ variables, rows }: SampleSet): string {
  return toCsv(
    ["energy", "occurrences", ...variables],
    rows.map(({ energy, occurrences, valueAt }) => [
      energy,
      occurrences,
      ...variables.map((_, place) => valueAt(place)),
    ]),
  );
}
