import { Alert, Badge, Group, Stack, Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import type { MarketplaceEntry } from "@platform/contract/platform-api/marketplace";
import { MAX_PAGE_SIZE } from "@platform/contract/limits";
import { q, useFetched, useLoaded } from "../../api/queries.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { SubscribeToService } from "../../forms/subscribe-to-service.tsx";
import { Can } from "../../ui/can.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { AppLink, ButtonLink } from "../../ui/link.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { RoutedTabs } from "../../ui/routed-tabs.tsx";
import { Clients } from "./clients.tsx";
import { OfferFacts, OfferedVersions } from "./offer.tsx";
import { Plans } from "./plans.tsx";
import { EntrySchemas } from "./schemas.tsx";

const route = getRouteApi("/in/o/$org/marketplace/$key");

/** What is shown of a service before one subscribes. */
export function EntryPage() {
  const { org, key } = route.useParams();
  const { plan } = route.useSearch();
  const entry = useLoaded(q("getMarketplaceEntry", { params: { key } }));
  return (
    <>
      <PageHeader
        title={entry.title}
        above={[
          <AppLink key="all" to="/o/$org/marketplace" params={{ org }}>
            Marketplace
          </AppLink>,
        ]}
        {...(entry.summary === "" ? {} : { description: entry.summary })}
        {...(entry.publication === "internal" ? { badge: <Badge>Internal</Badge> } : {})}
        actions={
          <>
            <CopyAs
              op="getMarketplaceEntry"
              request={{ params: { key } }}
              id={key}
              command={`platform marketplace show ${key}`}
            />
            <OpenButton op="createSubscription" set={{ new: "subscription" }}>
              Subscribe
            </OpenButton>
          </>
        }
      />
      <Stack>
        <Standing entry={entry} />
        <RoutedTabs
          label={`Parts of ${entry.title}`}
          tabs={[
            { id: "description", label: "Description", content: () => <Description of={entry} /> },
            { id: "plans", label: "Plans", content: () => <Plans plans={entry.plans} /> },
            { id: "schemas", label: "Input and result", content: () => <EntrySchemas of={entry} /> },
            { id: "versions", label: "Versions", content: () => <OfferedVersions of={entry} /> },
            { id: "clients", label: "Clients", content: () => <Clients of={entry} /> },
          ]}
        />
      </Stack>
      <RoutedDialog title={`Subscribe to ${entry.title}`} when={["new", "subscription"]}>
        {(close) => <SubscribeToService entry={entry} org={org} planId={plan} close={close} />}
      </RoutedDialog>
    </>
  );
}

/** What the organisation has to do with it already. */
function Standing({ entry }: { readonly entry: MarketplaceEntry }) {
  const { slug: org } = useOrganisation();
  const { serviceKey: key, providerSlug, subscriptions } = entry;
  const { data } = useFetched(q("listApplications", { query: { limit: MAX_PAGE_SIZE } }), {
    isActive: subscriptions.length > 0,
  });
  const nameOf = (id: string) => data?.items.find((one) => one.id === id)?.name ?? id;
  return (
    <>
      {providerSlug === org && (
        <Alert variant="light" title="This organisation provides it">
          <AppLink to="/o/$org/services/$key" params={{ org, key }}>
            Open the service
          </AppLink>
        </Alert>
      )}
      {subscriptions.length > 0 && (
        <Group gap="xs">
          <Text fw={600}>Subscribed by</Text>
          {subscriptions.map(({ id, applicationId }) => (
            <Group key={id} gap="xs">
              <AppLink to="/o/$org/applications/$id" params={{ org, id: applicationId }}>
                {nameOf(applicationId)}
              </AppLink>
              <Can op="startSubscriptionExecution">
                <ButtonLink
                  to="/o/$org/applications/$id/subscriptions/$sid/try"
                  params={{ org, id: applicationId, sid: id }}
                  aria-label={`Try it as ${nameOf(applicationId)}`}
                  size="compact-sm"
                  variant="default"
                >
                  Try it
                </ButtonLink>
              </Can>
            </Group>
          ))}
        </Group>
      )}
    </>
  );
}

function Description({ of: entry }: { readonly of: MarketplaceEntry }) {
  return (
    <Stack gap="lg">
      <OfferFacts of={entry} />
      {entry.description === "" ? (
        <Text c="dimmed">Its provider has not described it.</Text>
      ) : (
        <Markdown text={entry.description} />
      )}
    </Stack>
  );
}
