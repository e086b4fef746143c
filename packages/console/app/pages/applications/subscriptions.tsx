import { Badge, Group, Text } from "@mantine/core";
import type { Subscription } from "@platform/contract/platform-api/subscriptions";
import { pages, useLoadedPages } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { SubscribeApplication } from "../../forms/subscribe-application.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { CopyLine } from "../../ui/copy-button.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { AppLink } from "../../ui/link.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { RemoveSubscription } from "./remove-subscription.tsx";
import { QuotaUse } from "./plan-use.tsx";

const SubscribeButton = () => (
  <OpenButton op="createSubscription" set={{ new: "subscription" }} size="xs">
    Subscribe to a service
  </OpenButton>
);

/** What an application may call, and where. */
export function Subscriptions({ applicationId }: { readonly applicationId: string }) {
  const subscriptions = useLoadedPages(pages("listSubscriptions", { query: { applicationId } }));
  return (
    <>
      {subscriptions.items.length > 0 && (
        <Group justify="flex-end" mb="sm">
          <SubscribeButton />
        </Group>
      )}
      <DataTable
        label="Subscriptions"
        columns={COLUMNS}
        rows={subscriptions}
        rowKey={({ id }) => id}
        empty={
          <EmptyState
            title="No subscriptions"
            action={<SubscribeButton />}
            command={`platform subscribe SERVICE ${applicationId}`}
          >
            A subscription lets this application call a service, and has the URL to call.
          </EmptyState>
        }
      />
      <RoutedDialog title="Subscribe to a service" when={["new", "subscription"]}>
        {(close) => <SubscribeApplication applicationId={applicationId} close={close} />}
      </RoutedDialog>
    </>
  );
}

const COLUMNS: readonly Column<Subscription>[] = [
  { id: "service", label: "Service", cell: (one) => <Service of={one} /> },
  {
    id: "url",
    label: "Endpoint URL",
    cell: ({ endpointUrl }) =>
      endpointUrl === null ? (
        <Text span inherit c="dimmed">
          none: no version that it names is live
        </Text>
      ) : (
        <CopyLine text={endpointUrl} what="endpoint URL" />
      ),
  },
  { id: "plan", label: "Plan", cell: (one) => <PlanUse of={one} />, priority: 3 },
  {
    id: "actions",
    label: "",
    align: "end",
    cell: (one) => <RemoveSubscription of={one} button={{ size: "compact-sm" }} />,
  },
];

function Service({ of: one }: { readonly of: Subscription }) {
  const { id: sid, applicationId, serviceName, version, versionStatus, status, isOffered } = one;
  const { slug: org } = useOrganisation();
  return (
    <Group gap={6}>
      <AppLink
        to="/o/$org/applications/$id/subscriptions/$sid"
        params={{ org, id: applicationId, sid }}
        fw={600}
      >
        {serviceName}
      </AppLink>
      <Text span inherit c="dimmed">
        {version === null ? "newest version" : version}
      </Text>
      {status === "PAUSED" && <Badge>Paused</Badge>}
      {status === "ENDED" && (
        <Badge title="It starts nothing any more; its page says why.">Ended by the provider</Badge>
      )}
      {versionStatus === "RETIRED" && (
        <Badge title="Starts of the version that it names are refused; its page says more.">
          Version retired
        </Badge>
      )}
      {!isOffered && (
        <Badge title="It takes no new subscriptions; this one works until it is removed, or ended by the provider.">
          Withdrawn
        </Badge>
      )}
    </Group>
  );
}

function PlanUse({ of: { plan, quota } }: { readonly of: Subscription }) {
  if (plan === null)
    return (
      <Text span inherit c="dimmed">
        none needed
      </Text>
    );
  return (
    <div style={{ minWidth: 120 }}>
      <div>{plan.name}</div>
      <QuotaUse of={{ plan, quota }} />
    </div>
  );
}
