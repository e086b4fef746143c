import { Button, Stack, Text, Title } from "@mantine/core";
import { useState } from "react";
import { withoutExactNumbers } from "@platform/contract/exact-number";
import { JsonView } from "../execution/json-view.tsx";
import { DataTable } from "../table/data-table.tsx";
import type { Column } from "../table/data-table.tsx";
import { formatCount } from "../util/units.ts";
import { formatError, formatHertz, formatSeconds, readCalibration } from "./read-calibration.ts";
import type { GateCalibration, QubitCalibration } from "./read-calibration.ts";

/** Rows of a table at first, and those that it can have. */
const FEW = 20;
const MOST = 500;

interface CalibrationTablesProps {
  /** As the backend describes it. */
  readonly of: Readonly<Record<string, unknown>>;
  /** Of the file, where it has another form than tables. */
  readonly fileName: string;
}

/** Errors, durations and coherence of qubits and gates. */
export function CalibrationTables({ of: described, fileName }: CalibrationTablesProps) {
  const calibration = readCalibration(withoutExactNumbers(described));
  if (calibration === null)
    return <JsonView text={JSON.stringify(described)} what="Calibration" fileName={fileName} />;
  return (
    <Stack gap="xl">
      <Part
        title="Qubits"
        rows={calibration.qubits}
        columns={listQubitColumns(calibration.qubits)}
        rowKey={(row) => row.id}
      />
      <Part
        title="Gates"
        rows={calibration.gates}
        columns={GATES}
        rowKey={(row) => `${row.name} ${row.qubits.join(" ")}`}
      />
    </Stack>
  );
}

interface PartProps<Row> {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
}

function Part<Row>({ title, rows, columns, rowKey }: PartProps<Row>) {
  const [most, setMost] = useState(FEW);
  if (rows.length === 0) return null;
  return (
    <section>
      <Title order={2} fz="md" mb="xs">
        {title}
      </Title>
      <DataTable label={title} columns={columns} rows={rows.slice(0, most)} rowKey={rowKey} empty={null} />
      {rows.length > most && most < MOST && (
        <Button mt="xs" size="xs" variant="default" onClick={() => setMost(MOST)}>
          Show {rows.length > MOST ? `the first ${formatCount(MOST)}` : `all ${formatCount(rows.length)}`}
        </Button>
      )}
      {rows.length > MOST && most === MOST && (
        <Text c="dimmed" fz="sm" mt="xs">
          The first {formatCount(MOST)} of {formatCount(rows.length)}; the API has all of them.
        </Text>
      )}
    </section>
  );
}

const QUBITS: readonly Column<QubitCalibration>[] = [
  { id: "id", label: "Qubit", cell: ({ id }) => <span className="mono">{id}</span> },
  { id: "t1", label: "T1", align: "end", cell: ({ t1 }) => formatSeconds(t1) },
  { id: "t2", label: "T2", align: "end", cell: ({ t2 }) => formatSeconds(t2) },
  { id: "frequency", label: "Frequency", align: "end", cell: ({ frequency }) => formatHertz(frequency) },
];

/** What no qubit says has no column. */
function listQubitColumns(qubits: readonly QubitCalibration[]): readonly Column<QubitCalibration>[] {
  const isSaid = qubits.some(({ frequency }) => frequency !== null);
  return isSaid ? QUBITS : QUBITS.filter(({ id }) => id !== "frequency");
}

const GATES: readonly Column<GateCalibration>[] = [
  { id: "name", label: "Gate", cell: ({ name }) => <span className="mono">{name}</span> },
  { id: "qubits", label: "Qubits", cell: ({ qubits }) => <span className="mono">{qubits.join(", ")}</span> },
  { id: "duration", label: "Duration", align: "end", cell: ({ duration }) => formatSeconds(duration) },
  { id: "error", label: "Error", align: "end", cell: ({ error }) => formatError(error) },
];
