import { Title } from "@mantine/core";
import type { ReactNode } from "react";
import { useOrganisation } from "../../api/scope.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { AppLink } from "../../ui/link.tsx";
import { Time } from "../../ui/time.tsx";
import { formatDuration } from "../../util/times.ts";
import { formatBytes } from "../../util/units.ts";
import type { Execution } from "../advice.ts";
import { describeCaller, shortenId } from "../kinds.ts";
import { StateBadge } from "../state-badge.tsx";

interface Fact {
  readonly name: string;
  readonly of: (execution: Execution, org: string) => ReactNode;
}

const none = "-";
const bytes = (count: number | undefined) => (count === undefined ? none : formatBytes(count));

const FACTS: readonly Fact[] = [
  {
    name: "Execution",
    of: ({ id }, org) => (
      <AppLink to="/o/$org/executions/$id" params={{ org, id }} className="mono" title={id}>
        {shortenId(id)}
      </AppLink>
    ),
  },
  { name: "State", of: ({ status, code }) => <StateBadge status={status} code={code} /> },
  { name: "Version", of: ({ service, version }) => `${service.name} ${version}` },
  { name: "Started by", of: (one) => describeCaller(one) },
  { name: "Created", of: ({ createdAt }) => <Time at={createdAt} as="exact" /> },
  { name: "Waited", of: ({ waitedMs }) => formatDuration(waitedMs) },
  { name: "Ran", of: ({ ranMs }) => (ranMs === undefined ? none : formatDuration(ranMs)) },
  { name: "CPU time", of: ({ cpuMs }) => (cpuMs === undefined ? none : formatDuration(cpuMs)) },
  { name: "Peak memory", of: ({ peakMemoryBytes }) => bytes(peakMemoryBytes) },
  { name: "Size of the input", of: ({ inputBytes }) => bytes(inputBytes) },
  { name: "Size of the result", of: ({ resultBytes }) => bytes(resultBytes) },
];

/** The facts of two executions side by side. */
export function CompareFacts({ first, second }: { readonly first: Execution; readonly second: Execution }) {
  const { slug } = useOrganisation();
  const columns: readonly Column<Fact>[] = [
    { id: "name", label: "Fact", cell: ({ name }) => name },
    { id: "first", label: "First", cell: ({ of }) => of(first, slug) },
    { id: "second", label: "Second", cell: ({ of }) => of(second, slug) },
  ];
  return (
    <section aria-label="Facts">
      <Title order={2} fz="lg" mb="xs">
        Facts
      </Title>
      <DataTable
        label="Facts of both"
        columns={columns}
        rows={FACTS}
        rowKey={({ name }) => name}
        empty={null}
      />
    </section>
  );
}
