import { Text } from "@mantine/core";
import { StateBadge } from "./state-badge.tsx";
import { describeCaller, KINDS, shortenId } from "./kinds.ts";
import type { ExecutionSummary } from "./kinds.ts";
import type { Column } from "../table/data-table.tsx";
import { AppLink } from "../ui/link.tsx";
import { Time } from "../ui/time.tsx";
import { formatDuration } from "../util/times.ts";

/** Columns of lists of executions. */
export function createColumns(org: string): readonly Column<ExecutionSummary>[] {
  return [
    {
      id: "state",
      label: "State",
      cell: ({ status, code }) => <StateBadge status={status} code={code} />,
    },
    {
      id: "id",
      label: "Execution",
      cell: ({ id }) => (
        <AppLink to="/o/$org/executions/$id" params={{ org, id }} className="mono" title={id}>
          {shortenId(id)}
        </AppLink>
      ),
    },
    {
      id: "service",
      label: "Service",
      cell: ({ service, version }) => (
        <span className="data-line">
          {service.name}{" "}
          <Text span inherit c="dimmed">
            {version}
          </Text>
        </span>
      ),
    },
    {
      id: "who",
      label: "Started by",
      cell: (one) => (
        <>
          {describeCaller(one)}{" "}
          <Text span inherit c="dimmed" fz="sm">
            · {KINDS[one.kind].word.toLowerCase()}
          </Text>
        </>
      ),
      priority: 3,
    },
    { id: "created", label: "Created", cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      id: "waited",
      label: "Waited",
      align: "end",
      cell: ({ waitedMs }) => formatDuration(waitedMs),
      priority: 3,
    },
    {
      id: "ran",
      label: "Ran",
      align: "end",
      cell: ({ ranMs }) => (ranMs === undefined ? "-" : formatDuration(ranMs)),
    },
  ];
}
