import { Badge, Stack, Text } from "@mantine/core";
import type { ListedVersion } from "@platform/contract/platform-api/services";
import type { LoadedPages } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Time } from "../../ui/time.tsx";
import { formatDuration } from "../../util/times.ts";
import { createVersionColumn } from "./version-column.tsx";

interface VersionsProps {
  readonly serviceKey: string;
  readonly versions: LoadedPages<ListedVersion>;
}

/** What has been built, live and retired. */
export function Versions({ serviceKey, versions }: VersionsProps) {
  const { slug } = useOrganisation();
  return (
    <DataTable
      label="Versions"
      columns={createColumns(slug, serviceKey)}
      rows={versions}
      rowKey={({ version }) => version}
      empty={
        <EmptyState title="No versions yet" command="platform up">
          A version comes of each build that succeeds. Those that failed stand under Builds.
        </EmptyState>
      }
    />
  );
}

function createColumns(org: string, key: string): readonly Column<ListedVersion>[] {
  return [
    createVersionColumn(org, key),
    { id: "status", label: "State", cell: ({ status }) => (status === "LIVE" ? "Live" : "Retired") },
    { id: "callers", label: "Takes input of", cell: (row) => <Compatibility of={row} /> },
    {
      id: "resources",
      label: "Resources",
      cell: ({ resources: { cpu, memory } }) => `${cpu} vCPU, ${memory} GB`,
    },
    {
      id: "timeout",
      label: "Time limit",
      cell: ({ timeoutSeconds }) => formatDuration(timeoutSeconds * 1_000),
      priority: 3,
    },
    { id: "created", label: "Created", cell: ({ createdAt }) => <Time at={createdAt} />, priority: 3 },
  ];
}

/** Whether it takes what the version before it takes, as far as the schemas say. */
function Compatibility({ of: { formerVersion, breakingChange } }: { readonly of: ListedVersion }) {
  if (formerVersion === null) return "-";
  if (breakingChange === null) return formerVersion;
  return (
    <Stack gap={2} align="flex-start">
      <Badge color="yellow">Breaks {formerVersion}</Badge>
      <Text fz="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
        {breakingChange}
      </Text>
    </Stack>
  );
}
