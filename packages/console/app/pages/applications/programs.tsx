import { Stack, Title } from "@mantine/core";
import type { Subscription } from "@platform/contract/platform-api/subscriptions";
import { q, useFetched } from "../../api/queries.ts";
import { findCallable, findNamedVersion } from "../../util/subscriptions.ts";
import { ClientDownloads } from "../marketplace/clients.tsx";
import { CallSubscription } from "./call-subscription.tsx";

interface ProgramsProps {
  readonly of: Subscription;
  readonly applicationName: string;
}

/** How the endpoint URL is called, and with which client: also where the service is withdrawn, and has no page for subscribers any more. */
export function Programs({ of: one, applicationName }: ProgramsProps) {
  const { serviceKey: key, serviceName } = one;
  const version = findCallable([one], key).length === 0 ? undefined : findNamedVersion(one);
  if (version === undefined) return null;
  return (
    <>
      <Stack component="section">
        <Title order={2} fz="lg">
          Call it
        </Title>
        <CallVersion of={one} version={version} applicationName={applicationName} />
      </Stack>
      <Stack component="section">
        <Title order={2} fz="lg">
          Clients of version {version}
        </Title>
        <ClientDownloads serviceKey={key} serviceName={serviceName} version={version} />
      </Stack>
    </>
  );
}

function CallVersion({ of: one, version, applicationName }: ProgramsProps & { readonly version: string }) {
  const { data, error, retry } = useFetched(
    q("getCallableVersion", { params: { key: one.serviceKey, version } }),
  );
  const example = { input: data?.exampleInput, error, retry };
  return <CallSubscription of={one} applicationName={applicationName} example={example} />;
}
