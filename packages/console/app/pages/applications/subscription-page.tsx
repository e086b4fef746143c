import { Group, Stack, Text, Title } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import type { MarketplaceEntry } from "@platform/contract/platform-api/marketplace";
import type { Subscription } from "@platform/contract/platform-api/subscriptions";
import { q, REFRESH_MS, useFetched, useLoaded } from "../../api/queries.ts";
import { ChangeSubscription } from "../../forms/change-subscription.tsx";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { CopyLine } from "../../ui/copy-button.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Facts } from "../../ui/facts.tsx";
import { AppLink } from "../../ui/link.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { Time } from "../../ui/time.tsx";
import { describePrice, listLimits } from "../../util/plan-words.ts";
import { isShownInMarketplace } from "../../util/subscriptions.ts";
import { describeUse } from "./plan-use.tsx";
import { Programs } from "./programs.tsx";
import { Ended, Retired, Standing } from "./standing.tsx";
import { SubscriptionActions } from "./subscription-actions.tsx";

const route = getRouteApi("/in/o/$org/applications/$id/subscriptions/$sid");

/** One subscription: where to call and how, on which terms, and how much of them is used. */
export function SubscriptionPage() {
  const { org, id, sid } = route.useParams();
  const application = useLoaded(q("getApplication", { params: { id } }));
  const subscription = useLoaded(q("getSubscription", { params: { id: sid } }), { refresh: REFRESH_MS.list });
  const { serviceKey: key, serviceName } = subscription;
  const { data: entry } = useFetched(q("getMarketplaceEntry", { params: { key } }), {
    isActive: isShownInMarketplace(subscription),
  });
  return (
    <>
      <PageHeader
        title={`${serviceName} for ${application.name}`}
        above={[
          <AppLink key="all" to="/o/$org/applications" params={{ org }}>
            Applications
          </AppLink>,
          <AppLink key="application" to="/o/$org/applications/$id" params={{ org, id }}>
            {application.name}
          </AppLink>,
        ]}
        badge={<Standing of={subscription} />}
        actions={<SubscriptionActions of={subscription} />}
      />
      <Stack gap="xl">
        <Ended of={subscription} />
        <Retired of={subscription} />
        <SubscriptionFacts of={subscription} />
        <Endpoints of={subscription} entry={entry} />
        <Programs of={subscription} applicationName={application.name} />
      </Stack>
      <RoutedDialog title={`Change the subscription to ${serviceName}`} when={["edit", "terms"]}>
        {(close) => <ChangeSubscription subscription={subscription} entry={entry} close={close} />}
      </RoutedDialog>
    </>
  );
}

function SubscriptionFacts({ of: one }: { readonly of: Subscription }) {
  const { org, id } = route.useParams();
  const { serviceKey: key, plan } = one;
  return (
    <Facts
      of={{
        Service: <Service of={one} />,
        Version: one.version ?? "the highest live one",
        Plan: plan === null ? "none is needed within the organisation" : <Terms of={plan} />,
        ...describeUse(one),
        Logs: one.sharesLogs ? "the provider may read them" : "are not shown to the provider",
        Since: <Time at={one.createdAt} />,
        Executions: (
          <AppLink
            to="/o/$org/executions"
            params={{ org }}
            search={{ kind: "outgoing", application: id, service: key }}
          >
            What it has started
          </AppLink>
        ),
      }}
    />
  );
}

function Service({ of: one }: { readonly of: Subscription }) {
  const { org } = route.useParams();
  const { serviceKey: key, serviceName, isOffered } = one;
  if (!isOffered)
    return `${serviceName}: it was withdrawn, and works here until the subscription is removed or ended by the provider`;
  if (!isShownInMarketplace(one)) return `${serviceName}: no version of it is live`;
  return (
    <AppLink to="/o/$org/marketplace/$key" params={{ org, key }}>
      {serviceName}
    </AppLink>
  );
}

function Terms({ of: plan }: { readonly of: NonNullable<Subscription["plan"]> }) {
  const lines = [describePrice(plan), ...listLimits(plan)];
  return (
    <Stack gap={0}>
      <Group gap={6}>
        {plan.name}
        <Text span fz="sm" c="dimmed">
          revision {plan.revision}
        </Text>
      </Group>
      {lines.map((line) => (
        <Text key={line} fz="sm">
          {line}
        </Text>
      ))}
    </Stack>
  );
}

interface EndpointsProps {
  readonly of: Subscription;
  readonly entry: MarketplaceEntry | undefined;
}

/** The version is the last part of an endpoint URL; all that are live may be called. */
function Endpoints({ of: { endpointUrl, versionStatus }, entry }: EndpointsProps) {
  const others = (entry?.versions ?? []).map(({ version }) => ({
    version,
    url: endpointUrl?.replace(/[^/]+\/$/u, `${version}/`) ?? "",
  }));
  const own = versionStatus === "RETIRED" ? "of the subscription: retired" : "of the subscription";
  const rows = endpointUrl === null ? [] : [{ version: own, url: endpointUrl }, ...others];
  return (
    <section>
      <Title order={2} fz="lg" mb="sm">
        Endpoint URLs
      </Title>
      <DataTable
        label="Endpoint URLs"
        columns={ENDPOINT_COLUMNS}
        rows={rows}
        rowKey={({ version }) => version}
        empty={
          <EmptyState title="No live version">
            There is a URL as soon as a version is live that the subscription names.
          </EmptyState>
        }
      />
    </section>
  );
}

const ENDPOINT_COLUMNS: readonly Column<{ readonly version: string; readonly url: string }>[] = [
  { id: "version", label: "Version", cell: ({ version }) => version },
  { id: "url", label: "Endpoint URL", cell: ({ url }) => <CopyLine text={url} what="endpoint URL" /> },
];
