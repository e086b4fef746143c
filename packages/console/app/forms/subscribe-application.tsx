import { Group, Stack, Text } from "@mantine/core";
import { SUBSCRIPTIONS_API } from "@platform/contract/platform-api/subscriptions";
import type { BodyOf } from "../api/client.ts";
import { q, useChange, useFetched } from "../api/queries.ts";
import { useOrganisation } from "../api/scope.tsx";
import { AppLink, ButtonLink } from "../ui/link.tsx";
import { ChoiceField, TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface SubscribeApplicationProps {
  readonly applicationId: string;
  readonly close: () => void;
}

/** Subscribes an application to a service of its own organisation. */
export function SubscribeApplication({ applicationId, close }: SubscribeApplicationProps) {
  const { slug: org } = useOrganisation();
  const { data } = useFetched(q("listServices", { query: { limit: 100 } }));
  const subscribe = useChange("createSubscription", {
    done: "Subscribed.",
    refresh: ["listSubscriptions", "listServices"],
  });
  const offered = (data?.items ?? []).filter(({ publication }) => publication !== null);
  if (data === undefined) return <Text c="dimmed">Loading the services.</Text>;
  if (offered.length === 0) return <NoneIsPublished org={org} />;
  return (
    <SchemaBackedForm<BodyOf<"createSubscription">>
      schema={SUBSCRIPTIONS_API.createSubscription.body}
      initial={{ serviceKey: offered[0]?.key, version: "" }}
      prepare={({ serviceKey, version }) => ({
        applicationId,
        serviceKey,
        ...(version === "" ? {} : { version }),
      })}
      submitLabel="Subscribe"
      submit={(body) => subscribe.run({ body })}
      onDone={close}
      onCancel={close}
    >
      <ChoiceField
        name="serviceKey"
        label="Service"
        description={
          <>
            Of this organisation. Those of others are{" "}
            <AppLink to="/o/$org/marketplace" params={{ org }}>
              in the marketplace
            </AppLink>
            .
          </>
        }
        options={offered.map(({ key, name }) => ({ value: key, label: name }))}
        hasFocus
      />
      <TextField
        name="version"
        label="Version"
        placeholder="1"
        description="1.2.3 pins this version, 1 follows the highest live 1.x.y. Left out: the highest live version."
      />
    </SchemaBackedForm>
  );
}

function NoneIsPublished({ org }: { readonly org: string }) {
  return (
    <Stack>
      <Text>
        No service of this organisation is published. Those of others are in the marketplace: open one there,
        and press "Subscribe".
      </Text>
      <Group justify="flex-end">
        <ButtonLink to="/o/$org/marketplace" params={{ org }}>
          Open the marketplace
        </ButtonLink>
      </Group>
    </Stack>
  );
}
