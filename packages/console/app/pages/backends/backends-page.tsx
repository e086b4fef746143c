import { Text } from "@mantine/core";
import type { Backend } from "@platform/contract/quantum-api/backends";
import { q, REFRESH_MS, useLoaded } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { BackendStateBadge } from "../../quantum/states.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { AppLink } from "../../ui/link.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { formatCount } from "../../util/units.ts";
import { describeSize, describeTechnology, TYPE_WORDS } from "../../quantum/words.ts";

/** What runs quantum jobs. */
export function BackendsPage() {
  const { slug } = useOrganisation();
  const backends = useLoaded(q("listBackends", {}), { refresh: REFRESH_MS.list });
  return (
    <>
      <PageHeader
        title="Backends"
        description="A backend runs quantum jobs: a simulator, an annealer, or hardware behind an adapter."
        actions={<CopyAs op="listBackends" request={{}} command="platform backends ls" />}
      />
      <DataTable
        label="Backends"
        columns={createColumns(slug)}
        rows={backends}
        rowKey={({ id }) => id}
        empty={
          <EmptyState title="No backends yet" command="platform backends install statevector">
            A backend is a service whose project says that it is one. The command adds an exact simulator of
            circuits that ships with the command line tool; &quot;noisy&quot; and &quot;annealing&quot; are
            others. A project of your own becomes a backend by &quot;backend&quot; in its platform.json.
          </EmptyState>
        }
      />
    </>
  );
}

function createColumns(org: string): readonly Column<Backend>[] {
  return [
    {
      id: "id",
      label: "Backend",
      cell: ({ id, display_name: name }) => (
        <>
          <AppLink to="/o/$org/backends/$id" params={{ org, id }} className="mono">
            {id}
          </AppLink>
          {name !== id && (
            <Text c="dimmed" fz="sm" style={{ overflowWrap: "anywhere" }}>
              {/* An alias says its id again: "azure.ionq.simulator, simulated by sim.statevector". */}
              {name.startsWith(`${id}, `) ? name.slice(id.length + 2) : name}
            </Text>
          )}
        </>
      ),
    },
    { id: "state", label: "State", cell: ({ status }) => <BackendStateBadge status={status} /> },
    { id: "type", label: "Type", cell: ({ type }) => TYPE_WORDS[type] },
    { id: "technology", label: "Technology", cell: describeTechnology, priority: 3 },
    { id: "size", label: "Size", cell: describeSize },
    {
      id: "queue",
      label: "Waiting",
      align: "end",
      cell: ({ queue_size: waiting }) => formatCount(waiting),
    },
    {
      id: "version",
      label: "Version",
      cell: ({ backend_version: version }) => version,
      priority: 3,
    },
    { id: "provider", label: "Provider", cell: ({ provider }) => provider, priority: 3 },
  ];
}
