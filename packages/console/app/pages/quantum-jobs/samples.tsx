import { Button, Stack, Text } from "@mantine/core";
import { useMemo, useState } from "react";
import { groupSamples } from "../../quantum/read-sample-set.ts";
import type { GroupedSample, SampleSet } from "../../quantum/read-sample-set.ts";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { saveText } from "../../ui/save.ts";
import { toCsv } from "../../util/csv.ts";
import { formatCount } from "../../util/units.ts";

/** Rows of the table at first, those that it can have, and variables of a row. */
const FEW_ROWS = 16;
const MOST_ROWS = 100;
const MOST_VARIABLES = 40;
/** Values of a file: more are in the result as JSON. */
const MOST_VALUES = 1_000_000;

interface Row extends GroupedSample {
  readonly place: number;
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
  const [most, setMost] = useState(FEW_ROWS);
  // A set that is very large is not grouped: that would hold the page.
  const isSmall = set.rows.length * set.variables.length <= MOST_VALUES;
  const samples = useMemo(() => groupSamples(isSmall ? set : firstOf(set), MOST_VARIABLES), [set, isSmall]);
  const { length } = set.rows;
  return (
    <Stack>
      <Text fw={600} fz="sm">
        {formatCount(length)} {length === 1 ? "sample" : "samples"} of {formatCount(set.variables.length)}{" "}
        {set.variables.length === 1 ? "variable" : "variables"}
        {isSmall
          ? samples.length < length && `, ${formatCount(samples.length)} distinct`
          : `, of which those with the least energy are shown`}
      </Text>
      <DataTable
        label="Samples"
        columns={COLUMNS}
        rows={samples.slice(0, most).map((row, place) => ({ ...row, place }))}
        rowKey={({ place }) => String(place)}
        empty={null}
      />
      {samples.length > most && most < MOST_ROWS && (
        <Button
          variant="default"
          size="xs"
          style={{ alignSelf: "flex-start" }}
          onClick={() => setMost(MOST_ROWS)}
        >
          Show {samples.length > MOST_ROWS ? `the first ${MOST_ROWS}` : "all"}
        </Button>
      )}
      {isSmall && (
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

function firstOf(set: SampleSet): SampleSet {
  return { ...set, rows: set.rows.slice(0, MOST_ROWS) };
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
