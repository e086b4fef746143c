import { Group, Stack, Text } from "@mantine/core";
import { SUBSCRIPTIONS_API } from "@platform/contract/platform-api/subscriptions";
import type { BodyOf } from "../api/client.ts";
import { useChange, useChoices } from "../api/queries.ts";
import { useOrganisation } from "../api/scope.tsx";
import { Failure } from "../ui/failure.tsx";
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
  const { items: services, error, retry } = useChoices("listServices");
  const subscribe = useChange("createSubscription", {
    done: "Subscribed.",
    refresh: ["listSubscriptions", "listServices"],
  });
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (services === undefined) return <Text c="dimmed">Loading the services.</Text>;
  const offered = services.filter(({ publication }) => publication !== null);
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
