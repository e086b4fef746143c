import { Text, Title } from "@mantine/core";
import type { ExecutionSummary } from "@platform/contract/platform-api/executions";
import { q, REFRESH_MS, useFetched } from "../../api/queries.ts";
import { StateBadge } from "../../execution/state-badge.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Time } from "../../ui/time.tsx";
import { formatDuration } from "../../util/times.ts";

const LATEST = q("listExecutions", { query: { limit: 5 } });

/** The last five, whoever has started them. */
export function LatestExecutions() {
  const { data, error, retry } = useFetched(LATEST, {
    refresh: ({ items }) =>
      items.some(({ terminal }) => !terminal) ? REFRESH_MS.unfinished : REFRESH_MS.list,
  });
  if (error !== null && data === undefined) return <Failure error={error} retry={retry} />;
  if (data === undefined || data.items.length === 0) return null;
  return (
    <section aria-labelledby="latest">
      <Title order={2} fz="lg" mb="sm" id="latest">
        Latest executions
      </Title>
      <DataTable
        label="Latest executions"
        columns={COLUMNS}
        rows={data.items}
        rowKey={({ id }) => id}
        empty={null}
      />
    </section>
  );
}

const COLUMNS: readonly Column<ExecutionSummary>[] = [
  { id: "state", label: "State", cell: ({ status, code }) => <StateBadge status={status} code={code} /> },
  {
    id: "service",
    label: "Service",
    cell: ({ service, version }) => (
      <>
        {service.name}{" "}
        <Text span inherit c="dimmed">
          {version}
        </Text>
      </>
    ),
  },
  {
    id: "who",
    label: "Started by",
    cell: ({ kind, application }) => (kind === "job" ? "a member" : (application?.name ?? "an application")),
    priority: 3,
  },
  { id: "created", label: "Created", cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    id: "ran",
    label: "Ran",
    align: "end",
    cell: ({ ranMs }) => (ranMs === undefined ? "-" : formatDuration(ranMs)),
  },
];
