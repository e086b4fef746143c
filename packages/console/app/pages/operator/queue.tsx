import { Text, Title } from "@mantine/core";
import type { Instance } from "@platform/contract/platform-api/operator-instance";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { Time } from "../../ui/time.tsx";
import { formatCount } from "../../util/units.ts";

type Part = Instance["queue"][number];

/** What has not begun, by what it waits for; that which has waited longest first. */
export function Queue({ queue }: { readonly queue: readonly Part[] }) {
  return (
    <div>
      <Title order={2} fz="lg" mb="sm">
        Waiting executions
      </Title>
      <DataTable
        label="Waiting executions"
        columns={COLUMNS}
        rows={queue}
        rowKey={({ reason }) => reason}
        empty={<Text>No execution waits.</Text>}
      />
    </div>
  );
}

const COLUMNS: readonly Column<Part>[] = [
  { id: "meaning", label: "Waits because", cell: ({ meaning }) => meaning },
  {
    id: "reason",
    label: "Reason",
    cell: ({ reason }) => <span className="mono">{reason}</span>,
    priority: 3,
  },
  {
    id: "since",
    label: "Oldest",
    cell: ({ oldestSince }) => <Time at={oldestSince} />,
  },
  {
    id: "executions",
    label: "Executions",
    align: "end",
    cell: ({ executions }) => formatCount(executions),
  },
];
