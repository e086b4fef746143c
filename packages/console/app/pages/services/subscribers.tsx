import { Badge } from "@mantine/core";
import type { Subscriber } from "@platform/contract/platform-api/subscriptions";
import { pages, REFRESH_MS, useLoadedPages } from "../../api/queries.ts";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { useRefusal } from "../../ui/can.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Time } from "../../ui/time.tsx";
import { formatCount } from "../../util/units.ts";

/** Who has subscribed to a service. */
export function Subscribers({ serviceKey }: { readonly serviceKey: string }) {
  const refusal = useRefusal("listServiceSubscriptions");
  if (refusal !== null) return <EmptyState title="Who has subscribed is not shown">{refusal}</EmptyState>;
  return <SubscriberList serviceKey={serviceKey} />;
}

function SubscriberList({ serviceKey }: { readonly serviceKey: string }) {
  const subscribers = useLoadedPages(pages("listServiceSubscriptions", { params: { key: serviceKey } }), {
    refresh: REFRESH_MS.list,
  });
  return (
    <DataTable
      label="Subscribers"
      columns={COLUMNS}
      rows={subscribers}
      rowKey={({ id }) => id}
      empty={
        <EmptyState title="Nobody has subscribed">
          Applications of this organisation can subscribe once it is published for it, those of others once it
          is in the marketplace.
        </EmptyState>
      }
    />
  );
}

const COLUMNS: readonly Column<Subscriber>[] = [
  { id: "organisation", label: "Organisation", cell: ({ organizationName }) => organizationName },
  { id: "application", label: "Application", cell: ({ applicationName }) => applicationName },
  { id: "plan", label: "Plan", cell: describePlan },
  { id: "version", label: "Version", cell: ({ version }) => version ?? "the latest" },
  { id: "state", label: "State", cell: ({ status }) => <Badge>{STATES[status]}</Badge> },
  {
    id: "executions",
    label: "Executions in 30 days",
    align: "end",
    cell: ({ executions30d }) => formatCount(executions30d),
  },
  { id: "since", label: "Since", cell: ({ createdAt }) => <Time at={createdAt} />, priority: 3 },
];

const STATES: Readonly<Record<Subscriber["status"], string>> = { ACTIVE: "Active", PAUSED: "Paused" };

function describePlan({ planId, planRevision }: Subscriber): string {
  return planId === null ? "none" : `${planId}, revision ${planRevision ?? 1}`;
}
