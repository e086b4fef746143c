import { Title } from "@mantine/core";
import type { Instance } from "@platform/contract/platform-api/operator-instance";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { Time } from "../../ui/time.tsx";
import { formatBytes } from "../../util/units.ts";

type Process = Instance["processes"][number];

/** Every process, also one that was lost within the last day. */
export function Processes({ processes }: { readonly processes: readonly Process[] }) {
  return (
    <div>
      <Title order={2} fz="lg" mb="sm">
        Processes
      </Title>
      <DataTable
        label="Processes"
        columns={COLUMNS}
        rows={processes}
        rowKey={({ id }) => id}
        empty={<p>No process has reported yet: each does so every few seconds.</p>}
      />
    </div>
  );
}

const COLUMNS: readonly Column<Process>[] = [
  {
    id: "host",
    label: "Host",
    cell: ({ host, pid }) => `${host}, process ${pid}`,
  },
  {
    id: "state",
    label: "State",
    cell: ({ live, faults, lastSeenAt }) =>
      live ? (
        <span className="state">
          <span className="state-dot" data-state={faults.length === 0 ? "SUCCEEDED" : "FAILED"} aria-hidden />
          {faults.length === 0 ? "Works" : "Has faults"}
        </span>
      ) : (
        <div>
          <span className="state">
            <span className="state-dot" data-state="UNKNOWN" aria-hidden />
            Silent
          </span>
          <div>
            Last seen <Time at={lastSeenAt} />
          </div>
        </div>
      ),
  },
  { id: "roles", label: "Roles", cell: ({ roles }) => roles.join(", ") },
  { id: "version", label: "Release", cell: ({ version }) => version, priority: 3 },
  { id: "started", label: "Started", cell: ({ startedAt }) => <Time at={startedAt} /> },
  {
    id: "disk",
    label: "Free disk",
    align: "end",
    cell: ({ disk }) => formatBytes(disk.freeBytes),
    priority: 3,
  },
];
