import { Text } from "@mantine/core";
import type { Instance } from "@platform/contract/platform-api/operator-instance";
import { q, useLoaded } from "../../api/queries.ts";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { OperatorFrame } from "./operator-frame.tsx";

type Setting = Instance["settings"][number];

/** Settings of the process that answers; they are changed by a restart. */
export function SettingsPage() {
  const { settings } = useLoaded(q("getInstance", {}));
  return (
    <OperatorFrame
      title="Settings"
      description="Of the process that answers, and where each comes from. They are changed by a restart with another flag or variable."
      actions={<CopyAs op="getInstance" request={{}} command="platform operator instance --all" />}
    >
      <DataTable
        label="Settings"
        columns={COLUMNS}
        rows={settings}
        rowKey={({ name }) => name}
        empty={<p>This process has no settings.</p>}
      />
    </OperatorFrame>
  );
}

const COLUMNS: readonly Column<Setting>[] = [
  {
    id: "name",
    label: "Setting",
    cell: ({ name, variable }) => (
      <div>
        <div className="mono setting-name">--{name}</div>
        <div className="mono setting-name">{variable}</div>
      </div>
    ),
  },
  {
    id: "value",
    label: "Value",
    cell: ({ value, secret, source }) => {
      if (secret) return source === "default" ? "not set" : "set, and never shown";
      return value === null ? "not set" : <span className="mono">{value}</span>;
    },
  },
  { id: "source", label: "Source", cell: ({ source }) => source },
  {
    id: "help",
    label: "What it is",
    cell: ({ help }) => (
      <Text c="dimmed" fz="sm">
        {help}
      </Text>
    ),
    priority: 3,
  },
];
