import { Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { EstimatedCircuit } from "../../quantum/read-result.ts";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { formatCount } from "../../util/units.ts";
import { ChooseCircuit } from "./circuit-tab.tsx";

/** Rows of the table. */
const MOST = 500;

interface Row {
  readonly place: number;
  readonly value: number;
  readonly error: number | null;
}

const COLUMNS: readonly Column<Row>[] = [
  { id: "place", label: "Value", cell: ({ place }) => formatCount(place) },
  { id: "value", label: "Expectation", align: "end", cell: ({ value }) => <Digits of={value} /> },
  { id: "error", label: "Standard error", align: "end", cell: ({ error }) => <Digits of={error} /> },
];

/** Expectation values of observables. */
export function Estimates({ circuits }: { readonly circuits: readonly EstimatedCircuit[] }) {
  const [chosen, setChosen] = useState(0);
  const values = circuits[chosen]?.values ?? [];
  return (
    <Stack>
      {circuits.length > 1 && (
        <ChooseCircuit names={circuits.map(({ name }) => name)} chosen={chosen} choose={setChosen} />
      )}
      <DataTable
        label="Expectation values"
        columns={COLUMNS}
        rows={values.slice(0, MOST).map((row, index) => ({ ...row, place: index + 1 }))}
        rowKey={({ place }) => String(place)}
        empty={null}
      />
      {values.length > MOST && (
        <Text c="dimmed" fz="sm">
          The first {formatCount(MOST)} values; the result as JSON has all of them.
        </Text>
      )}
    </Stack>
  );
}

function Digits({ of: value }: { readonly of: number | null }) {
  return <span className="mono">{value === null ? "-" : Number(value.toPrecision(8))}</span>;
}
