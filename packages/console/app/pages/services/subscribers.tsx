import { Badge, Button, Text } from "@mantine/core";
import { useState } from "react";
import type { Subscriber } from "@platform/contract/platform-api/subscriptions";
import { pages, REFRESH_MS, useLoadedPages } from "../../api/queries.ts";
import { EndSubscriptionForm } from "../../forms/end-subscription.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { Can, useRefusal } from "../../ui/can.tsx";
import { Dialog } from "../../ui/dialog.tsx";
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
      columns={createColumns(serviceKey)}
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

const createColumns = (serviceKey: string): readonly Column<Subscriber>[] => [
  { id: "organisation", label: "Organisation", cell: ({ organizationName }) => organizationName },
  { id: "application", label: "Application", cell: ({ applicationName }) => applicationName },
  { id: "plan", label: "Plan", cell: describePlan },
  { id: "version", label: "Version", cell: ({ version }) => version ?? "the latest" },
  { id: "state", label: "State", cell: (one) => <State of={one} /> },
  {
    id: "executions",
    label: "Executions in 30 days",
    align: "end",
    cell: ({ executions30d }) => formatCount(executions30d),
  },
  { id: "since", label: "Since", cell: ({ createdAt }) => <Time at={createdAt} />, priority: 3 },
  {
    id: "actions",
    label: "",
    align: "end",
    cell: (one) => (one.status === "ENDED" ? null : <EndButton serviceKey={serviceKey} of={one} />),
  },
];

const STATES: Readonly<Record<Subscriber["status"], string>> = {
  ACTIVE: "Active",
  PAUSED: "Paused",
  ENDED: "Ended",
};

function State({ of: { status, endReason } }: { readonly of: Subscriber }) {
  return (
    <>
      <Badge>{STATES[status]}</Badge>
      {endReason !== null && (
        <Text fz="xs" c="dimmed" maw={260} style={{ overflowWrap: "anywhere" }}>
          {endReason}
        </Text>
      )}
    </>
  );
}

interface EndButtonProps {
  readonly serviceKey: string;
  readonly of: Subscriber;
}

function EndButton({ serviceKey, of: one }: EndButtonProps) {
  const [isOpen, setIsOpen] = useState(false);
  const close = () => setIsOpen(false);
  return (
    <>
      <Can op="endSubscription">
        <Button
          size="compact-sm"
          variant="default"
          aria-haspopup="dialog"
          aria-label={`End the subscription of ${one.organizationName}`}
          onClick={() => setIsOpen(true)}
        >
          End
        </Button>
      </Can>
      <Dialog title={`End the subscription of ${one.organizationName}?`} isOpen={isOpen} onClose={close}>
        {isOpen && <EndSubscriptionForm serviceKey={serviceKey} subscriber={one} close={close} />}
      </Dialog>
    </>
  );
}

function describePlan({ planId, planRevision }: Subscriber): string {
  return planId === null ? "none" : `${planId}, revision ${planRevision ?? 1}`;
}
