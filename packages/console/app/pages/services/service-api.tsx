import { Select, Skeleton, Stack, Title } from "@mantine/core";
import { useState } from "react";
import type { Service } from "@platform/contract/platform-api/services";
import type { Subscription } from "@platform/contract/platform-api/subscriptions";
import { pages, q, useFetched, useLoadedPages } from "../../api/queries.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Failure } from "../../ui/failure.tsx";
import { useNow } from "../../ui/time.tsx";
import { findUsable } from "../../util/access-keys.ts";
import { findCallable } from "../../util/subscriptions.ts";
import { ClientDownloads } from "../marketplace/clients.tsx";
import { CallPrograms } from "./call-programs.tsx";
import { NotSubscribed } from "./not-subscribed.tsx";

/** How this organisation's applications call the service. */
export function ServiceApi({ service }: { readonly service: Service }) {
  const { key, name, latestVersion } = service;
  const { items, hasMore } = useLoadedPages(pages("listSubscriptions", { query: { limit: 100 } }));
  if (latestVersion === null)
    return (
      <EmptyState title="No live version" command="platform up">
        Nothing can be called until a version has been built.
      </EmptyState>
    );
  const subscriptions = findCallable(items, key);
  const hasEnded = items.some(({ serviceKey, status }) => serviceKey === key && status === "ENDED");
  return (
    <Stack>
      {subscriptions.length === 0 ? (
        <NotSubscribed
          service={service}
          version={latestVersion}
          looked={hasMore ? items.length : null}
          hasEnded={hasEnded}
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
  const configuration = useFetched(q("getConfiguration", {}));
  const details = useFetched(q("getVersion", { params: { key: serviceKey, version } }));
  const nameOf = useNames();
  const one = subscriptions.find(({ id }) => id === chosen) ?? subscriptions[0];
  const keyId = useKeyId(one?.applicationId ?? "");
  const error = configuration.error ?? details.error;
  if (error !== null)
    return <Failure error={error} retry={() => [configuration, details].forEach(({ retry }) => retry())} />;
  if (!one?.endpointUrl || configuration.data === undefined || details.data === undefined)
    return <Skeleton height={320} />;
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
      <CallPrograms
        call={{ tokenUrl: `${configuration.data.gatewayUrl}/token`, endpointUrl: one.endpointUrl, keyId }}
        input={details.data.exampleInput ?? { data: {}, params: {} }}
        application={{ id: one.applicationId, name: nameOf(one.applicationId) }}
      />
    </>
  );
}

/** Names of applications, of which a subscription has the identifier. */
function useNames(): (id: string) => string {
  const { data } = useFetched(q("listApplications", { query: { limit: 100 } }));
  return (id) => data?.items.find((one) => one.id === id)?.name ?? id;
}

/** A key of the application that is of use; who may not see keys reads its id from the environment. */
function useKeyId(applicationId: string): string | undefined {
  const { data } = useFetched(q("listAccessKeys", { params: { id: applicationId } }));
  const now = useNow();
  return data && findUsable(data.items, now)?.keyId;
}
