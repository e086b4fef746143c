import { Select, Stack, Title } from "@mantine/core";
import { useState } from "react";
import type { Service } from "@platform/contract/platform-api/services";
import type { Subscription } from "@platform/contract/platform-api/subscriptions";
import { MAX_PAGE_SIZE } from "@platform/contract/limits";
import { pages, q, useFetched, useLoadedPages } from "../../api/queries.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { findCallable } from "../../util/subscriptions.ts";
import { CallSubscription } from "../applications/call-subscription.tsx";
import { ClientDownloads } from "../marketplace/clients.tsx";
import { NotSubscribed } from "./not-subscribed.tsx";

/** How this organisation's applications call the service. */
export function ServiceApi({ service }: { readonly service: Service }) {
  const { key, name, latestVersion } = service;
  const { items, hasMore } = useLoadedPages(pages("listSubscriptions", { query: { limit: MAX_PAGE_SIZE } }));
  if (latestVersion === null)
    return (
      <EmptyState title="No live version" command="platform up">
        Nothing can be called until a version has been built.
      </EmptyState>
    );
  const subscriptions = findCallable(items, key);
  const ofService = items.filter(({ serviceKey }) => serviceKey === key);
  return (
    <Stack>
      {subscriptions.length === 0 ? (
        <NotSubscribed
          service={service}
          version={latestVersion}
          looked={hasMore ? items.length : null}
          hasEnded={ofService.some(({ status }) => status === "ENDED")}
          hasRetired={ofService.some(
            ({ status, versionStatus }) => status !== "ENDED" && versionStatus === "RETIRED",
          )}
        />
      ) : (
        <Call serviceKey={key} version={latestVersion} subscriptions={subscriptions} />
      )}
      <Title order={2} fz="lg">
        Clients of version {latestVersion}
      </Title>
      <ClientDownloads serviceKey={key} serviceName={name} version={latestVersion} />
    </Stack>
  );
}

interface CallProps {
  readonly serviceKey: string;
  readonly version: string;
  readonly subscriptions: readonly Subscription[];
}

/** The call by one of the subscriptions, as programs. */
function Call({ serviceKey, version, subscriptions }: CallProps) {
  const [chosen, choose] = useState(subscriptions[0]?.id);
  const { data, error, retry } = useFetched(q("getVersion", { params: { key: serviceKey, version } }));
  const nameOf = useNames();
  const one = subscriptions.find(({ id }) => id === chosen) ?? subscriptions[0];
  if (one === undefined) return null;
  return (
    <>
      <Select
        label="Subscription"
        data={subscriptions.map(({ id, applicationId }) => ({ value: id, label: nameOf(applicationId) }))}
        value={one.id}
        onChange={(id) => choose(id ?? undefined)}
        allowDeselect={false}
        maw={320}
      />
      <CallSubscription
        of={one}
        applicationName={nameOf(one.applicationId)}
        example={{ input: data?.exampleInput, error, retry }}
      />
    </>
  );
}

/** Names of applications, of which a subscription has the identifier. */
function useNames(): (id: string) => string {
  const { data } = useFetched(q("listApplications", { query: { limit: MAX_PAGE_SIZE } }));
  return (id) => data?.items.find((one) => one.id === id)?.name ?? id;
}
