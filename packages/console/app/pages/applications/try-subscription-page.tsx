import { Alert, Select, Stack, Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import type { Subscription } from "@platform/contract/platform-api/subscriptions";
import { q, REFRESH_MS, useFetched, useLoaded } from "../../api/queries.ts";
import { useSetSearch } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Facts } from "../../ui/facts.tsx";
import { AppLink } from "../../ui/link.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { findNamedVersion, isShownInMarketplace } from "../../util/subscriptions.ts";
import { describeUse } from "./plan-use.tsx";
import { Ended, Retired, Standing } from "./standing.tsx";
import { TrySubscriptionForm } from "./try-subscription-form.tsx";

const route = getRouteApi("/in/o/$org/applications/$id/subscriptions/$sid/try");

/** Starts executions as the application of a subscription, and shows what becomes of them beside the form. */
export function TrySubscriptionPage() {
  const { sid } = route.useParams();
  // What was started by one subscription is not carried over to the next.
  return <TrySubscription key={sid} />;
}

function TrySubscription() {
  const { org, id, sid } = route.useParams();
  const application = useLoaded(q("getApplication", { params: { id } }));
  const subscription = useLoaded(q("getSubscription", { params: { id: sid } }), { refresh: REFRESH_MS.list });
  const { serviceName, plan, quota, concurrency } = subscription;
  return (
    <>
      <PageHeader
        title={`Try ${serviceName}`}
        above={[
          <AppLink key="all" to="/o/$org/applications" params={{ org }}>
            Applications
          </AppLink>,
          <AppLink key="application" to="/o/$org/applications/$id" params={{ org, id }}>
            {application.name}
          </AppLink>,
          <AppLink key="one" to="/o/$org/applications/$id/subscriptions/$sid" params={{ org, id, sid }}>
            {serviceName}
          </AppLink>,
        ]}
        badge={<Standing of={subscription} />}
        description={`Runs as the application ${application.name}, ${
          plan === null ? "and counts for its limits" : `and counts for its plan, ${plan.name}`
        }.`}
      />
      <Stack>
        <Ended of={subscription} />
        <Retired of={subscription}>
          <OpenSubscription />
        </Retired>
        {subscription.status === "PAUSED" && <Paused />}
        {(quota !== null || concurrency !== null) && <Facts of={describeUse(subscription)} />}
        {subscription.status !== "ENDED" && <Versions of={subscription} />}
      </Stack>
    </>
  );
}

function Paused() {
  return (
    <Alert variant="light" color="yellow" title="The subscription is paused">
      <Text c="var(--mantine-color-text)">
        Starts are refused until it is resumed. <OpenSubscription />
      </Text>
    </Alert>
  );
}

function OpenSubscription() {
  const { org, id, sid } = route.useParams();
  return (
    <AppLink to="/o/$org/applications/$id/subscriptions/$sid" params={{ org, id, sid }}>
      Open the subscription
    </AppLink>
  );
}

/** The version that is tried: the one that the endpoint URL names, or another one that is live. */
function Versions({ of: subscription }: { readonly of: Subscription }) {
  const { serviceKey: key, versionStatus, latestVersion } = subscription;
  const { version: chosen } = route.useSearch();
  const setSearch = useSetSearch();
  const [started, setStarted] = useState<string | null>(null);
  const { data: entry } = useFetched(q("getMarketplaceEntry", { params: { key } }), {
    isActive: isShownInMarketplace(subscription),
  });
  const named = findNamedVersion(subscription);
  // What is being entered stays, with its version, when the endpoint URL names a newer one.
  const newest = named ?? latestVersion ?? undefined;
  const [first] = useState(newest);
  const version = chosen ?? first ?? newest;
  if (version === undefined)
    return <EmptyState title="No live version">Nothing can be started until a version is live.</EmptyState>;
  const listed = entry?.versions.map((one) => one.version) ?? [];
  // A service that was withdrawn has no entry, and its live versions can be called as before.
  const live = latestVersion === null ? [] : [latestVersion, ...listed];
  const mark = versionStatus === "RETIRED" ? "of the subscription, retired" : "of the subscription";
  return (
    <>
      <Select
        label="Version"
        data={[...new Set([...(named === undefined ? [] : [named]), version, ...live])].map((one) => ({
          value: one,
          label: one === named ? `${one} (${mark})` : one,
        }))}
        value={version}
        onChange={(value) => setSearch({ version: value === first ? undefined : value })}
        allowDeselect={false}
        maw={280}
      />
      <TrySubscriptionForm
        key={version}
        subscription={subscription}
        version={version}
        hasOthers={live.some((one) => one !== version)}
        started={started}
        onStarted={setStarted}
      />
    </>
  );
}
